"""How long a prompt takes, how much memory a store, and what the assembler wins over simpler ones.

    python -m tests.benchmarks.assembly            # the table; a few minutes, most of it filling
    python -m tests.benchmarks.assembly --json
    python -m tests.benchmarks.assembly --tenth    # the small store alone

Times are wall time on this machine; compare the columns of one run, not runs. The store is
synthetic (tests/benchmarks/synthetic.py); the baselines run on the sample life and its labelled
questions (tests/benchmarks/baselines.py).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lila_app.assistant import Lila, open_lila
from lila_app.composing import Ask, compose, specify
from lila_app.context import ModelLimits, Specification
from lila_app.moments import resolve
from lila_app.paths import Home
from tests.benchmarks.synthetic import FULL, Size, Words, fill

NOW = "2026-11-30T08:00:00+00:00"
LIMITS = ModelLimits(window=32_768, context_budget=8_000, token_ratio=10_500)
QUESTIONS = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """One store; milliseconds and mebibytes."""

    size: Size
    open_ms: float
    first_ms: float
    resident_mb: float
    file_mb: float
    gather_p50: float
    gather_p95: float
    embedded_p50: float
    embedded_p95: float
    assemble_p50: float
    assemble_p95: float
    used_tokens_p50: int


class _Known:
    """An embedder whose answer is already known: what is left is searching and assembling."""

    model_id = "all-minilm-l6-v2-int8-8199be6f"
    dimension = 384

    def embed(self, texts: Any) -> Any:
        made = np.random.default_rng(len(texts[0])).standard_normal((len(texts), 384))
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def measure(home: Path, size: Size) -> Measured:
    """Fill a store and measure it in a fresh process, so that memory is its own."""
    place = Home.at(home)
    place.create()
    path = place.profile_db("default")
    fill(path, size)
    output = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.assembly", "--measure", str(home)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return Measured(size=size, file_mb=path.stat().st_size / 2**20, **json.loads(output))


def _in_this_process(home: Path) -> dict[str, float]:
    words = Words(23)
    texts = [words.sentence(9) for _ in range(QUESTIONS)]
    before = _resident()
    start = time.perf_counter()
    lila = open_lila(home, embedder=_Known())
    opened = 1000 * (time.perf_counter() - start)
    with lila:
        first = _timed(lila, texts[0])[0]
        cold = _percentiles([_timed(lila, text) for text in texts])
        resident = _resident() - before
    with open_lila(home) as real:
        _timed(real, texts[0])
        warm = _percentiles([_timed(real, text) for text in texts])
    return {
        "open_ms": opened,
        "first_ms": first,
        "resident_mb": resident,
        "gather_p50": cold["total_p50"],
        "gather_p95": cold["total_p95"],
        "embedded_p50": warm["total_p50"],
        "embedded_p95": warm["total_p95"],
        "assemble_p50": cold["assemble_p50"],
        "assemble_p95": cold["assemble_p95"],
        "used_tokens_p50": cold["used_p50"],
    }


def _timed(lila: Lila, text: str) -> tuple[float, float, int]:
    """Milliseconds of gather + assemble, of assemble alone, and tokens used."""
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]  (the benchmark looks inside)
    ask = Ask(text, "chat", None, resolve(NOW, resources.clock), LIMITS, None, None, deadline=False)
    start = time.perf_counter()
    specification: Specification = specify(resources, ask, write=False)
    gathered = time.perf_counter()
    context = compose(resources, specification)
    end = time.perf_counter()
    return 1000 * (end - start), 1000 * (end - gathered), context.record["token_budget"]["used"]


def _percentiles(rows: list[tuple[float, float, int]]) -> dict[str, float]:
    totals, assembles, used = zip(*rows, strict=True)
    return {
        "total_p50": float(np.percentile(totals, 50)),
        "total_p95": float(np.percentile(totals, 95)),
        "assemble_p50": float(np.percentile(assembles, 50)),
        "assemble_p95": float(np.percentile(assembles, 95)),
        "used_p50": float(np.percentile(used, 50)),
    }


def _resident() -> float:
    """Peak resident memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def main(arguments: list[str]) -> None:
    """Run the benchmark and print the table, or one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--tenth", action="store_true", help="only the store of a tenth the size")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        print(json.dumps(_in_this_process(chosen.measure)))
        return
    from tests.benchmarks import baselines

    sizes = [FULL.tenth()] if chosen.tenth else [FULL.tenth(), FULL]
    with tempfile.TemporaryDirectory() as folder:
        measured = [measure(Path(folder) / str(size.chunks), size) for size in sizes]
        compared = baselines.compare(Path(folder) / "sample")
    if chosen.json:
        document = {
            "schema_version": 1,
            "stores": [asdict(row) for row in measured],
            "baselines": [asdict(row) for row in compared],
        }
        print(json.dumps(document, indent=2))
        return
    _print_stores(measured)
    print()
    baselines.print_table(compared)


def _print_stores(rows: list[Measured]) -> None:
    names = [name for name in asdict(rows[0]) if name != "size"]
    header = [f"{row.size.chunks:,} chunks" for row in rows]
    print(f"{'':24}" + "".join(f"{text:>18}" for text in header))
    for name in names:
        values = "".join(f"{getattr(row, name):>18.1f}" for row in rows)
        print(f"{name:24}{values}")


if __name__ == "__main__":
    main(sys.argv[1:])

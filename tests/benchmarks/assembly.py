"""How long a prompt takes, how much memory a store, and what the assembler wins over simpler ones.

    python -m tests.benchmarks.assembly            # the table; some minutes, most of it filling
    python -m tests.benchmarks.assembly --json     # the same as one JSON document
    python -m tests.benchmarks.assembly --tenth    # the small store alone

Times are wall time, and beside them how busy the machine was with other things; compare the
columns of one run, not runs. The store is synthetic (tests/benchmarks/synthetic.py); the baselines
run on the sample life and its labelled questions (tests/benchmarks/baselines.py).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lila_app import policies
from lila_app.paths import Home
from tests.benchmarks import baselines, pure
from tests.benchmarks.measuring import PARTS
from tests.benchmarks.synthetic import FULL, Size, fill

GOAL_TURN, GOAL_ASSEMBLER = 60, 5
"""Milliseconds at p95 on two idle cores: a turn with its embedding, and the assembler alone."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One store: its size, how long filling it took, and what measuring.py says of it."""

    size: Size
    fill_s: float
    file_mb: float
    result: dict[str, Any]


def measure(home: Path, size: Size) -> Measured:
    """Fill a store and measure it in a fresh process, so that memory is its own."""
    place = Home.at(home)
    place.create()
    path = place.profile_db("default")
    start = time.perf_counter()
    fill(path, size, _say)
    filled = time.perf_counter() - start
    print(f"  asking {size.chunks:,} chunks …", file=sys.stderr)
    output = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.measuring", str(home)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return Measured(size, filled, path.stat().st_size / 2**20, json.loads(output))


def _say(name: str, done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\r  filling {name} {done:,} of {total:,}", end=end, file=sys.stderr, flush=True)


def main(arguments: list[str]) -> None:
    """Run the benchmark and print the table, or one JSON document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--tenth", action="store_true", help="only the store of a tenth the size")
    chosen = parser.parse_args(arguments)
    sizes = [FULL.tenth()] if chosen.tenth else [FULL.tenth(), FULL]
    with tempfile.TemporaryDirectory() as folder:
        stores = [measure(Path(folder) / str(size.chunks), size) for size in sizes]
        alone = pure.measure(policies.load(Home.at(Path(folder) / "none")).policy)
        print("  asking the labelled questions …", file=sys.stderr)
        compared = baselines.compare(Path(folder) / "sample")
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    if chosen.json:
        document = {
            "schema_version": 1,
            "machine": machine,
            "stores": [asdict(row) for row in stores],
            "assembler": asdict(alone),
            "baselines": [asdict(row) for row in compared],
        }
        print(json.dumps(document, indent=2))
        return
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    _print_stores(stores)
    print(f"\nassembler alone, {alone.tokens:,} tokens, p50 / p95 ms (goal {GOAL_ASSEMBLER})")
    print(f"  with the counter of a turn, which remembers sentences  {_two(asdict(alone.turn))}")
    print(f"  with one that remembers nothing                        {_two(asdict(alone.bare))}\n")
    baselines.print_table(compared)


_Cell = Callable[[Measured], str]


def _rows() -> list[tuple[str, _Cell]]:
    """Each line of the table: what it says, and its value for one store."""
    rows: list[tuple[str, _Cell]] = [
        ("turns, memories, relations", lambda m: f"{m.size.turns:,} {m.size.memories:,} each"),
        ("file, MiB", lambda m: f"{m.file_mb:.0f}"),
        ("filled in, s", lambda m: f"{m.fill_s:.0f}"),
        ("others used, cores", lambda m: f"{m.result['embedded']['others']:.1f}"),
        ("a fixed loop, p50 / p95 ms", _spread("embedded", "pace")),
    ]
    for name, label in (
        ("open", "open the store"),
        ("load", "load for searching"),
        ("first", "first question"),
    ):
        rows += [
            (f"{label}, ms", _opened(f"{name}_ms")),
            (f"{label}, MiB more", _grown(f"{name}_mb")),
        ]
    rows += [
        ("embedding model, ms once", lambda m: f"{m.result['embedder_ms']:.0f}"),
        ("embedding model, MiB", lambda m: f"{m.result['embedder_mb']:.0f}"),
        ("candidates, tokens used", _used),
        ("turn without embedding, p50 / p95 ms", _spread("plain", "total")),
        (f"turn with it (goal p95 {GOAL_TURN})", _spread("embedded", "total")),
        ("  while the fixed loop was quick", _spread("embedded", "quiet")),
        ("  which it was, of the questions", _quiet),
        ("  processor time", _spread("embedded", "processor")),
    ]
    return rows + [(f"  {name}", _part(name)) for name in PARTS]


def _opened(name: str) -> _Cell:
    return lambda m: f"{m.result['opened'][name]:.0f}"


def _grown(name: str) -> _Cell:
    steps = ["open_mb", "load_mb", "first_mb"]

    def cell(m: Measured) -> str:
        held = [m.result["before_mb"], *(m.result["opened"][step] for step in steps)]
        place = steps.index(name) + 1
        return f"{held[place] - held[place - 1]:.0f}"

    return cell


def _used(m: Measured) -> str:
    turned = m.result["embedded"]
    return f"{turned['candidates']:.0f}, {turned['used_tokens']:.0f}"


def _spread(run: str, name: str) -> _Cell:
    return lambda m: _two(m.result[run][name])


def _quiet(m: Measured) -> str:
    return f"{m.result['embedded']['quiet_share']:.0%}"


def _part(name: str) -> _Cell:
    return lambda m: _two(m.result["embedded"]["parts"][name])


def _two(spread: dict[str, float]) -> str:
    return f"{spread['p50']:.1f} / {spread['p95']:.1f}"


def _print_stores(stores: list[Measured]) -> None:
    print(f"{'':40}" + "".join(f"{f'{m.size.chunks:,} chunks':>20}" for m in stores))
    for label, cell in _rows():
        print(f"{label:40}" + "".join(f"{cell(m):>20}" for m in stores))


if __name__ == "__main__":
    main(sys.argv[1:])

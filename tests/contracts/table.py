"""What each provider's cache gives over fifty turns, as a table.

    python -m tests.contracts.table            # some minutes on two cores
    python -m tests.contracts.table --json     # the same as one JSON document

The sample life's first fifty exchanges go through the real assembler and the real SDK to a server
on loopback that keeps the provider's caching contract (tests/contracts). Beside them the ideal
client, which only ever appends, and the same with a clock above everything.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from lila_app.gateway.port import Provider
from lila_app.paths import Home
from lila_app.testing import FakeClock
from tests.contracts import asking_anthropic as anthropic
from tests.contracts.anthropic_server import anthropic_server
from tests.contracts.asking_openai import AUTOMATIC
from tests.contracts.gemini import test_story as gemini
from tests.contracts.gemini_server import gemini as gemini_server
from tests.contracts.openai import test_story as openai
from tests.contracts.openai_server import openai_server
from tests.contracts.story import HEADING, TURNS, Counting, Told, clock_in_l1, tell

Made = tuple[Counting, Callable[[Home], Provider]]


@contextmanager
def _claude(clock: FakeClock) -> Iterator[Made]:
    with anthropic_server(clock, minimum=512) as server:
        yield server, anthropic.factory(server)


@contextmanager
def _gpt(clock: FakeClock) -> Iterator[Made]:
    with openai_server(clock) as server:
        yield server, openai.factory(server)


@contextmanager
def _earlier_gpt(clock: FakeClock) -> Iterator[Made]:
    with openai_server(clock) as server:
        yield server, openai.factory(server, "gpt-5.5", AUTOMATIC)


@contextmanager
def _gemini(clock: FakeClock) -> Iterator[Made]:
    with gemini_server(clock) as server:
        server.caches.minimum = gemini.MINIMUM
        yield server, gemini.factory(server)


PROVIDERS = {
    anthropic.NAME: _claude,
    "openai/gpt-5.6": _gpt,
    "openai/gpt-5.5": _earlier_gpt,
    gemini.NAME: _gemini,
}


def told(name: str, folder: Path, *, turns: int = TURNS, blocks: str = "") -> Told:
    """The story with one provider, on a home below `folder`."""
    clock = FakeClock("2026-11-30T08:00:00+00:00")
    with PROVIDERS[name](clock) as (server, provider):
        home = Path(tempfile.mkdtemp(dir=folder))
        return tell(home, server, provider, clock, turns=turns, blocks=blocks)


def main(arguments: list[str]) -> None:
    """Tell the story to each and print the table, or one JSON document."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--turns", type=int, default=TURNS)
    chosen = parser.parse_args(arguments)
    logging.disable(logging.WARNING)  # the table says what LILA's watch would
    rows: dict[str, Told] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in PROVIDERS:
            print(f"  {name} …", file=sys.stderr)
            rows[name] = told(name, Path(folder), turns=chosen.turns)
            rows[f"{name}, clock in L1"] = told(
                name, Path(folder), turns=chosen.turns, blocks=clock_in_l1()
            )
    if chosen.json:
        document = {name: {**asdict(row.sum), "cuts": row.cuts} for name, row in rows.items()}
        print(json.dumps({"schema_version": 1, "providers": document}, indent=2))
        return
    print(HEADING)
    for name, row in rows.items():
        print(row.row(name))


if __name__ == "__main__":
    main(sys.argv[1:])

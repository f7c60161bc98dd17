"""Forty turns on the embedded model: does its cache really hold what the assembler keeps still?

Counts are the server's own: the `cached_tokens` it reports for a call, against the tokens of the
previous call's messages above the last breakpoint under its template and tokenizer.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.events import Done, Usage
from lila_app.gateway.embedded.fetch import fetch
from lila_app.gateway.embedded.provider import EmbeddedProvider
from lila_app.paths import Home
from lila_app.storage import cuts
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

TURNS = 40
ALLOCATION = """
[chat]
budget = 4_000
reply_reserve = 40
session = { ratio = 0, cap = 0 }
conversation = { ratio = 6_000, cap = 1_500 }
memory = { ratio = 2_000, cap = 120 }
graph = { ratio = 1_000, cap = 100 }
rag = { ratio = 1_000, cap = 100 }
"""
SETTINGS = """
[models."embedded/smollm2-135m"]
window = 8192
context_budget = 3000
"""
THINGS = ("boat", "wall", "larch", "letter", "elbow", "ferry", "kettle", "telescope")


@dataclass(frozen=True)
class Measured:
    """One turn: tokens the server read from its cache, in all, and of its stable prefix."""

    read: int
    total: int
    stable: int
    recalled: str


@pytest.fixture
def models(home: Path) -> None:
    """The embedded weights in this home, fetched once for all tests."""
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    kept = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    fetch(kept, lambda done, total, label: None)
    place = Home.at(home)
    place.create()
    for file in kept.glob("*.gguf"):
        (place.models_dir / file.name).hardlink_to(file)


def fill(lila: Lila) -> None:
    for number in range(60):
        thing = THINGS[number % len(THINGS)]
        lila.memory.add(f"On day {number} the {thing} was looked at and found in order {number}.")
    lila.db.catch_up()


async def converse(lila: Lila, clock: FakeClock, turns: int) -> list[Measured]:
    session = lila.sessions.create("Forty").id
    measured: list[Measured] = []
    for number in range(turns):
        clock.advance(61)
        thing = THINGS[number % len(THINGS)]
        text = f"Turn {number}: what was found on day {number} about the {thing}, in one sentence?"
        read = total = 0
        record = ""
        async with aclosing(lila.turn(text, session=session)) as events:
            async for event in events:
                if isinstance(event, Usage):
                    assert event.read is not None and event.total is not None
                    read, total = event.read, event.total
                elif isinstance(event, Done):
                    record = event.record_id
        prompt = lila.contexts.text(record)
        stable, _, last = prompt.rpartition("<|user|>\n")
        counted = await asyncio.to_thread(tokens, lila, stable)
        measured.append(Measured(read, total, counted, last.partition("Now: ")[0]))
    return measured


def tokens(lila: Lila, stable: str) -> int:
    """Tokens of these messages under the model's own template and tokenizer, by its server."""
    import httpx2

    provider = lila._resources.roster.provider(None)  # pyright: ignore[reportPrivateUsage]
    assert isinstance(provider, EmbeddedProvider)
    served = provider._server.ensure()  # pyright: ignore[reportPrivateUsage]
    pieces = [piece.partition("|>\n") for piece in stable.split("<|")[1:]]
    messages = [{"role": role, "content": text.removesuffix("\n")} for role, _, text in pieces]
    headers = {"Authorization": f"Bearer {served.key}"}
    with httpx2.Client(base_url=served.address, headers=headers, timeout=60) as client:
        body = {"messages": messages, "add_generation_prompt": False}
        prompt = client.post("/apply-template", json=body).json()["prompt"]
        body = {"content": prompt, "parse_special": True}
        return len(client.post("/tokenize", json=body).json()["tokens"])


def run(home: Path, turns: int, blocks: str = "") -> tuple[list[Measured], int]:
    place = Home.at(home)
    place.settings_file.write_text(SETTINGS)
    place.policies_dir.joinpath("allocation.toml").write_text(ALLOCATION)
    if blocks:
        place.policies_dir.joinpath("blocks.toml").write_text(blocks)
    clock = FakeClock()
    with open_lila(home, clock=clock) as lila:
        fill(lila)
        measured = asyncio.run(converse(lila, clock, turns))
        session = lila.sessions.list()[0].id
    with Store.open(place.profile_db("default"), read_only=True) as store:
        breaks = len(cuts.prefix_breaks(store, session))
    return measured, breaks


def clock_in_l1() -> str:
    """The shipped layout with the clock moved up behind the identity."""
    from lila_app.paths import shipped

    text = (shipped("policies") / "blocks.toml").read_text()
    head, *rest = text.split("[[block]]")
    by_name = {part.split('name = "')[1].split('"')[0]: part for part in rest}
    moved = by_name.pop("clock").replace('lifetime = "L4"', 'lifetime = "L1"')
    order: list[str] = []
    for name, part in by_name.items():
        order.append(part)
        if name == "identity":
            order.append(moved)
    return head + "".join(f"[[block]]{part}" for part in order)


def test_from_the_second_turn_on_the_cache_holds_what_stands_above_the_last_breakpoint(
    home: Path, models: None, capsys: pytest.CaptureFixture[str]
) -> None:
    measured, breaks = run(home, TURNS)
    pairs = list(pairwise(measured))
    short = [n for n, (before, now) in enumerate(pairs, 2) if now.read < 0.95 * before.stable]
    with capsys.disabled():
        share = sum(m.read for m in measured[1:]) / sum(m.total for m in measured[1:])
        print(
            f"\nprefix cache over {TURNS} turns: {breaks} breaks, short after turns {short}; "
            f"{share:.0%} of all prompt tokens read from the cache"
        )
    assert 1 <= breaks <= 5
    assert len(short) <= breaks
    assert len({m.recalled for m in measured}) == TURNS, "recalled material changes every turn"


def test_with_a_clock_above_the_breakpoints_almost_nothing_is_read(
    home: Path, models: None
) -> None:
    measured, _ = run(home, 11, clock_in_l1())
    # What is left is the identity, which stands above the clock: no more than the first prefix.
    assert all(now.read <= measured[0].stable for now in measured[1:])
    assert measured[-1].read < 0.25 * measured[-2].stable

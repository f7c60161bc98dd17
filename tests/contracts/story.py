"""A long chat through the real assembler, told to whichever provider.

The person of data/sample says what she says there, in one session; the replies are the ones she
got. The server counts what was read and written, beside what an ideal client would have.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lila_app.assistant import Lila, open_lila
from lila_app.events import Done, TurnEvent, Usage
from lila_app.gateway.port import Provider
from lila_app.paths import Home, shipped
from lila_app.sample import PROFILE, Exchange, read_life
from lila_app.storage import cuts
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock
from tests.contracts.counted import Counted, Sum
from tests.stories.crash_child import HashEmbedder

TURNS = 50
BETWEEN = 61.0
"""Seconds from one turn to the next."""


class Counting(Protocol):
    """A contract server as the story needs it. `say` is what its next replies are."""

    counted: list[Counted]

    @property
    def ideal(self) -> Sum: ...

    def say(self, text: str) -> None: ...


@dataclass(frozen=True)
class Told:
    """How it went: the server's sum, each call, what the person was told of each, the cuts."""

    sum: Sum
    calls: tuple[Counted, ...]
    usages: tuple[Usage, ...]
    cuts: int

    def row(self, name: str) -> str:
        """A line of the table."""
        sum = self.sum
        return (
            f"{name:<42} {sum.calls:>5} {self.cuts:>4} {sum.total:>8} {sum.read:>8} "
            f"{sum.read_share:>9.1%} {sum.write_ratio:>9.2f}"
        )


HEADING = (
    f"{'provider':<42} {'calls':>5} {'cuts':>4} {'tokens':>8} {'read':>8} "
    f"{'of ideal':>9} {'writes/id.':>9}"
)


def tell(
    home: Path,
    server: Counting,
    provider: Callable[[Home], Provider | None],
    clock: FakeClock,
    *,
    turns: int = TURNS,
    between: float = BETWEEN,
    blocks: str = "",
) -> Told:
    """The chat, on a home of its own; `blocks` replaces the shipped blocks.toml.

    `provider` may also return None, having put into the home what chooses one. `clock` is
    also the server's, so that what is cached grows old. The sample's own sessions are in the store
    beside the one that is told.
    """
    place = Home.at(home)
    place.create()
    if blocks:
        place.policies_dir.joinpath("blocks.toml").write_text(blocks)
    made = provider(place)
    with open_lila(home, PROFILE, provider=made, clock=clock, embedder=HashEmbedder()) as lila:
        session = lila.sessions.create("Fifty").id
        usages = asyncio.run(_converse(lila, server, clock, session, turns, between))
        profile = lila.profile
    with Store.open(place.profile_db(profile), read_only=True) as store:
        broken = len(cuts.prefix_breaks(store, session))
    return Told(server.ideal, tuple(server.counted), usages, broken)


async def _converse(
    lila: Lila, server: Counting, clock: FakeClock, session: str, turns: int, between: float
) -> tuple[Usage, ...]:
    usages: list[Usage] = []
    for exchange in script(turns):
        clock.advance(between)
        server.say(exchange.assistant)
        events = [event async for event in _events(lila, exchange.user, session)]
        assert isinstance(events[-1], Done)
        usages += [event for event in events if isinstance(event, Usage)]
    return tuple(usages)


async def _events(lila: Lila, text: str, session: str) -> AsyncGenerator[TurnEvent, None]:
    async with aclosing(lila.turn(text, session=session)) as events:
        async for event in events:
            yield event


def script(turns: int) -> tuple[Exchange, ...]:
    """The first exchanges of the sample life, in order."""
    exchanges = read_life().exchanges
    assert len(exchanges) >= turns
    return tuple(exchanges[:turns])


def clock_in_l1() -> str:
    """The shipped layout with the clock moved up before everything the system says."""
    text = (shipped("policies") / "blocks.toml").read_text(encoding="utf-8")
    head, *rest = text.split("[[block]]")
    by_name = {part.split('name = "')[1].split('"')[0]: part for part in rest}
    moved = by_name.pop("clock").replace('lifetime = "L4"', 'lifetime = "L1"')
    order: list[str] = []
    for name, part in by_name.items():
        if name == "identity":
            order.append(moved)
        order.append(part)
    return head + "".join(f"[[block]]{part}" for part in order)

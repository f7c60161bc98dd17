"""Fifty turns through the real assembler and the real SDK: what Gemini's caches give."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import cached_property
from pathlib import Path

import pytest

from lila_app import policies
from lila_app.context.items import ModelLimits
from lila_app.costs.accounts import StoreLedger
from lila_app.gateway.access import Access
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini.provider import GeminiProvider
from lila_app.gateway.port import Provider, ProviderEvent, Request
from lila_app.gateway.prices import Prices
from lila_app.paths import Home
from lila_app.sample import PROFILE
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock
from tests.contracts.gemini_server import GeminiServer
from tests.contracts.story import HEADING, TURNS, Told, clock_in_l1, tell

pytestmark = pytest.mark.slow

NAME = "gemini/gemini-2.5-flash"
MINIMUM = 2_048
LIMITS = ModelLimits(window=200_000, context_budget=100_000, token_ratio=10_500, tools=True)


class Late:
    """The provider on the ledger of the store it is used with, which opens after it is given."""

    def __init__(self, place: Home, server: GeminiServer) -> None:
        self._place = place
        self._server = server
        self.name = NAME
        self.contract: CacheContract = policies.caching(place).contract(NAME)
        server.caches.minimum = self.contract.minimum

    def limits(self) -> ModelLimits:
        return LIMITS

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                yield event
        await self._provider.close()  # each turn is a minute long: what runs beside it has ended

    async def warm(self, request: Request) -> None:
        await self._provider.warm(request)

    async def close(self) -> None:
        self._store.close()

    @cached_property
    def _store(self) -> Store:
        return Store.open(self._place.profile_db(PROFILE))

    @cached_property
    def _provider(self) -> GeminiProvider:
        access = Access(self._server.origin, "AIza-story")
        ledger = StoreLedger(self._store, Prices())
        return GeminiProvider(NAME, access, LIMITS, self.contract, ledger, self._server.clock)


def factory(server: GeminiServer) -> Callable[[Home], Provider]:
    return lambda place: Late(place, server)


def paid(told: Told, server: GeminiServer, contract: CacheContract) -> float:
    """What the prompts cost, in uncached input tokens."""
    sum = told.sum
    return (
        sum.total
        - sum.read
        + sum.written * contract.write_short / 10_000
        + sum.read * contract.read / 10_000
        + server.caches.token_hours() * contract.storage / 10_000
    )


def test_fifty_turns_read_what_an_ideal_client_with_the_same_caches_reads(
    home: Path, server: GeminiServer, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tell(home, server, factory(server), clock)
    with capsys.disabled():
        print(f"\n{HEADING}\n{told.row(NAME)}")
    assert told.sum.calls == TURNS
    assert told.sum.read_share >= 0.95
    assert told.sum.write_ratio <= 1.1
    # Nor would one that only appends have read more: after a cut it has nothing to read.
    assert told.sum.read >= 0.95 * server.caches.shared > 0
    # The ideal is not to do without: from where the prefix has the minimum on, it is in a cache.
    contract = policies.caching(Home.at(home)).contract(NAME)
    first = next(at for at, call in enumerate(told.calls) if call.written)
    assert told.calls[first - 1].total > contract.minimum
    assert told.calls[first - 2].total < 1.2 * contract.minimum
    assert all(call.read >= contract.minimum for call in told.calls[first:])
    assert paid(told, server, contract) < 0.7 * told.sum.total
    # Of all that were made one is left: for the rest of its life, if nothing more is said.
    assert sum(one.ended is None for one in server.caches.contents) == 1


def test_the_person_is_told_what_was_read_of_what_was_there_and_what_was_written(
    home: Path, server: GeminiServer, clock: FakeClock
) -> None:
    told = tell(home, server, factory(server), clock, turns=24)
    assert any(call.written for call in told.calls)
    said = [(usage.total, usage.read or 0, usage.written or 0) for usage in told.usages]
    assert said == [
        (call.total, call.read - call.written if call.written else call.read, call.written)
        for call in told.calls
    ]


def test_with_a_clock_above_everything_nothing_is_read_and_nothing_paid_for_caches(
    home: Path, server: GeminiServer, clock: FakeClock
) -> None:
    told = tell(home, server, factory(server), clock, turns=24, blocks=clock_in_l1())
    assert told.calls[-1].total > MINIMUM
    assert (told.sum.read, told.sum.written) == (0, 0)

"""A chain of scripted models to ask, under a clock that only sleeping moves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import LilaError, UnavailableError, UnreachableError
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.breaker import BreakerRules
from lila_app.gateway.calls.calling import Caller, Switched
from lila_app.gateway.calls.means import About, World
from lila_app.gateway.calls.rules import CallingRules, Patience
from lila_app.gateway.port import (
    CachePlan,
    Message,
    Prefix,
    Provider,
    ProviderEvent,
    Request,
    TextDelta,
    Ttl,
)
from lila_app.testing import FakeClock, MemoryLedger, Scripted, ScriptedProvider

BREAKER = BreakerRules(
    failures=3,
    open_seconds=30,
    longest_seconds=240,
    rate_seconds=60,
    spend_seconds=3_600,
    probe_seconds=120,
)
PATIENCE = Patience(first_token=30, stall=30)
RULES = CallingRules(
    attempts=2,
    backoff=1.0,
    backoff_longest=4.0,
    offline=20,
    deadlines={"chat": 40, "voice": 6, "background": 300},
    patience={"chat": PATIENCE, "voice": PATIENCE, "background": PATIENCE},
    local=PATIENCE,
    breaker=BREAKER,
)
CACHED = CacheContract("anthropic", short_seconds=300, long_seconds=3_600)
DOWN = Scripted((), error=UnavailableError("down"))
GONE = Scripted((), error=UnreachableError("no way there"))
ASKED = Request(
    (Message("system", "You are brief.", breakpoint=True), Message("user", "Hello")),
    max_tokens=100,
    tokens=1_000,
    cache=CachePlan(
        session="s1", epoch=3, use_case="chat", prefixes=(Prefix("identity", "ab", 900),)
    ),
)


class Bench:
    """Models under a clock that only sleeping moves."""

    def __init__(
        self,
        *models: ScriptedProvider,
        rules: CallingRules = RULES,
        about: dict[str, About] | None = None,
        choices: Sequence[Ttl | None] = (),
    ) -> None:
        self.models, self.clock, self.ledger = models, FakeClock(), MemoryLedger()
        self.slept: list[float] = []
        self.gaps: list[Any] = []
        self._begin = self.clock()
        known = about or {}

        def choose(
            contract: CacheContract, gaps: Sequence[Sequence[float]]
        ) -> tuple[Ttl | None, ...]:
            self.gaps.append((contract.kind, gaps))
            return tuple(choices)

        self.caller = Caller(
            self.ledger,
            rules,
            about=lambda name: known.get(name, About(credential="k1")),
            choose=choose,
            world=World(self.clock, self._timer, self._sleep, lambda: 0.5),
        )

    def _timer(self) -> float:
        return (self.clock() - self._begin).total_seconds()

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)
        await asyncio.sleep(0)

    async def ask(
        self, request: Request = ASKED, into: list[ProviderEvent | Switched] | None = None
    ) -> list[ProviderEvent | Switched]:
        events = into if into is not None else []
        models: tuple[Provider, ...] = self.models
        async with aclosing(self.caller.stream(models, request, record_id="c7")) as stream:
            async for event in stream:
                events.append(event)
        return events

    async def fails(self, kind: type[LilaError], request: Request = ASKED) -> LilaError:
        with pytest.raises(kind) as caught:
            await self.ask(request)
        return caught.value

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(a.model, a.outcome) for a in self.ledger.attempts]


def model(name: str, *replies: str | Scripted, limits: ModelLimits | None = None) -> Any:
    return ScriptedProvider(*replies, name=name, limits=limits)


def text(events: Sequence[ProviderEvent | Switched]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def switches(events: Sequence[ProviderEvent | Switched]) -> list[Switched]:
    return [event for event in events if isinstance(event, Switched)]

"""What calls are made with: the ledger, the rules, what is known of a model, times and chance."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import random as system_random

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.breaker import Breakers
from lila_app.gateway.calls.rules import CallingRules
from lila_app.gateway.ledger import Ledger
from lila_app.gateway.port import Ttl


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a model: the digest of its key, where it runs, what its cache promises.

    A `local` one runs on this machine: it needs no network, and more patience.
    """

    credential: str = ""
    local: bool = False
    contract: CacheContract = field(default_factory=lambda: CacheContract("none"))


Choose = Callable[[CacheContract, Sequence[Sequence[float]]], tuple[Ttl | None, ...]]
"""From a contract and the measured gaps at each breakpoint to the lifetimes, None for one that is
not worth marking; () leaves them to the adapter."""


def nothing_known(name: str) -> About:
    """A model beyond this machine, without a key and with no cache that is known."""
    del name
    return About()


def unchosen(contract: CacheContract, gaps: Sequence[Sequence[float]]) -> tuple[Ttl | None, ...]:
    """No lifetimes."""
    del contract, gaps
    return ()


def system_now() -> datetime:
    """The machine's time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class World:
    """What comes from outside: the time, a timer in seconds, sleep, and chance from 0 to 1."""

    now: Callable[[], datetime] = system_now
    timer: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = system_random

    def seconds(self) -> float:
        """Seconds since 1970."""
        return self.now().timestamp()


@dataclass(frozen=True, slots=True)
class Means:
    """Everything a call is made with; `breakers` are the models', `network` stands for the way."""

    ledger: Ledger
    rules: CallingRules
    about: Callable[[str], About]
    choose: Choose
    world: World
    breakers: Breakers
    network: Breakers


class Deadline:
    """A time after which nothing more is begun."""

    def __init__(self, timer: Callable[[], float], seconds: float) -> None:
        self._timer = timer
        self._end = timer() + seconds

    @property
    def remaining(self) -> float:
        """Seconds left; negative when it is over."""
        return self._end - self._timer()

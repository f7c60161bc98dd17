"""How calls to models are made: the `[calling]` part of the gateway's policy table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lila_app.gateway.calls.breaker import BreakerRules
from lila_app.gateway.port import Slot


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model is waited for, in seconds.

    `first_token` is the time to the first event of any kind, `stall` between two of them.
    """

    first_token: float
    stall: float


@dataclass(frozen=True, slots=True)
class CallingRules:
    """Seconds throughout.

    A model is asked at most `attempts` times in one turn, with waits that begin at `backoff`,
    double, and end at `backoff_longest`, each drawn from its upper half. `deadlines` are the times
    after which nothing is waited for and nothing tried again. `local` is the patience with models
    on this machine, which no deadline cuts short.
    """

    attempts: int
    backoff: float
    backoff_longest: float
    offline: float
    deadlines: Mapping[Slot, float]
    patience: Mapping[Slot, Patience]
    local: Patience
    breaker: BreakerRules

    @property
    def network(self) -> BreakerRules:
        """The rules of the breaker that stands for the network as a whole."""
        return BreakerRules(
            failures=1,
            open_seconds=self.offline,
            longest_seconds=self.offline,
            rate_seconds=self.offline,
            spend_seconds=self.offline,
            probe_seconds=self.offline,
        )


SLOTS: tuple[Slot, ...] = ("chat", "voice", "background")

NUMBERS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "calling": {
        "attempts": (1, 10),
        "backoff_ms": (1, 60_000),
        "backoff_longest_ms": (1, 600_000),
        "offline_seconds": (1, 3_600),
    },
    **{
        f"calling.{slot}": {
            "deadline_seconds": (1, 3_600),
            "first_token_seconds": (1, 3_600),
            "stall_seconds": (1, 3_600),
        }
        for slot in SLOTS
    },
    "calling.local": {"first_token_seconds": (1, 86_400), "stall_seconds": (1, 86_400)},
    "calling.breaker": {
        "failures": (1, 1_000),
        "open_seconds": (1, 86_400),
        "longest_seconds": (1, 86_400),
        "rate_seconds": (1, 86_400),
        "spend_seconds": (1, 604_800),
        "probe_seconds": (1, 86_400),
    },
}
"""Every number of the table by its dotted name, with the least and the most it may be."""

GROWING = (
    ("calling", "backoff_ms", "backoff_longest_ms"),
    ("calling.breaker", "open_seconds", "longest_seconds"),
)
"""Waits that are doubled, each with where the doubling ends: table, first, longest."""


def calling_rules(found: Mapping[str, Mapping[str, int]]) -> CallingRules:
    """The rules from whole numbers, one mapping for each table of `NUMBERS`."""
    calling, local = found["calling"], found["calling.local"]
    slots: dict[Slot, Mapping[str, int]] = {slot: found[f"calling.{slot}"] for slot in SLOTS}
    return CallingRules(
        attempts=calling["attempts"],
        backoff=calling["backoff_ms"] / 1_000,
        backoff_longest=calling["backoff_longest_ms"] / 1_000,
        offline=calling["offline_seconds"],
        deadlines={slot: numbers["deadline_seconds"] for slot, numbers in slots.items()},
        patience={
            slot: Patience(numbers["first_token_seconds"], numbers["stall_seconds"])
            for slot, numbers in slots.items()
        },
        local=Patience(local["first_token_seconds"], local["stall_seconds"]),
        breaker=BreakerRules(**found["calling.breaker"]),
    )

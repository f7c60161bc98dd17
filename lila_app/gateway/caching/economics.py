"""What caching a prefix costs and saves, in plain arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import Ttl
from lila_app.gateway.prices import MILLION, Rates

DAY = 86_400


@dataclass(frozen=True, slots=True)
class Bill:
    """US dollars for a prefix over some calls: sent anew each time, or written and read."""

    uncached: Decimal
    writes: Decimal
    reads: Decimal

    @property
    def cached(self) -> Decimal:
        """With the cache."""
        return self.writes + self.reads

    @property
    def saved(self) -> Decimal:
        """The share saved, 0 to 1; below 0 the cache costs more than it saves."""
        return 1 - self.cached / self.uncached if self.uncached else Decimal(0)


def bill(tokens: int, calls: int, writes: int, reads: int, rates: Rates, ttl: Ttl) -> Bill:
    """Price a prefix of this many tokens, sent in `calls` calls."""
    write = rates.write_short
    if ttl == "long" and rates.write_long is not None:
        write = rates.write_long
    return Bill(
        uncached=tokens * calls * rates.input / MILLION,
        writes=tokens * writes * write / MILLION,
        reads=tokens * reads * rates.read / MILLION,
    )


def writes_a_day(calls: int, lifetime: int) -> int:
    """How often a prefix is written at `calls` calls a day, spread evenly over it.

    Where the next call comes within the lifetime it is a read, and a hit begins the lifetime
    anew; one write a lifetime is counted all the same, as much as it can be at the worst.
    """
    if not calls or not lifetime or DAY / calls > lifetime:
        return calls
    return min(calls, -(-DAY // lifetime))


def least_short_share(contract: CacheContract) -> float:
    """The share of calls within the short lifetime from which on marking pays, 0 to 1.

    (ws − 1) / (ws − r).
    """
    spread = contract.write_short - contract.read
    return max(0.0, (contract.write_short - 10_000) / spread) if spread else 0.0


def least_long_share(contract: CacheContract, short_share: float) -> float:
    """The share of calls within the long lifetime only from which on it beats the short one.

    (wl − ws)·(1 − p) / (wl − r).
    """
    spread = contract.write_long - contract.read
    extra = contract.write_long - contract.write_short
    return extra * (1 - short_share) / spread if spread else 0.0

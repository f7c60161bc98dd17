"""What an explicit cache costs and saves: arithmetic over a contract, nothing else.

Google bills the making of a cache as input, its keeping by token and hour, and each token read
from it at a fraction (`CacheContract`). All here is per token of the prefix, in basis points of
the price of one uncached input token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.gateway.caching.contract import CacheContract

_FULL = 10_000
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Expected:
    """How often a cache will be used, the call it is made in included, and hours it will live."""

    uses: float
    hours: float


def expected(gaps: Sequence[float], life: float) -> Expected:
    """What measured gaps say, for a cache that lives `life` seconds.

    There is a gap for each call: the time since one with the same prefix, infinity without one. A
    gap longer than the life begins a new run of uses (each use extends the life), so the mean run
    is the number of calls over the number of runs. Between uses a cache is kept for the mean gap,
    after the last one for its whole life. Where nothing was measured, nothing speaks for a second
    use.
    """
    within = [gap for gap in gaps if gap <= life]
    runs = max(1, len(gaps) - len(within))
    uses = max(1.0, len(gaps) / runs)
    mean = sum(within) / len(within) if within else 0.0
    return Expected(uses, ((uses - 1) * mean + life) / _HOUR)


def pays(contract: CacheContract, ahead: Expected) -> bool:
    """Whether making, keeping and reading a cache is cheaper than sending its prefix each time.

    1 + storage·hours + read·n < n, with the making at the contract's price of a write. It holds
    for every token of a prefix alike, which is why the longest one that stands still is taken.
    """
    made = contract.write_short + contract.storage * ahead.hours
    return made + contract.read * ahead.uses < _FULL * ahead.uses


def outgrown(contract: CacheContract, held: int, ends: Sequence[int]) -> bool:
    """Whether a longer cache should take the place of one that holds `held` tokens.

    `ends` are the tokens up to the end of each turn since, the present one last. Each of those
    calls sent what lies beyond the cache at the full price. When that has cost as much as making
    the longer cache, it is made: then no guess about the future is needed, and the loss is never
    more than twice what the best guess would have cost.
    """
    beyond = sum(end - held for end in ends if end > held)
    return bool(ends) and beyond * (_FULL - contract.read) >= ends[-1] * contract.write_short

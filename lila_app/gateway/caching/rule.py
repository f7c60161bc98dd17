"""Which cache contract a model has, and which lifetime a prefix is worth.

The contracts are dated data (policies/caching.toml). The rule takes what was measured: how soon a
prefix was sent again, call by call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import Ttl
from lila_app.gateway.prices import Rates

FULL = 10_000
"""Basis points of the price of an uncached input token."""

FORMULA = (
    "per token and call, 1 being an uncached token: not cached 1; short p·r + (1−p)·ws; "
    "long (p+q)·r + (1−p−q)·wl; where keeping costs, that too; the least wins"
)
"""The rule in words: p is the share of calls within the short lifetime of the one before, q the
share within the long one only; r, ws and wl are the multipliers of a read and the two writes."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Below `least` measured calls the `default` holds (None: do not mark)."""

    least: int = 10
    default: Ttl | None = "short"


@dataclass(frozen=True, slots=True)
class Caching:
    """The caching table: contracts by model name or beginning of it, and the rule."""

    contracts: Mapping[str, CacheContract]
    """By pattern, each whole: what a less exact pattern says is already in it."""
    rule: Rule

    def contract(self, name: str, rates: Rates | None = None) -> CacheContract:
        """The contract of `provider/model`; multipliers from its prices where these are given."""
        return priced(self.contracts[matching(name, self.contracts)[-1]], rates)

    def long_write(self, name: str) -> int:
        """The table's multiplier of a long write, for price data that has none."""
        return self.contract(name).write_long


def matching(name: str, patterns: Sequence[str] | Mapping[str, object]) -> list[str]:
    """The patterns that a model's name fits, the most exact last."""
    found = [
        pattern
        for pattern in patterns
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))
    ]
    return sorted(found, key=lambda pattern: (not pattern.endswith("*"), len(pattern)))


def priced(contract: CacheContract, rates: Rates | None) -> CacheContract:
    """The contract with the multipliers that the model's prices have."""
    if rates is None or not rates.input or contract.kind in ("none", "prefix"):
        return contract

    def points(price: Decimal) -> int:
        return int((price * FULL / rates.input).quantize(Decimal(1), ROUND_HALF_UP))

    long = rates.write_long
    return replace(
        contract,
        read=points(rates.read),
        write_short=points(rates.write_short),
        write_long=contract.write_long if long is None else points(long),
        source=f"{contract.source}; multipliers: {rates.prices}",
    )


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the rule made of one breakpoint.

    Of `calls` measured, `short` came within the short lifetime of the one before and `long` within
    the long one only. Costs are basis points of an uncached token, per token and call, None before
    anything was measured or where there is no such lifetime. `measured` False means that the
    default was taken.
    """

    calls: int
    short: int
    long: int
    cost_short: int | None
    cost_long: int | None
    measured: bool
    choice: Ttl | None


def weigh(contract: CacheContract, gaps: Sequence[float], rule: Rule | None = None) -> Weighed:
    """Which lifetime a breakpoint is worth, by the gaps of its calls (infinity: none before it)."""
    rule = rule or Rule()
    calls = len(gaps)
    short = sum(gap <= contract.short_seconds for gap in gaps)
    long = sum(contract.short_seconds < gap <= contract.long_seconds for gap in gaps)
    costs: dict[Ttl, int] = {}
    if calls and contract.kind != "none":
        costs["short"] = _cost(contract, gaps, contract.short_seconds, contract.write_short)
        if contract.long_seconds:
            costs["long"] = _cost(contract, gaps, contract.long_seconds, contract.write_long)
    measured = calls >= rule.least
    if contract.kind == "none":
        choice = None
    elif measured:
        choice = _least(costs)
    else:
        choice = rule.default if contract.long_seconds or rule.default is None else "short"
    return Weighed(calls, short, long, costs.get("short"), costs.get("long"), measured, choice)


def choose(
    contract: CacheContract,
    gaps_by_breakpoint: Sequence[Sequence[float]],
    rule: Rule | None = None,
) -> tuple[Ttl | None, ...]:
    """A lifetime for each breakpoint in the order of the prompt; None is not to be marked.

    Long ones stand before short ones, as Anthropic demands: what is chosen long after a short one
    becomes short.
    """
    found: list[Ttl | None] = []
    for gaps in gaps_by_breakpoint:
        choice = weigh(contract, gaps, rule).choice
        found.append("short" if choice == "long" and "short" in found else choice)
    return tuple(found)


def _cost(contract: CacheContract, gaps: Sequence[float], seconds: int, write: int) -> int:
    """Per token and call, for a cache that lives so long; where keeping it costs, with that."""
    hits = sum(gap <= seconds for gap in gaps)
    kept = sum(min(gap, seconds) for gap in gaps) / 3_600
    whole = hits * contract.read + (len(gaps) - hits) * write + contract.storage * kept
    return round(whole / len(gaps))


def _least(costs: Mapping[Ttl, int]) -> Ttl | None:
    """The cheapest; at the same price a mark is better than none, and short better than long."""
    choice, least = min(costs.items(), key=lambda item: item[1])
    return choice if least <= FULL else None

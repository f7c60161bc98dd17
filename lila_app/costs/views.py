"""Plain data about money and caches, as the assistant shows it to its front-ends.

Money is US dollars. A number of tokens is None where a provider reported none, which is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class UsageLine:
    """What one model did for one job.

    `failed` of the `attempts` gave no whole reply. `uncached` is what was neither read from a cache
    nor written to one. Times to the first token are milliseconds, None without any. `cost` leaves
    `unpriced` attempts out, for the reasons in `notes`.
    """

    provider: str
    model: str
    job: str
    attempts: int
    failed: int
    uncached: int
    read: int | None
    written_short: int | None
    written_long: int | None
    output: int
    first_token_p50: int | None
    first_token_p95: int | None
    cost: Decimal
    unpriced: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatioInfo:
    """The largest ratio seen of a model's tokens to the declared ones, basis points.

    `tokens` are the declared ones of the prompt it was seen on, `at` when.
    """

    model: str
    ratio: int
    tokens: int
    at: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """A month's calls. `prices` names the price data and its date; `budget` None is none."""

    month: str
    lines: tuple[UsageLine, ...]
    cost: Decimal
    unpriced: int
    budget: Decimal | None
    prices: tuple[str, ...]
    ratios: tuple[RatioInfo, ...]


@dataclass(frozen=True, slots=True)
class BreakpointLine:
    """How often the prefix that ends at a breakpoint was sent again, and what the rule chose.

    Of `calls`, `short` came within the short lifetime of the one before and `long` within the long
    one only; `gap` is the median of those that had one before, in seconds. Costs are multiples of
    an uncached token, per token and call. From `short_from` on, as a share of calls from 0 to 1,
    marking pays; from `long_from` on, as the share within the long lifetime only, it beats the
    short one (keeping not counted; None without such a lifetime). `choice` is "short", "long" or
    None; `measured` False says that there are too few calls and the default was taken.
    """

    after: str
    calls: int
    short: int
    long: int
    gap: float | None
    cost_short: float | None
    cost_long: float | None
    short_from: float | None
    long_from: float | None
    choice: str | None
    measured: bool


@dataclass(frozen=True, slots=True)
class ContractInfo:
    """What a provider promises of its cache: lifetimes in seconds, multipliers of the price."""

    kind: str
    minimum: int
    short_seconds: int
    long_seconds: int
    read: float
    write_short: float
    write_long: float
    storage: float
    as_of: str
    source: str


@dataclass(frozen=True, slots=True)
class CacheLine:
    """One use case under one model. `saved` is what the cache saved, negative if it cost more."""

    use_case: str
    model: str
    calls: int
    total: int
    read: int | None
    written: int | None
    saved: Decimal | None
    contract: ContractInfo
    breakpoints: tuple[BreakpointLine, ...]


@dataclass(frozen=True, slots=True)
class WarningInfo:
    """A call that read nothing though its provider promises it; `text` says it in a sentence."""

    at: str
    session_id: str
    record_id: str | None
    model: str
    cause: str
    block: str | None
    miss: str | None
    text: str


@dataclass(frozen=True, slots=True)
class CacheReport:
    """Calls since a moment; the rule by `formula`, below `least` calls the `default`."""

    since: str
    formula: str
    least: int
    default: str | None
    lines: tuple[CacheLine, ...]
    warnings: tuple[WarningInfo, ...]


@dataclass(frozen=True, slots=True)
class BlockCost:
    """One block of a policy under one model, by the day.

    `tokens` are declared ones a call, `basis` says where they come from: "measured", "nominal" (the
    policy's own ceiling or share) or "unknown". `ttl` is the lifetime it is cached for, None for
    not at all.
    """

    lifetime: str
    block: str
    tokens: int
    basis: str
    ttl: str | None
    uncached: Decimal
    cached: Decimal


@dataclass(frozen=True, slots=True)
class LayerReport:
    """What a policy's layers cost a day at `daily` calls.

    `records` are how many stored prompts were measured, 0 for none. `ratio` is that of the model's
    tokens to the declared ones, basis points, the mean of its calls ("measured") or the table's
    largest ("nominal"). `assumed` says what was assumed about how far calls
    are apart, "" when that was measured. `output` are the tokens of a reply.
    """

    use_case: str
    model: str
    daily: int
    records: int
    ratio: int
    ratio_basis: str
    assumed: str
    blocks: tuple[BlockCost, ...]
    output: int
    output_basis: str
    output_cost: Decimal
    prices: str

"""What each layer of a policy costs a day under a model, cached as the rule would have it.

A block is written and read as a whole: that a conversation grows by a turn a call, which is written
and not read, is left out, some hundred tokens a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lila_app.context import Policy
from lila_app.context.assemble import token_limit
from lila_app.context.items import ModelLimits
from lila_app.context.policy import BlockPolicy, UseCase
from lila_app.costs.accounts import LEAST_TOKENS
from lila_app.costs.views import BlockCost, LayerReport
from lila_app.errors import ConfigError
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.caching.economics import DAY, bill, writes_a_day
from lila_app.gateway.caching.rule import Caching, choose
from lila_app.gateway.port import Ttl
from lila_app.gateway.prices import MILLION, Prices, Rates
from lila_app.storage import ledger, reuse
from lila_app.storage.connection import Store
from lila_app.storage.ledger import UsageRow
from lila_app.storage.reuse import Place
from lila_app.storage.sizes import Sizes, block_sizes

_LAYER_OF = {
    "conversation": "conversation",
    "memory": "memory",
    "graph": "graph",
    "documents": "rag",
    "state": "session",
}
"""Which layer's share bounds a block that has no ceiling of its own."""

EVENLY = "calls are spread evenly over the day: too few were measured to know"


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be priced: a row of the policy for a model, at so many calls a day."""

    policy: Policy
    row: UseCase
    model: str
    limits: ModelLimits
    daily: int
    now: datetime


@dataclass(frozen=True, slots=True)
class _Cached:
    """Up to one breakpoint: for how long, and how many writes and reads a day."""

    ttl: Ttl | None
    writes: int
    reads: int


def layers(store: Store, caching: Caching, prices: Prices, case: Case) -> LayerReport:
    """Price every block. Raises `ConfigError` for a model without a known price."""
    rates = prices.rates(case.model, case.now)
    if rates is None:
        raise ConfigError(
            f"no price is known for {case.model}",
            hint="name another with --model; `lila models list` shows which there are",
        )
    contract = caching.contract(case.model, rates)
    if rates.write_long is None:
        long = rates.input * contract.write_long / 10_000
        rates = replace(rates, write_long=long)
    sizes = block_sizes(store, case.row.name, token_limit(case.policy, case.row, case.limits))
    case, ratio_basis = _with_real_ratio(store, case)
    sized = [_sized(case, sizes, block) for block in case.policy.blocks]
    held, measured = _held(store, caching, contract, case, sized)
    output, basis = _output(store, case)
    return LayerReport(
        use_case=case.row.name,
        model=case.model,
        daily=case.daily,
        records=sizes.records,
        ratio=case.limits.token_ratio,
        ratio_basis=ratio_basis,
        assumed="" if measured else EVENLY,
        blocks=tuple(
            _priced(case, rates, block, tokens, basis, held.get(block.name))
            for block, (tokens, basis) in zip(case.policy.blocks, sized, strict=True)
        ),
        output=output,
        output_basis=basis,
        output_cost=output * case.daily * rates.output / MILLION,
        prices=rates.prices,
    )


def _calls(store: Store, case: Case) -> list[UsageRow]:
    """The model's latest calls."""
    provider, _, model = case.model.partition("/")
    rows = ledger.list_usage(store, limit=1_000)
    return [row for row in rows if (row.provider, row.model) == (provider, model)]


def _with_real_ratio(store: Store, case: Case) -> tuple[Case, str]:
    """The case with the mean token ratio of the model's calls; the table's is the largest.

    A limit must hold for the worst text, a bill is for what is usual.
    """
    told = [
        (row.total, row.prompt_tokens)
        for row in _calls(store, case)
        if row.total is not None and row.prompt_tokens >= LEAST_TOKENS
    ]
    if not told:
        return case, "nominal"
    total, declared = (sum(part) for part in zip(*told, strict=True))
    mean = -(-total * 10_000 // declared)
    return replace(case, limits=replace(case.limits, token_ratio=mean)), "measured"


def _sized(case: Case, sizes: Sizes, block: BlockPolicy) -> tuple[int, str]:
    """Declared tokens of a block and where they are from."""
    if sizes.records:
        return sizes.blocks.get(block.name, 0), "measured"
    row = case.row
    if block.name == "tools" and not (row.tools and case.limits.tools):
        return 0, "nominal"
    if block.name == "results" and not row.tools:
        return 0, "nominal"
    if block.ceiling:
        return block.ceiling, "nominal"
    if block.name in _LAYER_OF:
        share = row.layer(_LAYER_OF[block.name])
        total = sum(layer.ratio for layer in row.layers)
        limit = token_limit(case.policy, row, case.limits)
        return (min(share.cap, limit * share.ratio // total) if total else 0), "nominal"
    return 0, "unknown"  # the person's own words


def _held(
    store: Store,
    caching: Caching,
    contract: CacheContract,
    case: Case,
    sized: Sequence[tuple[int, str]],
) -> tuple[Mapping[str, _Cached], bool]:
    """By block what is cached of it, and whether the gaps behind that were measured."""
    provider, _, model = case.model.partition("/")
    names = [block.name for block in case.policy.blocks]
    ends = {name: names.index(name) for name in case.policy.breakpoints}
    gaps = [
        reuse.gaps(store, Place(case.row.name, provider, model, name))
        for name in case.policy.breakpoints
    ]
    # Before enough was measured the rule takes its default; what it will choose is in the traffic.
    evenly = [DAY / case.daily] * caching.rule.least
    chosen = choose(
        contract,
        [one if len(one) >= caching.rule.least else evenly for one in gaps],
        caching.rule,
    )
    measured = all(len(one) >= caching.rule.least for one in gaps)
    found: dict[str, _Cached] = {}
    for name, ttl, seen in zip(case.policy.breakpoints, chosen, gaps, strict=True):
        prefix = sum(_theirs(tokens, case) for tokens, _ in sized[: ends[name] + 1])
        enough = len(seen) >= caching.rule.least
        cached = _cached(contract, ttl if prefix >= contract.minimum else None, case.daily)
        if enough and cached.ttl is not None:
            cached = _as_measured(contract, cached.ttl, seen, case.daily)
        for block in names[: ends[name] + 1]:
            # What is too short to be cached alone is cached with what follows it.
            if block not in found or found[block].ttl is None:
                found[block] = cached
    return found, measured


def _cached(contract: CacheContract, ttl: Ttl | None, daily: int) -> _Cached:
    if ttl is None:
        return _Cached(None, 0, 0)
    writes = writes_a_day(daily, _lifetime(contract, ttl))
    return _Cached(ttl, writes, daily - writes)


def _as_measured(contract: CacheContract, ttl: Ttl, gaps: Sequence[float], daily: int) -> _Cached:
    hits = sum(gap <= _lifetime(contract, ttl) for gap in gaps)
    reads = daily * hits // len(gaps)
    return _Cached(ttl, daily - reads, reads)


def _lifetime(contract: CacheContract, ttl: Ttl) -> int:
    return contract.long_seconds if ttl == "long" else contract.short_seconds


def _priced(
    case: Case, rates: Rates, block: BlockPolicy, tokens: int, basis: str, held: _Cached | None
) -> BlockCost:
    theirs = _theirs(tokens, case)
    ttl = held.ttl if held is not None else None
    if held is None or ttl is None:
        cost = bill(theirs, case.daily, 0, 0, rates, "short").uncached
        uncached = cached = cost
    else:
        priced = bill(theirs, case.daily, held.writes, held.reads, rates, ttl)
        uncached, cached = priced.uncached, priced.cached
    return BlockCost(str(block.lifetime), block.name, tokens, basis, ttl, uncached, cached)


def _theirs(tokens: int, case: Case) -> int:
    """The model's own tokens for declared ones."""
    return -(-tokens * case.limits.token_ratio // 10_000)


def _output(store: Store, case: Case) -> tuple[int, str]:
    seen = [
        row.output
        for row in _calls(store, case)
        if row.use_case == case.row.name and row.output is not None
    ]
    if not seen:
        return case.row.reply_reserve, "nominal"
    return -(-sum(seen) // len(seen)), "measured"

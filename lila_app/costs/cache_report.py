"""What was sent again, read, written and saved, by use case and model; and what was missed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Any, cast

from lila_app.costs.accounts import attempt_of
from lila_app.costs.spending import reported
from lila_app.costs.views import (
    BreakpointLine,
    CacheLine,
    CacheReport,
    ContractInfo,
    WarningInfo,
)
from lila_app.errors import NotFoundError
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.caching.economics import least_long_share, least_short_share
from lila_app.gateway.caching.rule import FORMULA, FULL, Caching, weigh
from lila_app.gateway.caching.watch import CacheWarning, first_difference, sentence, watch
from lila_app.gateway.prices import MILLION, Prices, Rates
from lila_app.storage import ledger, records, reuse
from lila_app.storage.connection import Store
from lila_app.storage.ledger import REACHED, UsageRow
from lila_app.storage.reuse import Place

Group = tuple[str, str, str]
"""Use case, provider and model."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a report is made from."""

    store: Store
    caching: Caching
    prices: Prices

    def contract(self, name: str, at: str) -> CacheContract:
        """The contract of a model, its multipliers from the prices of a day."""
        rates = self.prices.rates(name, datetime.fromisoformat(at))
        return self.caching.contract(name, rates)


def report(inputs: Inputs, since: str, now: str) -> CacheReport:
    """The report over calls since a moment; gaps are those of the latest 200 calls of a place."""
    rows = ledger.list_usage(inputs.store, since=since)
    groups: dict[Group, list[UsageRow]] = {}
    for row in rows:
        if row.finished in REACHED:
            groups.setdefault((row.use_case, row.provider, row.model), []).append(row)
    places: dict[Group, list[Place]] = {}
    for place in reuse.places(inputs.store):
        places.setdefault((place.use_case, place.provider, place.model), []).append(place)
    rule = inputs.caching.rule
    return CacheReport(
        since=since,
        formula=FORMULA,
        least=rule.least,
        default=rule.default,
        lines=tuple(
            _line(inputs, group, groups[group], places.get(group, ()), now)
            for group in sorted(groups)
        ),
        warnings=warnings(inputs, rows),
    )


def warnings(inputs: Inputs, rows: Sequence[UsageRow]) -> tuple[WarningInfo, ...]:
    """Reads that were promised and did not come, the latest first."""
    found = watch([attempt_of(row) for row in rows], inputs.caching.contract)
    return tuple(_warning(inputs.store, one) for one in reversed(found))


def _line(
    inputs: Inputs, group: Group, rows: Sequence[UsageRow], places: Sequence[Place], now: str
) -> CacheLine:
    use_case, provider, model = group
    name = f"{provider}/{model}"
    contract = inputs.contract(name, now)
    return CacheLine(
        use_case=use_case,
        model=name,
        calls=len(rows),
        total=sum(row.total or 0 for row in rows),
        read=reported(row.read for row in rows),
        written=reported(row.written for row in rows),
        saved=_saved(inputs, name, rows),
        contract=_contract(contract),
        breakpoints=tuple(_breakpoint(inputs, contract, place) for place in places),
    )


def _breakpoint(inputs: Inputs, contract: CacheContract, place: Place) -> BreakpointLine:
    gaps = reuse.gaps(inputs.store, place)
    found = weigh(contract, gaps, inputs.caching.rule)
    real = [gap for gap in gaps if math.isfinite(gap)]
    return BreakpointLine(
        after=place.after,
        calls=found.calls,
        short=found.short,
        long=found.long,
        gap=median(real) if real else None,
        cost_short=_times(found.cost_short),
        cost_long=_times(found.cost_long),
        short_from=None if contract.kind == "none" else least_short_share(contract),
        long_from=(
            least_long_share(contract, found.short / found.calls)
            if contract.long_seconds and found.calls and contract.kind != "none"
            else None
        ),
        choice=found.choice,
        measured=found.measured,
    )


def _saved(inputs: Inputs, name: str, rows: Sequence[UsageRow]) -> Decimal | None:
    """What the prompts would have cost uncached less what they did; None without prices."""
    total = Decimal(0)
    for row in rows:
        if row.read is None and row.written is None:
            continue
        rates = inputs.prices.rates(name, datetime.fromisoformat(row.at), row.total or 0)
        if rates is None:
            return None
        total += _saved_by(rates, row, inputs.caching.long_write(name))
    return total


def _saved_by(rates: Rates, row: UsageRow, long_write: int) -> Decimal:
    long = row.written_long or 0
    short = (row.written or 0) - long
    write_long = rates.write_long
    if write_long is None:
        write_long = rates.input * long_write / FULL
    return (
        (row.read or 0) * (rates.input - rates.read)
        - short * (rates.write_short - rates.input)
        - long * (write_long - rates.input)
    ) / MILLION


def _warning(store: Store, warning: CacheWarning) -> WarningInfo:
    block = None
    if warning.cause == "changed":
        block = first_difference(
            _blocks(store, warning.previous_record_id), _blocks(store, warning.record_id)
        )
    return WarningInfo(
        at=warning.at,
        session_id=warning.session_id,
        record_id=warning.record_id,
        model=f"{warning.provider}/{warning.model}",
        cause=warning.cause,
        block=block,
        miss=warning.miss,
        text=sentence(warning, block),
    )


def _blocks(store: Store, record_id: str | None) -> list[tuple[str, str | None]]:
    """The blocks of a record as (name, hash); none of one that is not there."""
    if record_id is None:
        return []
    try:
        record = records.get_record(store, record_id)
    except NotFoundError:
        return []
    blocks = cast("list[dict[str, Any]]", record["blocks"])
    return [(str(block["name"]), block["hash"]) for block in blocks]


def _contract(contract: CacheContract) -> ContractInfo:
    return ContractInfo(
        kind=contract.kind,
        minimum=contract.minimum,
        short_seconds=contract.short_seconds,
        long_seconds=contract.long_seconds,
        read=contract.read / FULL,
        write_short=contract.write_short / FULL,
        write_long=contract.write_long / FULL,
        storage=contract.storage / FULL,
        as_of=contract.as_of,
        source=contract.source,
    )


def _times(points: int | None) -> float | None:
    return None if points is None else points / FULL

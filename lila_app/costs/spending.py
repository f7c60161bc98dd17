"""A month's calls added up, by provider, model and job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from lila_app.costs.views import UsageLine
from lila_app.storage.ledger import WHOLE, UsageRow

_PICODOLLARS = 12


def lines(rows: Iterable[UsageRow]) -> tuple[UsageLine, ...]:
    """One line a provider, model and job, the dearest first."""
    groups: dict[tuple[str, str, str], list[UsageRow]] = {}
    for row in rows:
        groups.setdefault((row.provider, row.model, row.job), []).append(row)
    found = [_line(key, group) for key, group in groups.items()]
    return tuple(sorted(found, key=lambda one: (-one.cost, one.provider, one.model, one.job)))


def dollars(picodollars: int) -> Decimal:
    """What the ledger keeps, as US dollars."""
    return Decimal(picodollars).scaleb(-_PICODOLLARS)


def percentile(values: Sequence[int], percent: int) -> int | None:
    """The smallest value that this share of all do not exceed (nearest rank); None of none."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None


def reported(values: Iterable[int | None]) -> int | None:
    """The sum of what was reported; None where nothing was, which is not zero."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _line(key: tuple[str, str, str], rows: Sequence[UsageRow]) -> UsageLine:
    provider, model, job = key
    counted = [row for row in rows if row.total is not None]
    waits = [row.first_token_ms for row in rows if row.first_token_ms is not None]
    unpriced = [row for row in rows if row.cost is None]
    short = [_short(row) for row in rows]
    return UsageLine(
        provider=provider,
        model=model,
        job=job,
        attempts=len(rows),
        failed=sum(row.finished not in WHOLE for row in rows),
        uncached=sum(
            max(0, (row.total or 0) - (row.read or 0) - (row.written or 0)) for row in counted
        ),
        read=reported(row.read for row in rows),
        written_short=reported(short),
        written_long=reported(row.written_long for row in rows),
        output=sum(row.output or 0 for row in rows),
        first_token_p50=percentile(waits, 50),
        first_token_p95=percentile(waits, 95),
        cost=dollars(sum(row.cost or 0 for row in rows)),
        unpriced=len(unpriced),
        notes=tuple(sorted({row.cost_note for row in unpriced if row.cost_note})),
    )


def _short(row: UsageRow) -> int | None:
    return None if row.written is None else row.written - (row.written_long or 0)

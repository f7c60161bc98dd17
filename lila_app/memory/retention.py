"""How long a memory is offered. Nothing is deleted: what is over can still be asked for."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from lila_app.memory.promotion import Fading, Rules
from lila_app.storage.memories import MemoryRow

IN_FULL = 10_000


def offered(row: MemoryRow, now: str, rules: Rules) -> int:
    """How much of its score a memory keeps at a time, in basis points; 0: it is not offered.

    Pinned memories keep all of it, and those of the profile pack while they hold. Others fade by
    kind from when they were said. All but the pinned end with the interval in which they hold.
    """
    if row.pinned:
        return IN_FULL
    if row.expires_at is not None and row.expires_at <= now:
        return 0
    if row.valid_to is not None and row.status != "closed" and row.valid_to < now[:10]:
        return 0
    if row.kind == "core":
        return IN_FULL
    return faded(_days(row.at, now), rules.retention.get(row.retention))


def faded(days: int, rule: Fading | None) -> int:
    """What is left after so many whole days."""
    if rule is None:
        return IN_FULL
    if days >= rule.until:
        return rule.least
    if days <= rule.full:
        return IN_FULL
    passed, span = days - rule.full, rule.until - rule.full
    return IN_FULL - (IN_FULL - rule.least) * passed // span


def expires(kind: str, last_day: date | None, rules: Rules) -> str | None:
    """When a plan with a date is over: the end of its last day and of the grace, in UTC."""
    rule = rules.retention.get(kind)
    if kind != "plan" or last_day is None or rule is None:
        return None
    try:
        end = last_day + timedelta(days=1 + rule.grace)
    except OverflowError:
        return None
    return datetime(end.year, end.month, end.day, tzinfo=UTC).isoformat()


def _days(since: str, now: str) -> int:
    return max(0, (datetime.fromisoformat(now) - datetime.fromisoformat(since)).days)

"""Times as people and front-ends give them, and as LILA keeps them. Nothing here reads a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from lila_app.errors import UsageError

Clock = Callable[[], datetime]
"""Gives the time now, with a zone; a parameter everywhere, so that tests can hold it still."""


def system_clock() -> datetime:
    """The machine's clock, in UTC."""
    return datetime.now(UTC)


def resolve(now: datetime | str | None, clock: Clock) -> datetime:
    """The time meant by an optional argument. Raises UsageError for one without a zone."""
    if now is None:
        return clock()
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now)
        except ValueError as error:
            raise UsageError(
                f"{now!r} is not a time LILA understands",
                hint="write it in ISO 8601 with a zone, as in 2026-11-30T08:00:00+00:00",
            ) from error
    if now.tzinfo is None:
        raise UsageError(
            f"the time {now.isoformat()} has no zone",
            hint="add one, as in 2026-11-30T08:00:00+00:00",
        )
    return now


def stored(moment: datetime) -> str:
    """As the store keeps it: UTC, whole seconds, `+00:00`."""
    return moment.astimezone(UTC).replace(microsecond=0).isoformat()


def shown(moment: datetime, zone: ZoneInfo) -> str:
    """As a prompt shows it: the person's own zone, whole seconds."""
    return moment.astimezone(zone).replace(microsecond=0).isoformat()

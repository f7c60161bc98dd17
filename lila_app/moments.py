"""Times as people and front-ends give them, and as LILA keeps them. Nothing here reads a clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from lila_app.context.fixed import day_in_words
from lila_app.storage.values import instant, moment

Clock = Callable[[], datetime]
"""Gives the time now, with a zone; a parameter everywhere, so that tests can hold it still."""


def system_clock() -> datetime:
    """The machine's clock, in UTC."""
    return datetime.now(UTC)


def resolve(now: datetime | str | None, clock: Clock) -> datetime:
    """The time meant by an optional argument. Raises UsageError."""
    return clock() if now is None else moment(now)


def in_zone(text: str, zone: ZoneInfo) -> datetime:
    """A time as people write it; one without a zone is meant where they live. Raises UsageError."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return moment(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=zone)


def stored(time: datetime) -> str:
    """As the store keeps it: UTC, whole seconds, `+00:00`."""
    return instant(time)


def day(time: datetime, zone: ZoneInfo) -> str:
    """The day in words, where the person lives."""
    return day_in_words(time.astimezone(zone))


def shown(time: datetime, zone: ZoneInfo) -> str:
    """As a prompt shows it: the person's own zone, whole seconds."""
    return time.astimezone(zone).replace(microsecond=0).isoformat()

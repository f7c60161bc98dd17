"""How long a server asks to wait."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `Retry-After` (seconds, or a date); None without a sense."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    said = headers.get("retry-after")
    seconds = _number(said)
    if said is None or seconds is not None:
        return None if seconds is None else max(0.0, seconds)
    try:
        when = parsedate_to_datetime(said)
    except ValueError:
        return None
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _number(said: str | None) -> float | None:
    try:
        return None if said is None else float(said)
    except ValueError:
        return None

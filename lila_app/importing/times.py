"""Times as exports write them: seconds, milli- or microseconds since 1970, or ISO 8601."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

from lila_app.errors import UsageError
from lila_app.importing.model import RecordError
from lila_app.storage.values import instant

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which size on a number of the Unix clock is nano-, micro- or milliseconds: as seconds, 1e11
is the year 5138, as milliseconds 1973."""


def read(value: object, zone: tzinfo | None = None) -> str:
    """A time as the store keeps it. Raises `RecordError`.

    One without a zone is read in `zone`; without `zone` it is refused, because a guess would move
    what was said by hours.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _unix(float(value))
    if not isinstance(value, str) or not value.strip():
        raise RecordError("it has no time")
    text = value.strip()
    try:
        return _unix(float(text))
    except ValueError:
        return _iso(text, zone)


def optional(value: object, zone: tzinfo | None = None) -> str:
    """`read`, "" where there is no usable time."""
    try:
        return read(value, zone)
    except RecordError:
        return ""


def _unix(number: float) -> str:
    if not math.isfinite(number):
        raise RecordError(f"its time is {number}")
    unit = next((unit for size, unit in _UNITS if abs(number) >= size), 1)
    try:
        return instant(datetime.fromtimestamp(number / unit, UTC))
    except (ValueError, OverflowError, OSError, UsageError):
        raise RecordError(f"its time, {number:g}, is out of range") from None


def _iso(text: str, zone: tzinfo | None) -> str:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise RecordError(f"its time, {text[:40]!r}, is no ISO 8601 time") from None
    if found.tzinfo is None:
        if zone is None:
            raise RecordError(f"its time, {text[:40]!r}, has no zone; `--zone` says which one")
        found = found.replace(tzinfo=zone)
    try:
        return instant(found)
    except (UsageError, OverflowError, ValueError):
        raise RecordError(f"its time, {text[:40]!r}, is out of range") from None

"""How old what was read of a file is, and whether the file still is what was read."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Literal

from lila_app.storage.documents import DocumentRow

State = Literal["current", "changed", "gone"]

UNDATED = "1990"
"""A file dated before is one whose date nobody set: archives write 1970 or 1980 for none."""

_SAID: dict[State, str] = {
    "current": "",
    "changed": ", the file has changed since",
    # Who removed a note may have meant it: a model must not take what it said for what holds.
    "gone": ", its file is gone",
}

OLD = timedelta(days=7)
"""From this age on, when read, a file's own date says more about its text than the day of reading.
By hand: notes and agendas are read within days of being written."""


def state(row: DocumentRow) -> State:
    """Whether the file is what was read, by its size and time (one `stat`, no content is read).

    "gone" also when it cannot be looked at: its disk may not be there.
    """
    try:
        now = os.stat(row.path)  # noqa: PTH116  # a Path would not take every name that was stored
    except (OSError, ValueError):
        return "gone"
    return "current" if (now.st_size, now.st_mtime_ns) == (row.size, row.mtime) else "changed"


def modified(row: DocumentRow) -> str:
    """When the file was last written, as it was when read: ISO 8601 in UTC; "" where not known."""
    try:
        at = datetime.fromtimestamp(row.mtime // 1_000_000_000, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    written = at.isoformat(timespec="seconds")
    return written if written >= UNDATED else ""


def dated(row: DocumentRow) -> str:
    """The dates a passage is shown with: the day it was read, and what that day does not tell.

    "2026-11-30", "2026-11-30, file of 2024-03-01", "2026-11-30, the file has changed since",
    "2026-11-30, its file is gone".
    """
    found = row.ingested_at[:10]
    written = modified(row)
    if written and datetime.fromisoformat(row.ingested_at) - datetime.fromisoformat(written) >= OLD:
        found += f", file of {written[:10]}"
    return found + _SAID[state(row)]

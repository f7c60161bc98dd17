"""What "yesterday" meant on the day it was said."""

from __future__ import annotations

from datetime import datetime

from lila_app.memory.model import ResolvedDate


def resolve(text: str, at: datetime) -> tuple[ResolvedDate, ...]:
    """The times a text names, as days, by offset; `at` is when it was said, in the person's zone."""
    del text, at
    return ()

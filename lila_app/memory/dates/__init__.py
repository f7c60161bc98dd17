"""What "yesterday" meant on the day it was said."""

from __future__ import annotations

from datetime import datetime

from lila_app.memory.dates.loose import found_loosely
from lila_app.memory.dates.rules import found_by_rule
from lila_app.memory.model import ResolvedDate

LONGEST = 8_000
"""Characters of a text that are looked at: what is longer was pasted, and speaks of other days."""


def resolve(text: str, at: datetime) -> tuple[ResolvedDate, ...]:
    """The times a text names, as days, by offset; `at` is when it was said, in the person's zone.

    Own rules first (English, under 1 ms); dateparser (10 ms) only where a word or a figure that no
    rule took hints at a date. A date without its year or a weekday alone is taken on the side its
    sentence speaks of, past or future. What is recurring ("every Friday") is no date.
    """
    text = text[:LONGEST]
    day = at.date()
    found = found_by_rule(text, day)
    more = found_loosely(text, day, found)
    return tuple(sorted((*found, *more), key=lambda one: one.start))

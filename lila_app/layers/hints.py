"""What a question asks for beyond its words: somebody's own words, a time, what was said then.

English first, like the stop list of the full-text search; a question in another language has no
hints and is ranked by words and meaning alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from lila_app.memory.dates.rules import found_by_rule
from lila_app.storage.search import STOP_WORDS

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WORD = re.compile(r"[^\W_]+")
# "may" and "march" are months where a preposition or a day stands before, or a figure behind.
_MONTH = re.compile(
    rf"\b({'|'.join(m for m in _MONTHS if m not in ('march', 'may'))})\b"
    r"|\b(?:in|of|last|this|next|since|during|early|late|mid|until|\d{1,2})[ -](march|may)\b"
    r"|\b(march|may) \d"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:date|day|month|year|time|week|weekend)\b|\bhow long\b"
)
_TIMES = frozenset(
    (
        *("yesterday", "today", "tonight", "tomorrow", "ago", "last", "next", "recently", "since"),
        *("morning", "weekend", "day", "days", "week", "weeks", "month", "months", "year", "years"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *_MONTHS,
    )
)
_LATER = 7
"""Days after which something is still told as news: who asks for a day is helped by these too."""
_LONGEST_SPAN = 366
_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Hints:
    """What a question asks for.

    `words` are its own in lower case without accents, `when` says that it asks for a time. `months`
    are those it names, of `year` if it names one; `spans` the days other words of it mean.
    """

    words: frozenset[str]
    when: bool
    months: frozenset[int]
    years: frozenset[int]
    spans: tuple[tuple[date, date], ...]

    def named(self, speakers: Collection[str]) -> frozenset[str]:
        """Which of these speakers the question names, by any part of their name."""
        return frozenset(name for name in speakers if name_words(name) & self.words)

    def said_then(self, at: str) -> bool:
        """Whether something said at a time falls into what the question names."""
        day = datetime.fromisoformat(at).date()
        if self.months:
            return day.month in self.months and (not self.years or day.year in self.years)
        return any(first <= day <= last for first, last in self.spans)


def read(question: str, now: str) -> Hints:
    """What a question asks for, at a time (ISO 8601)."""
    text = question[:_CHARACTERS]
    low = text.lower()
    months = frozenset(
        _MONTHS.index(next(name for name in match.groups() if name)) + 1
        for match in _MONTH.finditer(low)
    )
    return Hints(
        words=frozenset(map(folded, _WORD.findall(text))),
        when=_WHEN.search(low) is not None,
        months=months,
        years=frozenset(int(found) for found in _YEAR.findall(text)) if months else frozenset(),
        spans=() if months else _spans(text, datetime.fromisoformat(now).date()),
    )


def _spans(text: str, today: date) -> tuple[tuple[date, date], ...]:
    from datetime import timedelta

    found = [(one.first, one.last) for one in found_by_rule(text, today)]
    return tuple(
        (first, last + timedelta(days=_LATER))
        for first, last in found
        if (last - first).days <= _LONGEST_SPAN and last.year < date.max.year
    )


def names_a_time(text: str) -> bool:
    """Whether a text holds a word for a time, or a year."""
    words = _WORD.findall(text[:_CHARACTERS].lower())
    return not _TIMES.isdisjoint(words) or any(len(w) == 4 and w.isdecimal() for w in words)


@lru_cache(maxsize=1024)
def name_words(name: str) -> frozenset[str]:
    """The words of a name, folded; an initial names nobody, and "Will" is a word before a name."""
    words = (folded(word) for word in _WORD.findall(name))
    return frozenset(word for word in words if len(word) > 1 and word not in STOP_WORDS)


def folded(word: str) -> str:
    """Lower case and without accents, as the full-text index keeps words."""
    plain = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))

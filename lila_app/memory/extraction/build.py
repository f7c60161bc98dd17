"""From what a rule found to a candidate: checked against the vocabulary, dated, put in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from lila_app.memory.dates.words import DAY_NUMBER, MONTH, MONTHS, YEAR
from lila_app.memory.extraction import ending
from lila_app.memory.extraction.reading import Fact
from lila_app.memory.extraction.words import listed
from lila_app.memory.model import ME, Candidate, Cue, ResolvedDate
from lila_app.memory.predicates import Predicate, Predicates

EXPLICIT = 9_500
"""Basis points for what the person asked to remember."""

_MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_BIRTHDAYS = (
    re.compile(rf"(?:the )?{DAY_NUMBER}(?: of)? {MONTH}\b(?:,? {YEAR})?", re.IGNORECASE),
    re.compile(rf"{MONTH} (?:the )?{DAY_NUMBER}\b(?:,? {YEAR})?", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Stated:
    """Where a fact was stated, and what the words around it say of it."""

    start: int
    end: int
    dates: Sequence[ResolvedDate]
    since: frozenset[int]
    until: frozenset[int]
    explicit: bool
    cue: Cue
    body: str = ""
    today: date | None = None


def candidate(fact: Fact, stated: Stated, predicates: Predicates) -> Candidate | None:
    """The candidate a fact makes; None for what the vocabulary does not hold or cannot say."""
    predicate = predicates.get(fact.predicate)
    subject, value = fact.subject.strip(), _value(fact, stated)
    if predicate is None or not subject or not value or len(value) > 200 or len(subject) > 80:
        return None
    if subject.lower() == value.lower():
        return None
    cue: Cue = fact.cue or stated.cue
    ended = cue == "ended"
    first, last = _interval(fact, stated, predicate)
    if _ASKED_ONLY.match(fact.predicate) and not stated.explicit:
        return None
    spoken = _spoken(value, stated.body, predicate)
    text = predicate.said(subject, spoken, negated=fact.negated, ended=ended)
    if not text:
        return None
    if predicate.kind in ("plan", "event") and predicate.name != "due_on" and not ended:
        text += _when(first, last)
    else:
        text += _later(last if ended else first, stated)
    return Candidate(
        subject=subject,
        predicate=fact.predicate,
        value=value,
        text=text.rstrip(".") + ".",
        # What a name alone was taken for closes what it ends, and is no memory of its own.
        kind="chat" if ending.by_name(fact) else predicate.kind,
        is_entity=predicate.entity,
        many=predicate.many,
        start=stated.start,
        end=stated.end,
        negated=fact.negated,
        cue=cue,
        explicit=stated.explicit,
        valid_from=first,
        valid_to=last,
        confidence=EXPLICIT if stated.explicit else fact.confidence,
        passing=fact.passing,
    )


_ASKED_ONLY = re.compile(
    r"phone$|email$|attribute_.*(?:security|passport|licen[cs]e_number|card|iban|account|pin$|"
    r"ssn|tax)"
)
"""What is kept only where the person asks for it: numbers that open something or identify them."""

_ARTICLED = listed(
    "owns drives bought sold member_of visited started finished plays has_event learning job "
    "kept_in works_on staying_in likes dislikes"
)
_BEFORE = re.compile(r"\b(a|an|the|my|our) (?:new )?$", re.IGNORECASE)


def _spoken(value: str, body: str, predicate: Predicate) -> str:
    """The value with the article it was said with, for a sentence; "my" becomes "their"."""
    place = body.find(value)
    if predicate.name not in _ARTICLED or place < 0:
        return value
    before = _BEFORE.search(body[:place])
    if not before:
        return value
    article = before[1].lower()
    return f"{'their' if article in ('my', 'our') else article} {value}"


def _value(fact: Fact, stated: Stated) -> str:
    value = " ".join(fact.value.split())
    if fact.predicate in ("due_on", "expires_on"):
        if not stated.dates:
            return ""
        at = _AT.search(stated.body)
        hour = f" at {at[1]}" if at else ""
        return _days(stated.dates[-1].first, stated.dates[-1].last) + hour
    if fact.predicate == "birthday":
        return _birthday(value)
    return value


_AT = re.compile(
    r"\b(?:at|to) (\d{1,2}(?::\d\d)? ?[ap]m|\d{1,2}:\d\d|noon|midnight|"
    r"(?:half past|quarter past|quarter to) \w+)\b",
    re.IGNORECASE,
)


def _birthday(words: str) -> str:
    """A day and a month, with the year where it was said; "" for anything else."""
    for pattern in _BIRTHDAYS:
        found = pattern.search(words)
        if found:
            name = _MONTH_NAMES[MONTHS[found["month"][:3].lower()] - 1]
            year = f" {found['year']}" if found["year"] else ""
            return f"{int(found['day'])} {name}{year}"
    return ""


def _interval(fact: Fact, stated: Stated, predicate: Predicate) -> tuple[date | None, date | None]:
    """From when to when it holds, as far as the dates beside it say."""
    if not stated.dates:
        return None, None
    if fact.cue == "ended":
        return None, stated.dates[-1].last
    until = next((one.last for one in stated.dates if one.start in stated.until), None)
    others = [one for one in stated.dates if one.start not in stated.until]
    if predicate.kind in ("plan", "event") or fact.when == "span":
        if not others:
            return None, until
        return others[-1].first, until or (
            None if fact.predicate == "member_of" else others[-1].last
        )
    since = [one for one in others if one.start in stated.since]
    if since or (fact.when == "from" and others and predicate.kind != "preference"):
        return (since or others)[0].first, until
    return None, until


def _later(day: date | None, stated: Stated) -> str:
    """Since when it will be so, where that is still to come."""
    ahead = day is not None and stated.today is not None and day > stated.today
    return _when(day, None) if ahead else ""


def _when(first: date | None, last: date | None) -> str:
    if first is None and last is None:
        return ""
    if first is None or last is None:
        return f" until {_day(last)}" if last else f" from {_day(first)}"
    if first == last:
        return f" on {_day(first)}"
    return f" ({_days(first, last)})"


def _days(first: date, last: date) -> str:
    """One day, a month, a year, or from one day to another."""
    if first == last:
        return _day(first)
    if (first.day, first.month, last.day, last.month) == (1, 1, 31, 12) and first.year == last.year:
        return str(first.year)
    if first.day == 1 and (first.year, first.month) == (last.year, last.month) and last.day > 27:
        return f"{_MONTH_NAMES[first.month - 1]} {first.year}"
    return f"{_day(first)} to {_day(last)}"


def _day(day: date | None) -> str:
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}" if day else ""


def note(text: str, speaker: str) -> Fact:
    """What was to be remembered and no rule could take apart: as it was said."""
    return Fact(speaker or ME, "note", text)

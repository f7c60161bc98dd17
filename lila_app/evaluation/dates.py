"""How often a relative date is understood: LoCoMo's questions whose answer is one day.

A question counts when its category is temporal (2) and its gold answer is nothing but a day. Dates
are looked for in its evidence turns, each with its session's day as the day it was said; where a
turn has none, the session's day itself stands in. Right means that one of them is exactly the day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import cast

from lila_app.errors import UsageError
from lila_app.memory.dates import resolve

TEMPORAL = 2

_FORMATS = ("%d %B %Y", "%B %d %Y")
_SESSION = re.compile(r"on (\d{1,2} \w+,? \d{4})")

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its gold day, and what its evidence says: words with the day they were said."""

    question: str
    gold: date
    said: tuple[tuple[str, date], ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """A question answered wrongly, and the days that were found."""

    question: str
    gold: date
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatesMeasured:
    """`right` of `asked`; `session_only` is how often the session's day alone is right."""

    asked: int
    right: int
    session_only: int
    ms: float
    missed: tuple[Missed, ...]


def measure(path: Path) -> DatesMeasured:
    """Measure a file in LoCoMo's layout. Raises `UsageError` for a file that is not one."""
    import time

    asked = list(_questions(path))
    if not asked:
        raise UsageError(f"{path} has no temporal question whose answer is a day", hint=_HINT)
    missed: list[Missed] = []
    began = time.perf_counter()
    for one in asked:
        found = _found(one)
        if not any(first == last == one.gold for first, last in found):
            words = tuple(str(a) if a == b else f"{a} to {b}" for a, b in found)
            missed.append(Missed(one.question, one.gold, words))
    spent = (time.perf_counter() - began) * 1_000 / max(1, sum(len(one.said) for one in asked))
    alone = sum(any(day == one.gold for _, day in one.said) for one in asked)
    return DatesMeasured(len(asked), len(asked) - len(missed), alone, spent, tuple(missed))


def _found(one: Asked) -> list[tuple[date, date]]:
    days: list[tuple[date, date]] = []
    for text, day in one.said:
        dates = resolve(text, datetime(day.year, day.month, day.day, 12, tzinfo=UTC))
        days += [(found.first, found.last) for found in dates] or [(day, day)]
    return days


_HINT = "name a file in LoCoMo's layout: a list of conversations, each with qa and conversation"


def _questions(path: Path) -> Iterator[Asked]:
    for talk in _rows(_read(path)):
        turns = _turns(cast(Row, talk.get("conversation", {})))
        for row in _rows(talk.get("qa", [])):
            gold = _day(str(row.get("answer", "")))
            if row.get("category") != TEMPORAL or gold is None:
                continue
            evidence = cast(Sequence[object], row.get("evidence") or [])
            said = tuple(turns[str(id)] for id in evidence if str(id) in turns)
            if said:
                yield Asked(str(row.get("question", "")), gold, said)


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=_HINT) from error


def _rows(found: object) -> list[Row]:
    if not isinstance(found, list):
        raise UsageError("the file is no list of conversations", hint=_HINT)
    return [cast(Row, one) for one in cast(list[object], found) if isinstance(one, dict)]


def _turns(talk: Row) -> dict[str, tuple[str, date]]:
    """Words and day by the turn's id."""
    found: dict[str, tuple[str, date]] = {}
    for key, session in talk.items():
        if not isinstance(session, list):
            continue
        stated = _SESSION.search(str(talk.get(f"{key}_date_time", "")))
        day = _day(stated[1]) if stated else None
        if day is None:
            continue
        for turn in _rows(cast(object, session)):
            found[str(turn.get("dia_id"))] = (str(turn.get("text", "")), day)
    return found


def _day(words: str) -> date | None:
    """A text that is nothing but a day, as LoCoMo writes it."""
    plain = " ".join(words.replace(",", " ").split())
    for form in _FORMATS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC).date()
        except ValueError:
            continue
    return None

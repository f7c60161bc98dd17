"""The hand-written rules: patterns of English time words, and the days they mean.

Each rule is a pattern and a function from its match to days, or None where the words are no date
after all. Earlier rules win over later ones that overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from lila_app.memory.dates import meanings
from lila_app.memory.dates.days import Span
from lila_app.memory.dates.meanings import Said
from lila_app.memory.dates.words import (
    AMOUNT,
    DAY_NUMBER,
    FEAST,
    MONTH,
    WEEKDAY,
    WEEKDAY_SHORT,
    YEAR,
    features,
)
from lila_app.memory.model import ResolvedDate

Rule = tuple[frozenset[str], re.Pattern[str], Callable[[Said], Span | None]]

MOST = 200
"""Dates of one text, about: a text with more is a table, and nobody asks what day it was said."""

_WHICH = r"(?P<which>this past|this coming|last|past|previous|this|next|coming|following)"


def found_by_rule(text: str, day: date) -> tuple[ResolvedDate, ...]:
    """The dates the rules find, in the order of the text, none overlapping another."""
    text = text.replace("’", "'")
    have = features(text)
    if not have:
        return ()
    found: list[ResolvedDate] = []
    for needed, pattern, meaning in _RULES:
        if needed <= have:
            for match in pattern.finditer(text):
                if len(found) == MOST:
                    break
                one = _read(match, meaning, day, found)
                if one is not None:
                    found.append(one)
    return tuple(sorted(found, key=_end))


def _read(
    match: re.Match[str],
    meaning: Callable[[Said], Span | None],
    day: date,
    found: Sequence[ResolvedDate],
) -> ResolvedDate | None:
    """One match as days; None where an earlier rule took its words, or they are no date."""
    start, end = match.span()
    if any(one.start < end and start < one.end for one in found):
        return None
    anchor = max((one for one in found if one.end <= start), key=_end, default=None)
    span = _safely(meaning, Said(match, day, anchor.first if anchor else None))
    return ResolvedDate(start, end, *span) if span is not None else None


def _end(one: ResolvedDate) -> int:
    return one.end


def _safely(meaning: Callable[[Said], Span | None], said: Said) -> Span | None:
    """None for what is no day of the calendar (31 June, the year 0)."""
    try:
        return meaning(said)
    except ValueError:
        return None


def _rule(needed: str, pattern: str, meaning: Callable[[Said], Span | None]) -> Rule:
    """A rule, and the features of a text (`words.features`) without which it cannot match."""
    return frozenset(needed.split()), re.compile(pattern, re.IGNORECASE), meaning


_NAMED_DAY = rf"(?:{WEEKDAY},?[ ](?:the[ ])?)?"
_DAYTIME = r"(?:[ ](?:morning|afternoon|evening|night)\b)?"
_UNIT = r"(?P<unit>week|month|year)"
# "the 2nd function", "the 5th birthday": a noun follows. After a date comes a stop or a small word.
_NO_NOUN = r"(?=\s*(?:$|[.,;:!?)\n]|(?:at|in|with|for|and|or|to|we|i|because|but|so|if|when)\b))"

_RULES: tuple[Rule, ...] = (
    _rule("digit", r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b", meanings.iso_meant),
    _rule(
        "digit",
        r"\b(?P<one>\d{1,2})(?P<mark>[./-])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})\b",
        meanings.slashed_meant,
    ),
    _rule(
        "digit month",
        rf"\b(?:from[ ])?(?:the[ ])?(?P<until>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?:[ ]to[ ]|"
        rf"[ ]?[-–][ ]?)"
        rf"(?:the[ ])?{DAY_NUMBER}[ ](?:of[ ])?{MONTH}\b(?:,?[ ]{YEAR})?",
        meanings.days_of_month_meant,
    ),
    _rule(
        "digit month",
        rf"\b{_NAMED_DAY}(?:the[ ])?{DAY_NUMBER}[ ](?:of[ ])?{MONTH}\b(?:\.?,?[ ]{YEAR})?",
        meanings.day_of_month_meant,
    ),
    _rule(
        "digit month",
        rf"\b{_NAMED_DAY}{MONTH}\.?[ ](?:the[ ])?{DAY_NUMBER}\b(?![:.]\d)(?:,?[ ]{YEAR})?",
        meanings.day_of_month_meant,
    ),
    _rule(
        "digit unit",
        rf"\bthe[ ]{DAY_NUMBER}[ ]of[ ](?P<which>last|this|next)[ ]month\b",
        meanings.nth_of_month_meant,
    ),
    _rule(
        "digit month", rf"\b(?:in[ ])?{MONTH}(?:[ ]of)?,?[ ]{YEAR}", meanings.month_of_year_meant
    ),
    _rule(
        "unit",
        r"\b(?P<word>the[ ]day[ ]before[ ]yesterday|the[ ]day[ ]after[ ]tomorrow)" + _DAYTIME,
        meanings.near_meant,
    ),
    _rule(
        "near",
        r"\b(?P<word>yesterday|tomorrow|tmrw|last[ ]night)\b" + _DAYTIME,
        meanings.near_meant,
    ),
    _rule("near", r"\b(?P<word>(?:earlier |later )?today|tonight)\b", meanings.near_meant),
    _rule("near", r"\b(?P<word>this (?:morning|afternoon|evening))\b", meanings.near_meant),
    _rule(
        "unit",
        rf"\b{AMOUNT}[ ](?P<unit>day|weekend|week|month|year)s?[ ](?P<back>ago|back)\b",
        meanings.counted_meant,
    ),
    _rule(
        "weekday", rf"\b{AMOUNT}[ ](?P<unit>{WEEKDAY})s?[ ](?P<back>ago)\b", meanings.counted_meant
    ),
    _rule("unit", r"\b(?:half[ ]a[ ]year|six months) ago\b", meanings.half_year_meant),
    _rule(
        "unit",
        rf"\bin[ ]{AMOUNT}[ ](?P<unit>day|week|month|year)s?(?P<back>)\b(?! of)",
        meanings.counted_meant,
    ),
    _rule(
        "unit",
        rf"\b{AMOUNT}[ ](?P<unit>day|week|month|year)s?[ ](?:from[ ](?:now|today))(?P<back>)\b",
        meanings.counted_meant,
    ),
    _rule("near", r"\bthe other day\b", meanings.lately_meant),
    _rule(
        "unit",
        rf"\b(?P<which>last|past|next|coming)[ ]{AMOUNT}[ ](?P<unit>day|week|month|year)s\b",
        meanings.stretch_meant,
    ),
    _rule(
        "weekday unit",
        rf"\b(?:on[ ])?(?P<weekday>{WEEKDAY})[ ](?:of[ ])?(?P<which>last|this|next)[ ]week\b",
        meanings.weekday_of_week_meant,
    ),
    _rule(
        "weekday unit",
        rf"\b(?P<which>last|this|next)[ ]week(?:[ ]on|'s)?[ ](?P<weekday>{WEEKDAY})\b",
        meanings.weekday_of_week_meant,
    ),
    _rule(
        "weekday",
        rf"\bthe[ ](?P<weekday>{WEEKDAY})[ ]before[ ]last\b",
        meanings.weekday_before_last_meant,
    ),
    _rule(
        "unit",
        r"\bthe[ ](?P<unit>weekend|week|month|year)[ ]before[ ]last\b",
        meanings.before_last_meant,
    ),
    _rule(
        "weekday",
        rf"\b{_WHICH}[ ](?P<weekday>{WEEKDAY}|{WEEKDAY_SHORT})\b{_DAYTIME}",
        meanings.weekday_meant,
    ),
    _rule(
        "unit",
        rf"\b(?:the[ ])?(?P<edge>end|beginning|start|"
        rf"middle)[ ]of[ ](?:the[ ]?)?{_WHICH}?[ ]?{_UNIT}\b",
        meanings.edge_meant,
    ),
    _rule(
        "unit",
        r"\b(?P<part>earlier|later)[ ](?P<which>this)[ ](?P<unit>week|month|year)\b",
        meanings.within_meant,
    ),
    _rule(
        "unit",
        rf"\b{_WHICH}[ ](?P<unit>weekend|week|month|year)\b(?!s|'s[ ]end)",
        meanings.unit_meant,
    ),
    _rule("unit", r"\b(?:over|at|on|during|for)[ ]the[ ]weekend\b", meanings.bare_weekend_meant),
    _rule(
        "season",
        rf"\b(?P<which>this[ ]past|this[ ]coming|last|past|this|next|coming|in|in[ ]the|"
        rf"during[ ]the|over[ ]the)"
        rf"[ ](?P<season>spring|summer|autumn|fall|winter)\b(?:[ ](?:of[ ])?{YEAR})?",
        meanings.season_meant,
    ),
    _rule(
        "season",
        rf"\b(?P<which>)(?P<season>spring|summer|autumn|fall|winter)[ ](?:of[ ])?{YEAR}",
        meanings.season_meant,
    ),
    _rule(
        "feast",
        r"\b(?P<which>this[ ]past|last|past|this|next|on|at|for|over|since|until|till|by|before|"
        r"after|around)"
        rf"[ ]{FEAST}",
        meanings.feast_meant,
    ),
    _rule(
        "month",
        r"\b(?P<which>this[ ]past|this[ ]coming|last|past|this|next|since|until|till|by|in|"
        r"back[ ]in|during|"
        rf"from|around|of|early|late|mid)[ ](?:early[ ]|late[ ]|mid-?[ ]?)?{MONTH}\b(?![ ]?\d)",
        meanings.month_meant,
    ),
    _rule(
        "digit",
        r"\b(?:in|since|until|till|by|from|during|before|after|around|back[ ]in|year)[ ]"
        rf"(?:the[ ]year[ ])?(?:(?P<part>early|mid|"
        rf"late)[ -])?{YEAR}(?![-/.:]\d)(?![ ]?[%€$a-z]*(?:km|kg|people|euros?)\b)",
        meanings.year_meant,
    ),
    _rule("digit", rf"\b(?P<part>early|mid|late)[ -]{YEAR}", meanings.year_meant),
    _rule(
        "digit",
        rf"\b(?:on|by|until|till|since|from|before|after)[ ]the[ ]{DAY_NUMBER}" + _NO_NOUN,
        meanings.nth_meant,
    ),
    _rule(
        "weekday",
        rf"\b(?<!every )(?<!each )(?:(?:on|by|until|till|since|"
        rf"for)[ ])(?P<which>)(?P<weekday>{WEEKDAY})\b{_DAYTIME}",
        meanings.weekday_meant,
    ),
    _rule(
        "weekday",
        rf"(?<!every )(?<!each )(?<!Every )(?<!Each )\b(?P<which>)(?P<weekday>"
        rf"(?-i:[A-Z])[a-z]{{2,5}}day)\b{_DAYTIME}",
        meanings.weekday_meant,
    ),
    # Last, as it leans on the days found before it.
    _rule(
        "unit",
        r"\bthe[ ](?P<unit>day|week|month|year)[ ](?P<side>before|after)\b" + _NO_NOUN,
        meanings.beside_meant,
    ),
)

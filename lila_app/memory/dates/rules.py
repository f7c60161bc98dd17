"""The hand-written rules: patterns of English time words, and the days they mean.

Each rule is a pattern and a function from its match to days, or None where the words are no date
after all. Earlier rules win over later ones that overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from lila_app.memory.dates import days
from lila_app.memory.dates.days import Side, Span, moved
from lila_app.memory.dates.words import (
    AMOUNT,
    DAY_NUMBER,
    FEAST,
    MONTH,
    MONTHS,
    WEEKDAY,
    WEEKDAY_SHORT,
    WEEKDAYS,
    YEAR,
    amount,
    feast_name,
    hinted,
    side_of,
)
from lila_app.memory.model import ResolvedDate


@dataclass(frozen=True, slots=True)
class Said:
    """One match, the day it was said, the side its sentence speaks of, and the day named before."""

    match: re.Match[str]
    day: date
    side: Side
    anchor: date | None

    def __getitem__(self, group: str) -> str:
        found: str | None = self.match.group(group)
        return (found or "").lower()


Rule = tuple[re.Pattern[str], Callable[[Said], Span | None]]

_STEP = {"last": -1, "past": -1, "this past": -1, "previous": -1, "this": 0, "next": 1}
_STEP |= {"coming": 1, "following": 1, "the following": 1, "this coming": 1}
_WHICH = r"(?P<which>this past|this coming|last|past|previous|this|next|coming|following)"


def found_by_rule(text: str, day: date) -> tuple[ResolvedDate, ...]:
    """The dates the rules find, in the order of the text, none overlapping another."""
    if not hinted(text):
        return ()
    text = text.replace("’", "'")
    found: list[ResolvedDate] = []
    for pattern, meaning in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(one.start < end and start < one.end for one in found):
                continue
            anchor = max((one for one in found if one.end <= start), key=_end, default=None)
            said = Said(match, day, side_of(text, start, end), anchor.first if anchor else None)
            span = _safely(meaning, said)
            if span is not None:
                found.append(ResolvedDate(start, end, *span))
    return tuple(sorted(found, key=_end))


def _end(one: ResolvedDate) -> int:
    return one.end


def _safely(meaning: Callable[[Said], Span | None], said: Said) -> Span | None:
    """None for what is no day of the calendar (31 June, the year 0)."""
    try:
        return meaning(said)
    except ValueError:
        return None


# --- days written out ----------------------------------------------------------------------------


def _iso(said: Said) -> Span:
    day = date(int(said["year"]), int(said["month"]), int(said["day"]))
    return day, day


def _slashed(said: Said) -> Span | None:
    """12/25/2023 and 25/12/2023 are certain; 4/5/2023 is read both ways by different people."""
    one, other = int(said["one"]), int(said["other"])
    if said["mark"] != "." and one <= 12 and other <= 12 and one != other:
        return None
    day, month = (one, other) if said["mark"] == "." or one > 12 else (other, one)
    found = date(_full(int(said["year"])), month, day)
    return found, found


def _full(year: int) -> int:
    return year if year >= 100 else year + (2000 if year < 70 else 1900)


def _day_of_month(said: Said) -> Span | None:
    number, month = int(said["day"]), MONTHS[said["month"][:3]]
    if _verb(said):
        return None
    if said["year"]:
        day = date(int(said["year"]), month, number)
        return day, day
    options: list[Span] = []
    for year in range(said.day.year - 4, said.day.year + 5):
        try:
            day = date(year, month, number)
        except ValueError:
            continue
        options.append((day, day))
    return days.picked(said.day, options, said.side) if options else None


def _verb(said: Said) -> bool:
    """ "The top 5 may change" and "we march 10 miles" name no day."""
    word = said.match.group("month")
    return word in ("may", "march", "mar") and not re.search(r"\d(?:st|nd|rd|th)", said.match[0])


def _month_of_year(said: Said) -> Span:
    return days.month(int(said["year"]), MONTHS[said["month"][:3]])


def _month(said: Said) -> Span | None:
    word, number = said["which"], MONTHS[said["month"][:3]]
    options = [days.month(said.day.year + n, number) for n in (-1, 0, 1)]
    if word in ("last", "past", "this past", "since", "back in"):
        before = [one for one in options if one[1] < said.day or word == "since"]
        return days.picked(said.day, before, "past")
    if word in ("next", "until", "till", "by", "coming", "this coming"):
        return days.picked(said.day, options, "future")
    if word == "this":
        return options[1]
    # "in May" with nothing said of when is told more often than planned.
    return days.picked(said.day, options, said.side or "past")


def _nth(said: Said) -> Span | None:
    number = int(said["day"])
    options: list[Span] = []
    for months in range(-2, 4):
        first, last = days.months_on(said.day, months)
        if number <= last.day:
            options.append((first.replace(day=number), first.replace(day=number)))
    return days.picked(said.day, options, said.side or "future")


def _nth_of_month(said: Said) -> Span:
    first, _ = days.months_on(said.day, _STEP[said["which"]])
    day = first.replace(day=int(said["day"]))
    return day, day


def _year(said: Said) -> Span:
    span = days.year(int(said["year"]))
    part = said["part"] if "part" in said.match.re.groupindex else ""
    third = {"early": (1, 4), "mid": (5, 8), "late": (9, 12)}.get(part)
    if third is None:
        return span
    return days.month(span[0].year, third[0])[0], days.month(span[0].year, third[1])[1]


# --- days from today -----------------------------------------------------------------------------

_NEAR = {
    "the day before yesterday": -2,
    "the day after tomorrow": 2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "tmrw": 1,
}


def _near(said: Said) -> Span:
    day = moved(said.day, _NEAR.get(" ".join(said["word"].split()), 0))
    return day, day


def _counted(said: Said) -> Span | None:
    """So many units ago, or from now: days and weeks to the day, months and years as a whole."""
    least, most = amount(said["amount"])
    sign = -1 if said["back"] else 1
    unit = said["unit"]
    if unit in ("day", "week"):
        size = 1 if unit == "day" else 7
        ends = sorted((sign * least * size, sign * most * size))
        return moved(said.day, ends[0]), moved(said.day, ends[1])
    if unit == "weekend":
        return days.weekend(said.day, sign * least - (said.day.weekday() > 5 and sign < 0))
    if unit in ("month", "year"):
        size = 1 if unit == "month" else 12
        ends = sorted((sign * least * size, sign * most * size))
        if unit == "year":
            return days.year(said.day.year + ends[0] // 12)[0], _year_end(said.day, ends[1])
        return days.months_on(said.day, ends[0])[0], days.months_on(said.day, ends[1])[1]
    number = WEEKDAYS[unit[:3]]
    day = days.weekday(said.day, number, "past" if sign < 0 else "future")
    day = moved(day, sign * 7 * (least - 1))
    return day, day


def _year_end(day: date, months: int) -> date:
    return days.year(day.year + months // 12)[1]


def _half_year(said: Said) -> Span:
    return days.months_on(said.day, -6)


def _lately(said: Said) -> Span:
    return moved(said.day, -7), moved(said.day, -1)


def _stretch(said: Said) -> Span:
    """The last or the next few days, weeks, months: up to today, or from it."""
    _, most = amount(said["amount"])
    size = {"day": 1, "week": 7, "month": 30, "year": 365}[said["unit"]]
    if said["which"] in ("next", "coming"):
        return said.day, moved(said.day, most * size)
    return moved(said.day, -most * size), said.day


# --- weekdays ------------------------------------------------------------------------------------


def _weekday(said: Said) -> Span:
    number = WEEKDAYS[said["weekday"][:3]]
    word = said["which"]
    if word in ("last", "past", "this past", "previous"):
        day = days.weekday(said.day, number, "past")
    elif word in ("next", "following"):
        day = moved(days.week(said.day, 1)[0], number)
    elif word == "this":
        day = moved(days.week(said.day)[0], number)
        if day < said.day and said.side != "past":
            day = moved(day, 7)
    elif word in ("coming", "this coming"):
        day = days.weekday(said.day, number, "future")
    else:
        day = days.weekday(said.day, number, said.side or "future")
    return day, day


def _weekday_of_week(said: Said) -> Span:
    """Tuesday last week, next week Tuesday."""
    monday, _ = days.week(said.day, _STEP[said["which"]])
    day = moved(monday, WEEKDAYS[said["weekday"][:3]])
    return day, day


def _weekday_before_last(said: Said) -> Span:
    day = moved(days.weekday(said.day, WEEKDAYS[said["weekday"][:3]], "past"), -7)
    return day, day


# --- weeks, weekends, months, years, seasons ------------------------------------------------------


def _unit(said: Said) -> Span:
    step = _STEP[said["which"]]
    unit = said["unit"]
    if unit == "week":
        return days.week(said.day, step)
    if unit == "month":
        return days.months_on(said.day, step)
    if unit == "year":
        return days.year(said.day.year + step)
    return _weekend(said.day, step)


def _weekend(day: date, step: int) -> Span:
    """From Thursday on the coming weekend is "this" one, and "next" is the one after."""
    if step < 0:
        return days.weekend(day, -1)
    if step == 0:
        return days.weekend(day)
    return days.weekend(day, 1 if day.weekday() >= 3 else 0)


def _bare_weekend(said: Said) -> Span:
    """Over the weekend: the last one where the sentence tells, else the one to come."""
    return _weekend(said.day, -1 if said.side == "past" else 0)


def _before_last(said: Said) -> Span:
    unit = said["unit"]
    if unit == "week":
        return days.week(said.day, -2)
    if unit == "weekend":
        return days.weekend(said.day, -2)
    if unit == "month":
        return days.months_on(said.day, -2)
    return days.year(said.day.year - 2)


def _beside(said: Said) -> Span | None:
    """The week before, the day after: beside the day named before it, or else beside today."""
    step = -1 if said["side"] == "before" else 1
    if said.anchor is None and said["unit"] == "day":
        return None
    day = said.anchor or said.day
    unit = said["unit"]
    if unit == "day":
        return moved(day, step), moved(day, step)
    if unit == "week":
        return days.week(day, step)
    if unit == "month":
        return days.months_on(day, step)
    return days.year(day.year + step)


def _season(said: Said) -> Span:
    name, word = said["season"], said["which"]
    if said["year"]:
        return days.season(name, int(said["year"]))
    options = [days.season(name, said.day.year + n) for n in (-2, -1, 0, 1)]
    if word in ("last", "past", "this past"):
        return [one for one in options if one[1] < said.day][-1]
    if word in ("next", "this coming", "coming"):
        return next(one for one in options if one[0] > said.day)
    if word == "this":
        return days.picked(said.day, options, said.side or "future")
    return days.picked(said.day, options, said.side or "past")


def _feast(said: Said) -> Span:
    name, word = feast_name(said["feast"]), said["which"]
    options: list[Span] = []
    for year in range(said.day.year - 2, said.day.year + 3):
        day = days.feast(name, year)
        options.append((day, day))
    if word in ("last", "past", "this past", "since"):
        return [one for one in options if one[0] < said.day][-1]
    if word in ("next", "by", "until", "till", "this coming"):
        return next(one for one in options if one[0] > said.day)
    if word == "this":
        return days.picked(said.day, options, said.side or "future")
    return days.picked(said.day, options, said.side)


def _edge(said: Said) -> Span:
    """The end or the beginning of this, last or next month, year or week: a third of it."""
    step = _STEP.get(said["which"], 0)
    unit = said["unit"]
    first, last = {
        "week": lambda: days.week(said.day, step),
        "month": lambda: days.months_on(said.day, step),
        "year": lambda: days.year(said.day.year + step),
    }[unit]()
    third = ((last - first).days + 1) // 3
    if said["edge"] == "end":
        return moved(last, 1 - third), last
    if said["edge"] in ("beginning", "start"):
        return first, moved(first, third - 1)
    return moved(first, third), moved(last, -third)


def _within(said: Said) -> Span:
    """Earlier this week, later this month."""
    first, last = _unit(said)
    return (first, said.day) if said["part"] == "earlier" else (said.day, last)


def _rule(pattern: str, meaning: Callable[[Said], Span | None], *, cased: bool = False) -> Rule:
    return re.compile(pattern, 0 if cased else re.IGNORECASE), meaning


_NAMED_DAY = rf"(?:{WEEKDAY},?[ ](?:the[ ])?)?"
_DAYTIME = r"(?:[ ](?:morning|afternoon|evening|night)\b)?"
_UNIT = r"(?P<unit>week|month|year)"
# "the 2nd function", "the 5th birthday": a noun follows. After a date comes a stop or a small word.
_NO_NOUN = r"(?=\s*(?:$|[.,;:!?)\n]|(?:at|in|with|for|and|or|to|we|i|because|but|so|if|when)\b))"

_RULES: tuple[Rule, ...] = (
    _rule(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b", _iso),
    _rule(
        r"\b(?P<one>\d{1,2})(?P<mark>[./-])(?P<other>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})\b",
        _slashed,
    ),
    _rule(
        rf"\b{_NAMED_DAY}(?:the[ ])?{DAY_NUMBER}[ ](?:of[ ])?{MONTH}\b(?:\.?,?[ ]{YEAR})?",
        _day_of_month,
    ),
    _rule(
        rf"\b{_NAMED_DAY}{MONTH}\.?[ ](?:the[ ])?{DAY_NUMBER}\b(?![:.]\d)(?:,?[ ]{YEAR})?",
        _day_of_month,
    ),
    _rule(rf"\bthe[ ]{DAY_NUMBER}[ ]of[ ](?P<which>last|this|next)[ ]month\b", _nth_of_month),
    _rule(rf"\b(?:in[ ])?{MONTH}(?:[ ]of)?,?[ ]{YEAR}", _month_of_year),
    _rule(
        r"\b(?P<word>the[ ]day[ ]before[ ]yesterday|the[ ]day[ ]after[ ]tomorrow)" + _DAYTIME, _near
    ),
    _rule(r"\b(?P<word>yesterday|tomorrow|tmrw|last[ ]night)\b" + _DAYTIME, _near),
    _rule(r"\b(?P<word>(?:earlier |later )?today|tonight)\b", _near),
    _rule(r"\b(?P<word>this (?:morning|afternoon|evening))\b", _near),
    _rule(
        rf"\b{AMOUNT}[ ](?P<unit>day|weekend|week|month|year)s?[ ](?P<back>ago|back)\b", _counted
    ),
    _rule(rf"\b{AMOUNT}[ ](?P<unit>{WEEKDAY})s?[ ](?P<back>ago)\b", _counted),
    _rule(r"\b(?:half[ ]a[ ]year|six months) ago\b", _half_year),
    _rule(rf"\bin[ ]{AMOUNT}[ ](?P<unit>day|week|month|year)s?(?P<back>)\b(?! of)", _counted),
    _rule(
        rf"\b{AMOUNT}[ ](?P<unit>day|week|month|year)s?[ ](?:from[ ](?:now|today))(?P<back>)\b",
        _counted,
    ),
    _rule(r"\bthe other day\b", _lately),
    _rule(
        rf"\b(?P<which>last|past|next|coming)[ ]{AMOUNT}[ ](?P<unit>day|week|month|year)s\b",
        _stretch,
    ),
    _rule(
        rf"\b(?:on[ ])?(?P<weekday>{WEEKDAY})[ ](?:of[ ])?(?P<which>last|this|next)[ ]week\b",
        _weekday_of_week,
    ),
    _rule(
        rf"\b(?P<which>last|this|next)[ ]week(?:[ ]on|'s)?[ ](?P<weekday>{WEEKDAY})\b",
        _weekday_of_week,
    ),
    _rule(rf"\bthe[ ](?P<weekday>{WEEKDAY})[ ]before[ ]last\b", _weekday_before_last),
    _rule(r"\bthe[ ](?P<unit>weekend|week|month|year)[ ]before[ ]last\b", _before_last),
    _rule(rf"\b{_WHICH}[ ](?P<weekday>{WEEKDAY}|{WEEKDAY_SHORT})\b{_DAYTIME}", _weekday),
    _rule(
        rf"\b(?:the[ ])?(?P<edge>end|beginning|start|middle)[ ]of[ ](?:the[ ]?)?{_WHICH}?[ ]?{_UNIT}\b",
        _edge,
    ),
    _rule(
        rf"\b(?P<part>earlier|later)[ ](?P<which>this)[ ](?P<unit>week|month|year)\b",
        _within,
    ),
    _rule(rf"\b{_WHICH}[ ](?P<unit>weekend|week|month|year)\b(?!s|'s[ ]end)", _unit),
    _rule(r"\b(?:over|at|on|during|for)[ ]the[ ]weekend\b", _bare_weekend),
    _rule(
        rf"\b(?P<which>this[ ]past|this[ ]coming|last|past|this|next|coming|in|in[ ]the|during[ ]the|over[ ]the)"
        rf"[ ](?P<season>spring|summer|autumn|fall|winter)\b(?:[ ](?:of[ ])?{YEAR})?",
        _season,
    ),
    _rule(
        rf"\b(?P<which>)(?P<season>spring|summer|autumn|fall|winter)[ ](?:of[ ])?{YEAR}", _season
    ),
    _rule(
        r"\b(?P<which>this[ ]past|last|past|this|next|on|at|for|over|since|until|till|by|before|after|around)"
        rf"[ ]{FEAST}",
        _feast,
    ),
    _rule(
        r"\b(?P<which>this[ ]past|this[ ]coming|last|past|this|next|since|until|till|by|in|back[ ]in|during|"
        rf"from|around|of|early|late|mid)[ ](?:early[ ]|late[ ]|mid-?[ ]?)?{MONTH}\b(?![ ]?\d)",
        _month,
    ),
    _rule(
        r"\b(?:in|since|until|till|by|from|during|before|after|around|back[ ]in|year)[ ]"
        rf"(?:the[ ]year[ ])?(?:(?P<part>early|mid|late)[ -])?{YEAR}(?![-/.:]\d)(?![ ]?[%€$a-z]*(?:km|kg|people|euros?)\b)",
        _year,
    ),
    _rule(rf"\b(?P<part>early|mid|late)[ -]{YEAR}", _year),
    _rule(rf"\b(?:on|by|until|till|since|from|before|after)[ ]the[ ]{DAY_NUMBER}" + _NO_NOUN, _nth),
    _rule(
        rf"\b(?<!every )(?<!each )(?:(?:on|by|until|till|since|for)[ ])(?P<which>)(?P<weekday>{WEEKDAY})\b{_DAYTIME}",
        _weekday,
    ),
    _rule(
        rf"(?<!every )(?<!each )(?<!Every )(?<!Each )\b(?P<which>)(?P<weekday>(?-i:[A-Z])[a-z]{{2,5}}day)\b{_DAYTIME}",
        _weekday,
    ),
    # Last, as it leans on the days found before it.
    _rule(r"\bthe[ ](?P<unit>day|week|month|year)[ ](?P<side>before|after)\b" + _NO_NOUN, _beside),
)

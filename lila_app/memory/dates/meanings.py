"""What the words of a rule mean: from a match to the days, both ends included.

None where the words are no date after all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from lila_app.memory.dates import days
from lila_app.memory.dates.days import Side, Span, moved
from lila_app.memory.dates.words import MONTHS, WEEKDAYS, amount, feast_name, side_of


@dataclass(frozen=True, slots=True)
class Said:
    """One match, the day it was said, and the day named before it."""

    match: re.Match[str]
    day: date
    anchor: date | None

    @property
    def side(self) -> Side:
        """Past or future, as its sentence tells; read only by who asks, for it takes longest."""
        return side_of(self.match.string, *self.match.span())

    def __getitem__(self, group: str) -> str:
        found: str | None = self.match.group(group)
        return (found or "").lower()


_STEP = {word: -1 for word in ("last", "past", "this past", "previous")}
_STEP.update({word: 1 for word in ("next", "coming", "following", "this coming")}, this=0)

# --- days written out ----------------------------------------------------------------------------


def iso_meant(said: Said) -> Span:
    """2026-12-04."""
    day = date(int(said["year"]), int(said["month"]), int(said["day"]))
    return day, day


def slashed_meant(said: Said) -> Span | None:
    """12/25/2023 and 25/12/2023 are certain; 4/5/2023 is read both ways by different people."""
    one, other = int(said["one"]), int(said["other"])
    if said["mark"] != "." and one <= 12 and other <= 12 and one != other:
        return None
    day, month = (one, other) if said["mark"] == "." or one > 12 else (other, one)
    found = date(_full(int(said["year"])), month, day)
    return found, found


def _full(year: int) -> int:
    return year if year >= 100 else year + (2000 if year < 70 else 1900)


def day_of_month_meant(said: Said) -> Span | None:
    """14 December, March 9th, 2025."""
    number, month = int(said["day"]), MONTHS[said["month"][:3]]
    if verb_meant(said):
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


def verb_meant(said: Said) -> bool:
    """ "The top 5 may change" and "we march 10 miles" name no day."""
    word = said.match.group("month")
    return word in ("may", "march", "mar") and not re.search(r"\d(?:st|nd|rd|th)", said.match[0])


def days_of_month_meant(said: Said) -> Span | None:
    """From 5 to 12 May: the group "until" has the first of them."""
    last = day_of_month_meant(said)
    if last is None or int(said["until"]) >= last[1].day:
        return None
    return last[1].replace(day=int(said["until"])), last[1]


def month_of_year_meant(said: Said) -> Span:
    """April 2023."""
    return days.month(int(said["year"]), MONTHS[said["month"][:3]])


def month_meant(said: Said) -> Span | None:
    """In May, since March, next June."""
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


def nth_meant(said: Said) -> Span | None:
    """On the 5th."""
    number = int(said["day"])
    options: list[Span] = []
    for months in range(-2, 4):
        first, last = days.months_on(said.day, months)
        if number <= last.day:
            options.append((first.replace(day=number), first.replace(day=number)))
    return days.picked(said.day, options, said.side or "future")


def nth_of_month_meant(said: Said) -> Span:
    """The 20th of next month."""
    first, _ = days.months_on(said.day, _STEP[said["which"]])
    day = first.replace(day=int(said["day"]))
    return day, day


def year_meant(said: Said) -> Span:
    """In 2019, early 2020."""
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


def near_meant(said: Said) -> Span:
    """Yesterday, tonight, the day after tomorrow."""
    day = moved(said.day, _NEAR.get(" ".join(said["word"].split()), 0))
    return day, day


def counted_meant(said: Said) -> Span | None:
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


def half_year_meant(said: Said) -> Span:
    """Half a year ago."""
    return days.months_on(said.day, -6)


def lately_meant(said: Said) -> Span:
    """The other day: one of the last seven."""
    return moved(said.day, -7), moved(said.day, -1)


def stretch_meant(said: Said) -> Span:
    """The last or the next few days, weeks, months: up to today, or from it."""
    _, most = amount(said["amount"])
    size = {"day": 1, "week": 7, "month": 30, "year": 365}[said["unit"]]
    if said["which"] in ("next", "coming"):
        return said.day, moved(said.day, most * size)
    return moved(said.day, -most * size), said.day


# --- weekdays ------------------------------------------------------------------------------------


def weekday_meant(said: Said) -> Span:
    """Last Friday, on Tuesday, next Monday."""
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


def weekday_of_week_meant(said: Said) -> Span:
    """Tuesday last week, next week Tuesday."""
    monday, _ = days.week(said.day, _STEP[said["which"]])
    day = moved(monday, WEEKDAYS[said["weekday"][:3]])
    return day, day


def weekday_before_last_meant(said: Said) -> Span:
    """The Friday before last."""
    day = moved(days.weekday(said.day, WEEKDAYS[said["weekday"][:3]], "past"), -7)
    return day, day


# --- weeks, weekends, months, years, seasons ------------------------------------------------------


def unit_meant(said: Said) -> Span:
    """Last week, this month, next year, last weekend."""
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


def bare_weekend_meant(said: Said) -> Span:
    """Over the weekend: the last one where the sentence tells, else the one to come."""
    return _weekend(said.day, -1 if said.side == "past" else 0)


def before_last_meant(said: Said) -> Span:
    """The week before last."""
    unit = said["unit"]
    if unit == "week":
        return days.week(said.day, -2)
    if unit == "weekend":
        return days.weekend(said.day, -2)
    if unit == "month":
        return days.months_on(said.day, -2)
    return days.year(said.day.year - 2)


def beside_meant(said: Said) -> Span | None:
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


def season_meant(said: Said) -> Span:
    """Last summer, the winter of 2022."""
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


def feast_meant(said: Said) -> Span:
    """At Christmas, last Easter, New Year's Eve."""
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


def edge_meant(said: Said) -> Span:
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


def within_meant(said: Said) -> Span:
    """Earlier this week, later this month."""
    first, last = unit_meant(said)
    return (first, said.day) if said["part"] == "earlier" else (said.day, last)

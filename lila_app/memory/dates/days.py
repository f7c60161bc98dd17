"""Arithmetic on days, weeks (Monday to Sunday), months, years, seasons and moving feasts."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

Span = tuple[date, date]
"""The first and the last day, both included."""

Side = Literal["past", "future", ""]
"""Which side of the day it was said a sentence speaks of; "" when it does not say."""

SATURDAY = 5


def moved(day: date, days: int) -> date:
    """The day so many days on; the calendar's own ends are as far as it goes."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def week(day: date, weeks: int = 0) -> Span:
    """Monday to Sunday of the week so many weeks on."""
    monday = moved(day, 7 * weeks - day.weekday())
    return monday, moved(monday, 6)


def weekend(day: date, weeks: int = 0) -> Span:
    """Saturday and Sunday of the week so many weeks on."""
    monday, sunday = week(day, weeks)
    return moved(monday, SATURDAY), sunday


def month(year: int, number: int) -> Span:
    """A whole month."""
    first = date(year, number, 1)
    later = date(year + 1, 1, 1) if number == 12 else date(year, number + 1, 1)
    return first, moved(later, -1)


def months_on(day: date, months: int) -> Span:
    """The whole month so many months on."""
    count = min(max(day.year * 12 + day.month - 1 + months, 12), 9998 * 12)
    return month(count // 12, count % 12 + 1)


def year(number: int) -> Span:
    """A whole year, kept within the calendar."""
    number = min(max(number, 1), 9998)
    return date(number, 1, 1), date(number, 12, 31)


def weekday(day: date, number: int, side: Side) -> date:
    """The nearest such weekday strictly before the day, or strictly after it."""
    if side == "past":
        return moved(day, -((day.weekday() - number - 1) % 7 + 1))
    return moved(day, (number - day.weekday() - 1) % 7 + 1)


_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


def season(name: str, number: int) -> Span:
    """Three whole months (northern, as in meteorology); winter begins in the year given."""
    begins = _SEASONS[name]
    first = date(number, begins, 1)
    return first, months_on(first, 2)[1]


def easter(number: int) -> date:
    """Easter Sunday (Gregorian; the anonymous algorithm, Meeus, Astronomical Algorithms, ch. 8)."""
    a, b, c = number % 19, number // 100, number % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(number, f // 31, f % 31 + 1)


def feast(name: str, number: int) -> date:
    """The day of a feast in a year; the names are those of `FEASTS`."""
    if name == "easter":
        return easter(number)
    if name == "thanksgiving":
        first = date(number, 11, 1)
        return moved(first, (3 - first.weekday()) % 7 + 21)
    return date(number, *FEASTS[name])


FEASTS = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
    "easter": (0, 0),
    "thanksgiving": (0, 0),
}
"""Feasts by month and day; (0, 0) where the day moves."""


def picked(day: date, options: list[Span], side: Side) -> Span:
    """Of spans in order, the last that ended before the day or the first that has not ended.

    Where the sentence does not say, the one whose first day is nearest.
    """
    if side == "past":
        before = [one for one in options if one[0] <= day]
        return before[-1] if before else options[0]
    if side == "future":
        after = [one for one in options if one[1] >= day]
        return after[0] if after else options[-1]
    return min(options, key=lambda one: abs((one[0] - day).days))

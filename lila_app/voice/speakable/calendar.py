"""Dates and times of day."""

from __future__ import annotations

import re
from datetime import date as Date
from functools import lru_cache

from lila_app.voice.model import Spoken
from lila_app.voice.speakable.language import Language
from lila_app.voice.speakable.rewriting import Part, rewrite

_ISO = re.compile(
    r"(?P<before>\b[^\W\d]+ )?(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?![\d-])(?:T(?=\d\d:\d\d))?"
)
_SLASHES = re.compile(
    r"(?<![\d/-])(\d{1,2})(?:/(\d{1,2})/(\d{4}|\d\d)|-(\d{1,2})-(\d{4}))(?![\d/-])"
)
_POINTS = re.compile(
    r"(?P<before>\b[^\W\d]+ )?(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?(?!\d)"
)
_NUMBERED = ("version", "kapitel", "abschnitt", "punkt", "ziffer", "teil", "python")
"""What is numbered in steps: "Version 3.11." is no third of November."""

_TIME = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-4])[:.]([0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?:Z\b)?"
    r"(?P<uhr> ?Uhr\b)?(?: ?(?P<half>[apAP])(?:\.[mM]\.|[mM]\b))?(?![:\d])"
)
_DECADE = re.compile(
    r"(?<![\w.])(?:(1[1-9]|20)(\d)|(?P<the>(?:[Tt]he|early|mid|late|his|her|my|their)[ -]"
    r"|['’])(\d))0['’]?s\b|(?<![\w.'’])(\d)0['’]s\b"
)
_HOUR = re.compile(r"(?<![\d:.,])(0?[1-9]|1[0-2]) ?([apAP])(?:\.[mM]\.|[mM]\b)")
_UHR = re.compile(r"(?<![\d:.,])([01]?\d|2[0-4]) Uhr\b(?: ([0-5]?\d)\b(?!\.\d))?")


def rewrite_dates(spoken: Spoken, language: Language) -> Spoken:
    """Say a date as one: "2026-11-30" is "November thirtieth, twenty twenty-six"."""

    def iso(found: re.Match[str]) -> list[Part] | None:
        numbers = int(found[2]), int(found[3]), int(found[4])
        then = f" {language.at} " if found[0].endswith("T") and not language.day_first else " "
        return _dated(found, numbers, language, then if found[0].endswith("T") else "")

    def points(found: re.Match[str]) -> list[Part] | None:
        if (found["before"] or "").strip().casefold() in _NUMBERED:
            return None
        numbers = int(found[4] or 0), int(found[3]), int(found[2])
        return _dated(found, numbers, language)

    spoken = rewrite(spoken, _ISO, iso)
    if language.day_first:
        spoken = rewrite(spoken, _POINTS, points)
        return rewrite(spoken, _day_month(language), lambda found: _german(found, language))
    spoken = rewrite(spoken, _DECADE, lambda found: _decade(found, language))
    spoken = rewrite(spoken, _weekday(language), lambda found: _day_of_week(found, language))
    spoken = rewrite(spoken, _SLASHES, lambda found: _slashed(found, language))
    spoken = rewrite(spoken, _month_day(language), lambda found: _month_first(found, language))
    return rewrite(spoken, _day_of_month(language), lambda found: _day_first(found, language))


def rewrite_times(spoken: Spoken, language: Language) -> Spoken:
    """Say a time of day as one: "9:05" is "nine oh five"."""

    def time(found: re.Match[str]) -> str | None:
        uhr, half = found["uhr"], (found["half"] or "").lower()
        colon = found[0][len(found[1])] == ":"
        # "3.20" is a time only where it is said to be one.
        if not colon and not (uhr or half):
            return None
        return _ended(language.clock(int(found[1]), int(found[2]), half), found)

    spoken = rewrite(spoken, _TIME, time)
    spoken = rewrite(
        spoken,
        _HOUR,
        lambda found: _ended(language.clock(int(found[1]), 0, found[2].lower()), found),
    )
    if language.day_first:
        return rewrite(
            spoken, _UHR, lambda found: language.clock(int(found[1]), int(found[2] or 0), "")
        )
    return spoken


def _decade(found: re.Match[str], language: Language) -> list[Part] | None:
    """ "the 1990s", "the '80s": nothing else counts seconds so."""
    century, tens = found[1], int(found[2] or found[4] or found[5])
    if century == "20" and not tens:
        return ["two thousands"]
    if tens < 2:
        return (
            [f"{language.cardinal(int(century))} {('hundreds', 'tens')[tens]}"] if century else None
        )
    last = language.cardinal(tens * 10)[:-1] + "ies"
    if century:
        return [f"{language.cardinal(int(century))} {last}"]
    return [found.span("the"), last] if found["the"] else [last]


def _ended(said: str, found: re.Match[str]) -> str:
    """The point of "p.m." is the sentence's too, where "pm" had one."""
    return said.removesuffix(".") if found.string[found.end() :].startswith(".") else said


def _dated(
    found: re.Match[str], numbers: tuple[int, int, int], language: Language, then: str = ""
) -> list[Part] | None:
    number, month, day = numbers
    try:
        Date(number or 2000, month, day)
    except ValueError:
        return None
    before = found["before"] or ""
    said = language.date(number, month, day, before.strip()) + then
    return [found.span("before"), said] if before else [said]


def _slashed(found: re.Match[str], language: Language) -> str:
    """Day and month change places from country to country; the year stands last everywhere."""
    first, second, written = int(found[1]), int(found[2] or found[4]), found[3] or found[5]
    number = int(written) + (2000 if len(written) == 2 else 0)
    if 12 < first <= 31 and 1 <= second <= 12:
        return language.date(number, second, first, "")
    if 12 < second <= 31 and 1 <= first <= 12:
        return language.date(number, first, second, "")
    return f"{language.cardinal(first)}, {language.cardinal(second)}, {language.year(number)}"


def _names(language: Language) -> str:
    return "|".join((*language.months, *(f"{short}\\.?" for short in language.short_months)))


def _month(name: str, language: Language) -> int:
    found = name.rstrip(".")[:3].casefold()
    starts = [month[:3].casefold() for month in language.months]
    return starts.index(found) + 1


@lru_cache(maxsize=4)
def _weekday(language: Language) -> re.Pattern[str]:
    short = "|".join(day[:3] for day in language.weekdays)
    return re.compile(rf"\b({short})\b\.?(?=,? (?:\d|{_names(language)}))")


def _day_of_week(found: re.Match[str], language: Language) -> str:
    return next(day for day in language.weekdays if day.startswith(found[1]))


@lru_cache(maxsize=4)
def _month_day(language: Language) -> re.Pattern[str]:
    return re.compile(
        rf"\b({_names(language)}) (\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|[.,/]\d| ?[ap]\.?m\b)"
        r"(?:,? (\d{4})\b)?"
    )


@lru_cache(maxsize=4)
def _day_of_month(language: Language) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<the>\b[Tt]he )?(?<![\d:.,/])\b(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?"
        rf"({_names(language)})(?![a-z])(?:,? (\d{{4}})\b)?"
    )


@lru_cache(maxsize=4)
def _day_month(language: Language) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<before>\b[^\W\d]+ )?(?<![\d.,])\b(\d{{1,2}})\. ?({_names(language)})(?![a-zäöü])"
        r"(?: (\d{4})\b)?"
    )


def _month_first(found: re.Match[str], language: Language) -> str | None:
    month, day, number = _month(found[1], language), int(found[2]), int(found[3] or 0)
    return language.date(number, month, day, "") if 1 <= day <= 31 else None


def _day_first(found: re.Match[str], language: Language) -> str | None:
    day = int(found[2])
    if not 1 <= day <= 31:
        return None
    month = language.months[_month(found[3], language) - 1]
    said = f"{found['the'] or 'the '}{language.ordinal(day)} of {month}"
    return f"{said}, {language.year(int(found[4]))}" if found[4] else said


def _german(found: re.Match[str], language: Language) -> list[Part] | None:
    numbers = int(found[4] or 0), _month(found[3], language), int(found[2])
    return _dated(found, numbers, language)

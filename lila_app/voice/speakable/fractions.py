"""Parts of a whole: "1/2", "1 ½", "4.5/5"; and how one of them is said."""

from __future__ import annotations

import re

from lila_app.voice.model import Spoken
from lila_app.voice.speakable.language import Language
from lila_app.voice.speakable.rewriting import Part, rewrite

PATTERN = r"(?:(?P<whole>\d{1,6})[ \xa0])?(?P<over>\d{1,3})/(?P<under>\d{1,3})"
"""A fraction as `said` takes it."""

_VULGAR = re.compile(r"(?<![^\W\d_])(?:(?<=\d)\s?)?([½¼¾⅓⅔⅕⅛⅜⅝⅞])")
_DIGITS = {
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "⅓": "1/3",
    "⅔": "2/3",
    "⅕": "1/5",
    "⅛": "1/8",
    "⅜": "3/8",
    "⅝": "5/8",
    "⅞": "7/8",
}
_RATED = re.compile(r"(?<![\w./,])(\d+[.,]\d+)/(?=\d+(?![\w/]))")
_FRACTION = re.compile(rf"(?<![\w./,]){PATTERN}(?![\w/.]\d|[\w/])")
_DIVISORS = (2, 3, 4, 5, 6, 8, 10)
"""Of fractions that people say as such."""


def in_digits(spoken: Spoken) -> Spoken:
    """Write "1½" as "1 1/2"."""

    def digits(found: re.Match[str]) -> str:
        before = found.string[: found.start()]
        return (" " if before[-1:].isdecimal() else "") + _DIGITS[found[1]]

    return rewrite(spoken, _VULGAR, digits)


def rewrite_fractions(spoken: Spoken, language: Language) -> Spoken:
    """Say what is part of a whole, and "4.5/5" as marks are said."""

    def rated(found: re.Match[str]) -> list[Part]:
        return [found.span(1), f" {language.out_of} "]

    spoken = rewrite(spoken, _RATED, rated)
    return rewrite(spoken, _FRACTION, lambda found: said(found, language))


def said(found: re.Match[str], language: Language) -> str:
    """A fraction below 1 with an everyday divisor; else the numbers one after the other."""
    over, under = int(found["over"]), int(found["under"])
    everyday = under in _DIVISORS and 0 < over < under
    if everyday:
        part = language.fraction(over, under)
    else:
        part = f"{language.cardinal(over)} {language.slash} {language.cardinal(under)}"
    if found["whole"] is None:
        return part
    joint = f"{language.signs['&']} " if everyday else ""
    return f"{language.cardinal(int(found['whole']))} {joint}{part}"

"""Money, and numbers with a unit."""

from __future__ import annotations

import re
from functools import lru_cache

from lila_app.voice.model import Spoken
from lila_app.voice.speakable import fractions
from lila_app.voice.speakable.language import Amount, Language
from lila_app.voice.speakable.numbers import figure, figures, spoken_number
from lila_app.voice.speakable.rewriting import rewrite

_PER = re.compile(r"(?<=[\d€$£])/([^\W\d_]+)(?!\w)")
_MINUTES = re.compile(r"(?<![\w.])(\d{1,3}) ?(?:h|hrs?) ?(\d{1,2}) ?m(?:in)?(?!\w)")
_SECONDS = re.compile(r"(?<![\w.])(\d{1,3}) ?m ?(?=\d{1,2} ?s(?!\w))")
_FEET = re.compile(r"(?<![\w.])(\d{1,2})['’′](\d{1,2})(?:[\"”″]|''|(?!\w))")


def rewrite_amounts(spoken: Spoken, language: Language) -> Spoken:
    """Say "$3.50" and "5 km" with their currencies and units."""
    spoken = rewrite(spoken, _PER, lambda found: _per(found, language))
    spoken = rewrite(spoken, _MINUTES, lambda found: [found.span(1), " h ", found.span(2), " min"])
    spoken = rewrite(spoken, _SECONDS, lambda found: [found.span(1), " min "])
    spoken = fractions.in_digits(spoken)
    if "ft" in language.units:
        spoken = rewrite(spoken, _FEET, lambda found: _tall(found, language))
    spoken = rewrite(spoken, _money(language), lambda found: _paid(found, language))
    spoken = rewrite(spoken, _part_of(language), lambda found: _parted(found, language))
    return rewrite(spoken, _measure(language), lambda found: _measured(found, language))


def _per(found: re.Match[str], language: Language) -> str | None:
    """ "5/kg", "20/month"; a single letter is a unit or nothing."""
    unit = language.units.get(found[1])
    if unit is None and len(found[1]) < 2:
        return None
    return f" {language.per} {_single(unit) if unit else found[1]}"


def _single(unit: Amount) -> str:
    """A unit without its "one"."""
    return unit.one.partition(" ")[2]


def _tall(found: re.Match[str], language: Language) -> str:
    return f"{language.cardinal(int(found[1]))} foot {language.cardinal(int(found[2]))}"


def _listed(names: object) -> str:
    found = sorted(map(str, names), key=len, reverse=True)  # pyright: ignore[reportArgumentType]
    return "|".join(map(re.escape, found))


@lru_cache(maxsize=4)
def _money(language: Language) -> re.Pattern[str]:
    signs, number = _listed(language.currencies), figures(language)
    scale = rf"(?: ?({_listed(language.scales)})(?![\w]))?"
    return re.compile(
        rf"(?<![\w.])([-−])?(?:({signs}) ?({number}){scale}|({number}){scale} ?({signs})(?![\w]))"
    )


@lru_cache(maxsize=4)
def _measure(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./])(?<!\w[-−])([-−])?({figures(language)}) ?({_unit(language)})")


@lru_cache(maxsize=4)
def _part_of(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./,]){fractions.PATTERN} ?(?P<unit>{_unit(language)})")


@lru_cache(maxsize=4)
def _unit(language: Language) -> str:
    """A pattern of a unit, also of one per another, with the point behind what is short for one."""
    names = _listed(language.units)
    return rf"(?:{names})(?:/(?:{names}))?(?![\w²³]|/\w)(?:(?<=[a-z])\.(?=\s[a-z]))?"


def _named(written: str, language: Language) -> Amount:
    written = written if written in language.units else written.removesuffix(".")
    if written in language.units:
        return language.units[written]
    one, _, other = written.partition("/")
    unit, each = language.units[one], f" {language.per} {_single(language.units[other])}"
    return Amount(unit.one + each, unit.many + each)


def _parted(found: re.Match[str], language: Language) -> str:
    unit = _named(found["unit"], language)
    part = fractions.said(found, language)
    return f"{part} {_single(unit) if found['whole'] is None else unit.many}"


def _paid(found: re.Match[str], language: Language) -> str | None:
    negative, before, early, early_scale, late, late_scale, after = found.groups()
    currency = language.currencies[before or after]
    scale = early_scale or late_scale
    whole, decimals = figure(early or late, language)
    if len(whole) > 15:
        return None
    sign = f"{language.minus} " if negative else ""
    if scale or len(decimals) > 2:
        number = spoken_number(whole, decimals, language)
        if scale:
            size = language.scales[scale]
            number = size.one if (whole, decimals) == ("1", "") else f"{number} {size.many}"
        return f"{sign}{number} {currency.whole.many}"
    return sign + language.money(int(whole), int(decimals.ljust(2, "0")), currency)


def _measured(found: re.Match[str], language: Language) -> str | None:
    negative, number, name = found.groups()
    unit = _named(name, language)
    whole, decimals = figure(number, language)
    if len(whole) > 15:
        return None
    sign = f"{language.minus} " if negative else ""
    if whole == "1" and not decimals:
        return sign + unit.one
    return f"{sign}{spoken_number(whole, decimals, language)} {unit.many}"

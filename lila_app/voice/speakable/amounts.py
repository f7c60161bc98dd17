"""Money, and numbers with a unit."""

from __future__ import annotations

import re
from functools import lru_cache

from lila_app.voice.model import Spoken
from lila_app.voice.speakable.language import Language
from lila_app.voice.speakable.numbers import figure, figures, spoken_number
from lila_app.voice.speakable.rewriting import rewrite, saying

_PER = re.compile(r"(?<=[\d€$£])/(?=[^\W\d_]{2})")
_FEET = re.compile(r"(?<![\w.])(\d{1,2})['’′](\d{1,2})(?:[\"”″]|''|(?!\w))")


def rewrite_amounts(spoken: Spoken, language: Language) -> Spoken:
    """Say "$3.50" and "5 km" with their currencies and units."""
    spoken = rewrite(spoken, _PER, saying(f" {language.per} "))
    if "ft" in language.units:
        spoken = rewrite(spoken, _FEET, lambda found: _tall(found, language))
    spoken = rewrite(spoken, _money(language), lambda found: _paid(found, language))
    return rewrite(spoken, _measure(language), lambda found: _measured(found, language))


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
    return re.compile(
        rf"(?<![\w.])(?<!\w[-−])([-−])?({figures(language)}) ?"
        rf"({_listed(language.units)})(?![\w²³]|/\w)"
    )


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
        scaled = f" {language.scales[scale]}" if scale else ""
        return f"{sign}{number}{scaled} {currency.whole.many}"
    return sign + language.money(int(whole), int(decimals.ljust(2, "0")), currency)


def _measured(found: re.Match[str], language: Language) -> str | None:
    negative, number, name = found.groups()
    unit = language.units[name]
    whole, decimals = figure(number, language)
    if len(whole) > 15:
        return None
    sign = f"{language.minus} " if negative else ""
    if whole == "1" and not decimals:
        return sign + unit.one
    return f"{sign}{spoken_number(whole, decimals, language)} {unit.many}"

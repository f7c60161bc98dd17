"""Numbers of every other kind: years, places, parts, telephone numbers, versions."""

from __future__ import annotations

import re
from functools import lru_cache

from lila_app.voice.model import Spoken
from lila_app.voice.speakable import fractions
from lila_app.voice.speakable.language import Language
from lila_app.voice.speakable.rewriting import Part, Write, rewrite, saying

_RANGE = re.compile(
    r"(?<![\w.,:-])([$€£]?\d[\d.,:]*[%°]?(?: ?[AaPp]\.?[Mm]\b\.?)?)"
    r"(?:\s?[–—]\s?|-|~)(?=[$€£]?\d[\d.,:]*(?![\d-]|\s?=))"
)
_PHONE = re.compile(
    r"(?<![\w+.-])(?:(?:\+\d|\b0\d)[\d ()/-]{5,}\d|\(?\d{3}\)?[ -]\d{3}-\d{4}|\d{3}-\d{4})(?![\w-])"
)
_GROUPS = re.compile(
    r"(?<![\w+.,/-])(?:\d{1,6}(?:-\d{1,6}){2,}|\d{4}(?: \d{4}){2,}(?: \d{1,3})?)(?![\w-])"
)
_DATE = re.compile(r"\d{1,2}([/-])\d{1,2}\1\d{2,4}|\d{4}-\d\d-\d\d")
_SPACED = re.compile(
    r"(?<![\w.,])\d{1,3}(?:(?:[\xa0\u2009\u202f]\d{3})+| (?:\d{3} ){0,3}000)(?!\w| \d{3}\b)"
)
_JOINED = re.compile(r"(?<=\d)['’_](?=\d{3}(?!\d))")
_VERSION = re.compile(r"(?<![\w.,])v?(\d+(?:\.\d+){2,})(?![\w])")
_AROUND = re.compile(r"(?<![\w./])(?:(24)/(7)|(9)/(11)|(50)/(50))(?![\w/])")
_SCIENTIFIC = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)?)[eE]([+-]?\d{1,3})(?!\w)")
_YEAR = re.compile(r"(?<![\w.,#+-])(?:10[1-9]|1[1-9]\d|20\d)\d(?![\w]|[.,:/]\d|-\d)")
_BY = re.compile(
    r"(?<=\d)(?:(?<!\b0)x| x |×(?!10\^)| × (?=[\d.,]+ ?(?:[cmk]?m|in|ft|px|inch(?:es)?)\b))(?=\d)"
)
_TIMES = re.compile(r"(?<=\d) ?[*×] ?(?=\d)")
_RAISED = re.compile(r"(?:(?<=[\d)])|(?<=\b[a-zA-Z]))[⁻⁰¹²³⁴-⁹]+")
_LEVEL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_RATIO = re.compile(r"(?<=\d):(?=\d)")
_LESS = re.compile(r"(?<=\d)(?: - | ?− ?|-(?=[\d.]+ ?=))(?=\d)")
_BELOW_ONE = re.compile(r"(?<![\w.])\.(\d+)(?![\w.])")
_SQUARE = re.compile(r"\^([23])(?!\w|\.\d)")
_POWER = re.compile(r"(?<=[\w)])\^(?=[\w(-])")
_COUNTED = re.compile(r"(?<![\w#])#(?=\d)|№ ?")
_ABOUT = re.compile(r"(?<![\w~])~ ?(?=[\d$€£])")
_ARTICLES = re.compile(
    r"\b(?:der|die|das|dem|den|des|am|im|vom|zum|beim|jeder|jedem|jeden)\Z", re.I
)
_MOST = 15
"""Digits of the longest number that is said as one; longer ones are read digit by digit."""


def figures(language: Language) -> str:
    """A pattern of a number as the language writes it, without a sign."""
    mark, group = re.escape(language.decimal), re.escape(language.thousands)
    return rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{mark}\d+)?(?!\d)"


def figure(written: str, language: Language) -> tuple[str, str]:
    """The digits before and after the decimal mark."""
    whole, _, decimals = written.replace(language.thousands, "").partition(language.decimal)
    return whole, decimals


def spoken_number(whole: str, decimals: str, language: Language) -> str:
    """A number in words; what begins with 0 or is very long, digit by digit."""
    if len(whole) > _MOST or (len(whole) > 1 and whole[0] == "0"):
        said = _digits(whole, language)
    else:
        said = language.cardinal(int(whole))
    return f"{said} {language.point} {_digits(decimals, language)}" if decimals else said


def rewrite_ranges(spoken: Spoken, language: Language) -> Spoken:
    """Say what stands before and between numbers; and those in groups, which are no amount but a
    telephone's or a card's, digit by digit."""

    def digits(found: re.Match[str]) -> str | None:
        return one_by_one(found) if sum(map(str.isdigit, found[0])) >= 7 else None

    def one_by_one(found: re.Match[str]) -> str | None:
        if _DATE.fullmatch(found[0]):
            return None
        groups = re.findall(r"\d+", found[0])
        plus = f"{language.plus} " if found[0].startswith("+") else ""
        return plus + ", ".join(_digits(group, language) for group in groups)

    spoken = rewrite(spoken, _PHONE, digits)
    spoken = rewrite(spoken, _GROUPS, one_by_one)
    spoken = rewrite(spoken, _SPACED, lambda found: re.sub(r"\s", language.thousands, found[0]))
    spoken = rewrite(spoken, _JOINED, saying(language.thousands))
    spoken = rewrite(spoken, _BY, saying(f" {language.by} "))
    spoken = rewrite(spoken, _ABOUT, saying(f"{language.about} "))
    return rewrite(spoken, _RANGE, lambda found: [found.span(1), f" {language.to} "])


def rewrite_numbers(spoken: Spoken, language: Language) -> Spoken:
    """Say every number that is left in words."""

    def version(found: re.Match[str]) -> str | None:
        if re.fullmatch(figures(language), found[1]):
            return None
        return f" {language.number_dot} ".join(
            spoken_number(step, "", language) for step in found[1].split(".")
        )

    def scientific(found: re.Match[str]) -> list[Part]:
        return [found.span(1), f" {language.times} 10^{found[2].removeprefix('+')}"]

    spoken = rewrite(spoken, _AROUND, lambda found: _one_by_one(found, language))
    spoken = fractions.rewrite_fractions(spoken, language)
    rules: tuple[tuple[re.Pattern[str], Write], ...] = (
        (_RAISED, lambda found: f"^{found[0].translate(_LEVEL)}"),
        (_SCIENTIFIC, scientific),
        (_VERSION, version),
        (_scaled(language), lambda found: _large(found, language)),
        (_fold(language), lambda found: _many_times(found, language)),
        (_TIMES, saying(f" {language.times} ")),
        (_RATIO, saying(f" {language.ratio} ")),
        (_LESS, saying(f" {language.minus} ")),
        (_SQUARE, lambda found: f" {language.signs['²' if found[1] == '2' else '³']} "),
        (_POWER, saying(f" {language.power} ")),
        (_COUNTED, saying(f"{language.number} ")),
        (_place(language), lambda found: _placed(found, language)),
        (_YEAR, lambda found: language.year(int(found[0]))),
        (_BELOW_ONE, lambda found: spoken_number("0", found[1], language)),
        (_number(language), lambda found: _plain(found, language)),
    )
    for pattern, write in rules:
        spoken = rewrite(spoken, pattern, write)
    return spoken


def _digits(number: str, language: Language) -> str:
    return " ".join(language.cardinal(int(digit)) for digit in number)


def _one_by_one(found: re.Match[str], language: Language) -> str:
    return " ".join(language.cardinal(int(number)) for number in found.groups() if number)


@lru_cache(maxsize=4)
def _scaled(language: Language) -> re.Pattern[str]:
    names = "|".join(language.bare_scales) or r"(?!)"
    return re.compile(rf"(?<![\w.])({figures(language)})({names})(?!\w)")


def _large(found: re.Match[str], language: Language) -> str:
    whole, decimals = figure(found[1], language)
    return f"{spoken_number(whole, decimals, language)} {language.bare_scales[found[2]]}"


@lru_cache(maxsize=4)
def _fold(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])({figures(language)})x(?!\w)")


def _many_times(found: re.Match[str], language: Language) -> str | None:
    """ "3x as large"; but "2x + 1" has an x."""
    before, after = found.string[: found.start()].rstrip(), found.string[found.end() :].lstrip()
    if before[-1:] in ("=", "+", "(", "^") or after[:1] in ("=", "+", "-", "−", "^", ")", "*"):
        return None
    return f"{spoken_number(*figure(found[1], language), language)} {language.times}"


@lru_cache(maxsize=4)
def _place(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,])(\d{{1,3}}(?:,\d{{3}})*|\d{{1,6}}){language.ordinal_suffix}")


def _placed(found: re.Match[str], language: Language) -> str | None:
    number = int(found[1].replace(",", ""))
    if not language.day_first:
        return language.ordinal(number)
    article = _ARTICLES.search(found.string[: found.start()].rstrip())
    # "Es waren 3. Dann …" ends a sentence; only an article makes it the third.
    if article is None:
        return None
    plain = article[0].casefold() in ("der", "die", "das")
    return language.ordinal(number) + ("" if plain else "n")


@lru_cache(maxsize=4)
def _number(language: Language) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w.])(?P<minus>(?<![\w)])[-−](?=\d))?(?P<number>{figures(language)})"
        r"(?P<odd>\.\d+)?(?!\w|\.\d)"
    )


def _plain(found: re.Match[str], language: Language) -> list[Part]:
    whole, decimals = figure(found["number"], language)
    said = spoken_number(whole, decimals, language)
    if found["odd"]:
        # A decimal point where the language has a comma.
        said += f" {language.dot} {_digits(found['odd'][1:], language)}"
    return [f"{language.minus} {said}" if found["minus"] else said]

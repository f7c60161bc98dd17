"""Abbreviations, signs and emoji; and the spaces and commas that are left when those are gone."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lila_app.voice.model import Spoken
from lila_app.voice.speakable.language import Language
from lila_app.voice.speakable.rewriting import Part, keeping, removed, rewrite, saying

_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\ufe0e\ufe0f\u200d\u20e3"
    "\U000e0020-\U000e007f©®™]+"
)
_JOINING = "\ufe0e\ufe0f\u200d\u20e3"
_FACE = re.compile(r"(?<!\S)(?:[:;]-?[)(DP]|<3)(?![\w(])")
_ARROW = re.compile(r"\s*(?:[←-⇿⟵-⟿]|<?[-=]{1,2}>)\s*")
_DASH = re.compile(r"\s+[-–—]{1,3}\s+|\s*—\s*|(?<=\w)\s?–\s?(?=\w)")
_ELLIPSIS = re.compile(r"\.{3,}|…")
_SLASH = re.compile(r"(?<=\w)\s?/\s?(?=\w)")
_PAREN = re.compile(r"\(\s*\)")
_BRACKET = re.compile(r"[\[\]{}<>|\\]+")
_UNSAID = re.compile(r"[\"“”„«»‹›^`*_~#•]+|(?<!\w)['‘’]+(?=\w)|(?<=\w)[‘](?!\w)")
_SPACE = re.compile(r"\s+")
_BEFORE = re.compile(r"\s+([.,;:!?)])(?!\w)")
_WEAKER = re.compile(r"[,;:][\s,;:]*(?=[.!?](?!\w))")
_DOUBLED = re.compile(r"([,;:])(?:\s*[,;:])+|([.!?])(?:\s*\.)+")
_LEADING = re.compile(r"\A[\s.,;:!?)-]+")
_TRAILING = re.compile(r"[\s,;(-]+\Z")
_CAPITALS = re.compile(r"(?<![\w.-])([A-ZÄÖÜ]{2,6})(?![\w.]\w|\w)")
_SHOUTED = re.compile(r"(?<!\w)(?:[A-ZÄÖÜ]+ +){3}[A-ZÄÖÜ]+(?!\w)")
"""Four words in capitals in a row are shouted, not spelled."""


def abbreviations(spoken: Spoken, language: Language) -> Spoken:
    """Say what is short for something in full, spell what must be spelled, drop faces."""

    def full(found: re.Match[str]) -> str:
        said = language.abbreviations[found[1]]
        after = found.string[found.end() :]
        # The point that ends it ends the sentence too.
        next_one = r"\s*\Z|\s+[A-ZÄÖÜ]" if found[1] in language.closing else r"\s*\Z"
        return f"{said}." if found[1].endswith(".") and re.match(next_one, after) else said

    spoken = rewrite(spoken, _FACE, saying(" "))
    spoken = rewrite(spoken, _short(language), full)
    spoken = rewrite(spoken, _before_number(language), lambda found: language.counted[found[1]])
    if _SHOUTED.search(spoken.text):
        return spoken

    def spell(found: re.Match[str]) -> str | None:
        if not language.spelled(found[1]) or _counts(found, language):
            return None
        return " ".join(found[1])

    return rewrite(spoken, _CAPITALS, spell)


def _counts(found: re.Match[str], language: Language) -> bool:
    """Whether it is a unit or a currency beside its number."""
    if found[1] not in language.units and found[1] not in language.currencies:
        return False
    before, after = found.string[: found.start()], found.string[found.end() :]
    return before.rstrip()[-1:].isnumeric() or after.lstrip()[:1].isnumeric()


def in_words(spoken: Spoken, language: Language) -> Spoken:
    """Say the signs that mean a word."""

    def word(found: re.Match[str]) -> list[Part]:
        return [f" {language.signs[found[0].strip()]} "]

    spoken = rewrite(spoken, _ARROW, saying(", "))
    return rewrite(spoken, _meaning(language), word)


def named(spoken: Spoken) -> Spoken:
    """What emoji show, in English: "thumbs up sign"."""

    def name(found: re.Match[str]) -> str:
        names = (unicodedata.name(char, "") for char in found[0] if char not in _JOINING)
        return ", ".join(filter(None, names)).lower()

    return rewrite(spoken, _EMOJI, name)


def tidied(spoken: Spoken) -> Spoken:
    """Drop what is only decoration, and what is left of the marks around it."""
    spoken = rewrite(spoken, _EMOJI, saying(" "))
    spoken = rewrite(spoken, _PAREN, removed)
    spoken = rewrite(spoken, _ELLIPSIS, saying(". "))
    spoken = rewrite(spoken, _DASH, saying(", "))
    spoken = rewrite(spoken, _SLASH, saying(" "))
    spoken = rewrite(spoken, _BRACKET, saying(" "))
    spoken = rewrite(spoken, _UNSAID, removed)
    spoken = rewrite(spoken, _SPACE, _one_space)
    spoken = rewrite(spoken, _BEFORE, keeping(1))
    spoken = rewrite(spoken, _WEAKER, removed)
    spoken = rewrite(spoken, _DOUBLED, keeping(1, 2))
    spoken = rewrite(spoken, _LEADING, removed)
    spoken = rewrite(spoken, _TRAILING, removed)
    return spoken if any(map(str.isalnum, spoken.text)) else Spoken("", ())


def _one_space(found: re.Match[str]) -> str | None:
    return None if found[0] == " " else " "


@lru_cache(maxsize=4)
def _short(language: Language) -> re.Pattern[str]:
    names = sorted(language.abbreviations, key=len, reverse=True)
    return re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, names))})(?![\w])")


@lru_cache(maxsize=4)
def _before_number(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])({_any(list(language.counted))})(?= ?\d)")


@lru_cache(maxsize=4)
def _meaning(language: Language) -> re.Pattern[str]:
    """Signs of letters stand alone; signs that may stand for other things, between spaces."""
    names = sorted(language.signs, key=len, reverse=True)
    lettered = [name for name in names if name[0].isalpha()]
    between = [name for name in names if name in ("<", ">", "+", "=", "==", "!=", "<=", ">=")]
    rest = [name for name in names if name not in lettered and name not in between]
    return re.compile(
        rf"(?<!\w)(?:{_any(lettered)})(?![\w+#])|(?<=[\s\w)])\s*(?:{_any(between)})\s*(?=[\s\w(-])"
        rf"|(?:{_any(rest)})"
    )


def _any(names: list[str]) -> str:
    return "|".join(map(re.escape, names))

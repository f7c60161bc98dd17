"""The forms of a name: by which two spellings are known to be one, and by which it is spoken.

Only what makes no two people one is decided here: case, width, spacing, accents, hyphens and
dots, a possessive ending, and a title before a whole name ("Dr. Sarah Chen" is Sarah Chen, but
"Dr. Chen" may be any Chen). Everything weaker is a suggestion (graph/suggest.py).
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntFlag

WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
"""A word of a name or of a text in which names are looked for."""

_BESIDE = re.compile(r"\s*\([^()]*\)\s*$")
_ENDING = re.compile(r"['’]s\b")
_POSSESSIVE = re.compile(r"['’](s)?$")
_TITLES = frozenset({"dr", "doctor", "prof", "professor"})
"""Titles that say neither sex nor family, so that two people never differ by them alone."""

_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
"""Letters that Unicode does not take apart into a letter and a mark."""


class Form(IntFlag):
    """What a form of a name is good for."""

    ALIAS = 1
    """The key of an alias: names the entity when something is added."""
    SPOKEN = 2
    """As it stands in a sentence, in lower case."""
    FOLDED = 4
    """Without accents, dots, hyphens and title: finds the entity where it is the only one."""
    BASE = 8
    """A distinguished name without what distinguishes it: "alex" of "Alex (work)"."""
    FIRST = 16
    """The first of several words that all begin with a capital: "alex" of "Alex Brandt"."""


def key(name: str) -> str:
    """What makes two spellings of a name the same: case, width and spacing do not count."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def spoken(name: str) -> str:
    """A name as words in lower case, without possessive endings; "" where it has none."""
    return key(" ".join(WORD.findall(_ENDING.sub("", name))))


def folded(name: str) -> str:
    """What is left of a name when its spelling is set aside."""
    text = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", key(name)).translate(_LETTERS))
    text = "".join(mark for mark in text if not unicodedata.combining(mark))
    words = re.sub(r"[-‐-―]", " ", text.replace(".", "").replace("’", "'")).split()
    if len(words) > 2 and words[0] in _TITLES:
        words = words[1:]
    return " ".join(words)


def base(name: str) -> str:
    """The name without what stands in brackets behind it; "" where nothing does."""
    match = _BESIDE.search(name)
    return name[: match.start()].strip() if match else ""


def forms(name: str, aliases: tuple[str, ...]) -> dict[str, Form]:
    """Every form of an entity's names with what it is good for."""
    found: dict[str, Form] = {}

    def note(text: str, form: Form) -> None:
        if text:
            found[text] = found.get(text, Form(0)) | form

    for alias in aliases:
        note(key(alias), Form.ALIAS)
    for one in (name, *aliases):
        note(folded(one), Form.FOLDED)
        note(spoken(one), Form.SPOKEN)
        if base(one):
            note(spoken(base(one)), Form.BASE)
        note(_first(one), Form.FIRST)
    return found


def _first(name: str) -> str:
    words = WORD.findall(base(name) or name)
    capital = len(words) > 1 and all(word[0].isupper() for word in words)
    return key(words[0]) if capital and words[0].lower() not in _TITLES else ""

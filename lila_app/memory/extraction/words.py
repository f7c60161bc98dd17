"""A sentence as tagged words: plain data, so that the rules know nothing of the parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """One token. `tag` is Penn Treebank's, `dep` and `head` the parser's; offsets are the text's.

    `dated` says that the word is part of an expression of time that was resolved; `entity` is the
    name of the known entity it belongs to, "" for none; `unheard` that the parser was trained on no
    such word.
    """

    text: str
    low: str
    lemma: str
    tag: str
    dep: str
    head: int
    start: int
    end: int
    dated: bool = False
    entity: str = ""
    unheard: bool = False


Words = Sequence[Word]


def is_noun(word: Word) -> bool:
    """A common noun or a name."""
    return word.tag in ("NN", "NNS", "NNP", "NNPS")


def is_name(word: Word) -> bool:
    """A proper noun with a capital, or part of a known entity."""
    if word.dated:
        return False
    return bool(word.entity) or (word.tag in ("NNP", "NNPS") and word.text[:1].isupper())


def said(words: Words, text: str) -> str:
    """The words as they stand in the text."""
    return text[words[0].start : words[-1].end] if words else ""


def is_span(words: Words) -> bool:
    """How long: ten years, a while."""
    return bool(words) and words[-1].lemma in _SPANS


def listed(words: str) -> frozenset[str]:
    """A closed list of words, written with blanks between them."""
    return frozenset(words.split())


_SPANS = listed("second minute hour day night week weekend month year decade while time ages life")

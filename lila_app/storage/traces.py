"""What gives a text away: the runs of words and the single words that nothing else accounts for.

Pure functions. Case, width, accents' composition and spacing do not count; words do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lila_app.storage.search import STOP_WORDS

# Scripts written without spaces count character by character.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’][^\W{_UNSPACED}]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_MORE_STOP_WORDS = """
after also because before during every here like likes made make many more most much only other
over really said since still until very want wants well while
"""
_PLAIN = STOP_WORDS | frozenset(_MORE_STOP_WORDS.split())
"""Words that give nothing away by themselves in any store, however small."""
SHORTEST_TERM = 4
"""A single lower-case word shorter than this gives nothing away by itself."""


@dataclass(frozen=True, slots=True)
class Traces:
    """A text as it stands, and folded: the whole, its telling runs, its telling single words."""

    text: str
    whole: str
    runs: frozenset[tuple[str, ...]]
    terms: frozenset[str]

    def whole_in(self, text: str) -> bool:
        """Whether a text says the same, word for word."""
        if not self.whole:  # no words at all: signs, emoji
            return bool(self.text.strip()) and self.text.strip() in text
        return f" {self.whole} " in f" {' '.join(words(text))} "

    def any_in(self, text: str) -> bool:
        """Whether a text repeats the whole, a telling run or a telling word."""
        found = words(text)
        return not self.terms.isdisjoint(found) or self._run_in(found) or self.whole_in(text)

    def mostly_in(self, text: str) -> bool:
        """Whether a text repeats the whole, a telling run or the most of its telling words.

        One of them ("keeps") is chance where another thing is told in the same form.
        """
        found = words(text)
        most = 2 * len(self.terms.intersection(found)) > len(self.terms)
        return most or self._run_in(found) or self.whole_in(text)

    def _run_in(self, found: list[str]) -> bool:
        lengths = {len(run) for run in self.runs}
        return any(not self.runs.isdisjoint(_runs(found, length)) for length in lengths)


def words(text: str) -> list[str]:
    """The words of a text, folded."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def folded(text: str) -> str:
    """The words of a text as one string; a text without words is itself."""
    return " ".join(words(text)) or text.strip()


def of(
    text: str, others: Iterable[str], common: Callable[[str], bool], *, length: int = 3
) -> Traces:
    """The traces of a text, given what else says: runs and words in `others` do not count.

    `common` says of a single word whether it is too widely used to give anything away. Runs are
    of `length` words, not all of them stop words. Single words count only with `length` 3: of a
    long text (a document's chunk), every word would.
    """
    found = words(text)
    elsewhere = [words(other) for other in others]
    known = {word for other in elsewhere for word in other}
    runs = {run for run in _runs(found, length) if not STOP_WORDS.issuperset(run)}
    for other in elsewhere:
        runs.difference_update(_runs(other, length))
    terms = {
        word
        for word in found
        if length == 3 and word not in known and _telling(word, text) and not common(word)
    }
    return Traces(text, " ".join(found), frozenset(runs), frozenset(terms))


def without(text: str, traces: Traces) -> tuple[str, list[str]]:
    """A text without the sentences that hold a trace, and those sentences."""
    kept: list[str] = []
    gone: list[str] = []
    for line in text.split("\n"):
        sentences = _SENTENCE.split(line)
        left = [sentence for sentence in sentences if not traces.any_in(sentence)]
        gone += [sentence for sentence in sentences if sentence not in left]
        if left or not line.strip():
            kept.append(" ".join(left))
    return "\n".join(kept), gone


def _telling(word: str, text: str) -> bool:
    if word in _PLAIN:
        return False
    if any(character.isdigit() for character in word):
        return True
    return len(word) >= SHORTEST_TERM or _capitalised(word, text)


def _capitalised(word: str, text: str) -> bool:
    return any(
        found != word and unicodedata.normalize("NFKC", found).casefold() == word
        for found in _WORD.findall(text)
    )


def _runs(found: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(found[start : start + length]) for start in range(len(found) - length + 1)}

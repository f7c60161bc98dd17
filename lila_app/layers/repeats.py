"""Which passages say nothing that another one does not say as well: the same text in two files.

A copy, an export to another format, a page that stands in two manuals. What two versions of a text
do *not* share (an amount, a name, a "not") is often just what was asked for, so likeness alone
decides nothing here: a passage repeats another only if its words stand in the other one in the
same order, up to words that carry nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

RUN = 4
"""Words in a row by which two texts are compared before their words are laid side by side,"""
SHARED = 80
"""and per cent of these runs that must be shared: a filler word more or less every twenty words."""

_WORD = re.compile(r"[^\W_]+|[€$£¥%°]")
_FILLERS = frozenset(["a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "and", "that"])


@dataclass(frozen=True, slots=True)
class Words:
    """A text as what is compared of it: words without case, markup and spacing."""

    words: tuple[str, ...]
    telling: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Words:
        """The words of a text."""
        words = tuple(_WORD.findall(text.casefold()))
        return cls(words, frozenset(words) - _FILLERS)

    @property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """Every few words in a row; of a shorter text the whole."""
        starts = range(max(1, len(self.words) - RUN + 1))
        return frozenset(self.words[at : at + RUN] for at in starts)

    def repeats(self, other: Words) -> bool:
        """Whether the other text says all this one says; a text without words repeats nothing."""
        # Nearly every pair ends at the first line, which takes a microsecond.
        if not self.words or not self.telling <= other.telling:
            return False
        runs = self.runs
        if 100 * len(runs & other.runs) < SHARED * len(runs):
            return False
        steps = SequenceMatcher(None, other.words, self.words, autojunk=False).get_opcodes()
        # What the other one has before and after is more, not different.
        if steps and steps[0][0] == "delete":
            steps = steps[1:]
        if steps and steps[-1][0] == "delete":
            steps = steps[:-1]
        return all(
            step == "equal" or _FILLERS.issuperset((*other.words[a:b], *self.words[c:d]))
            for step, a, b, c, d in steps
        )


class Heard:
    """What was said so far, by the name of who said it first."""

    def __init__(self) -> None:
        self._first: list[tuple[str, Words]] = []

    def repeated(self, name: str, text: str) -> str | None:
        """Who said before all that this text says; None, and the text is kept, if nobody did."""
        words = Words.of(text)
        for first, said in self._first:
            if words.repeats(said):
                return first
        self._first.append((name, words))
        return None

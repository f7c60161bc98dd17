"""Which passages say nothing that another one does not say as well: the same text in two files.

A copy, an export to another format, a page that stands in two manuals. What two versions of a text
do *not* share (an amount, a name, a "not") is often just what was asked for, so likeness alone
decides nothing here: a passage repeats another only if its words stand in the other one in the
same order, up to words that carry nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, text: str) -> Words:
        """The words of a text."""
        words = tuple(_WORD.findall(text.casefold()))
        starts = range(max(1, len(words) - RUN + 1))
        return cls(words, frozenset(words[at : at + RUN] for at in starts))

    def repeats(self, other: Words) -> bool:
        """Whether the other text says all this one says; a text without words repeats nothing."""
        if not self.words or 100 * len(self.runs & other.runs) < SHARED * len(self.runs):
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


def repeated(texts: Sequence[str]) -> tuple[int | None, ...]:
    """For each text the place of the first one before it that says the same; None for most.

    One that is itself a repetition is not compared with again, so the first of several stands.
    """
    held = [Words.of(text) for text in texts]
    found: list[int | None] = []
    for place, one in enumerate(held):
        before = (at for at in range(place) if found[at] is None and one.repeats(held[at]))
        found.append(next(before, None))
    return tuple(found)

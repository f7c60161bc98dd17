"""The names LILA knows already, found in a sentence: longest first, whatever their capitals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lila_app.memory.extraction.words import listed

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*\.?")
_LONGEST = 5
# Words of every sentence: an alias like "me" is no name here.
_NEVER = listed(
    "i me my mine we us our you your he she it they them him her his their the a an and or but is "
    "are was were be been do does did have has had will can may on in at to of for from with not "
    "this that what who when where why how"
)


@dataclass(frozen=True, slots=True)
class Known:
    """A known name in a sentence, by offsets, and the entity it stands for."""

    start: int
    end: int
    entity: str


def found(sentence: str, known: Mapping[str, str]) -> tuple[Known, ...]:
    """The known names of a sentence. Time grows with the sentence, not with what is known."""
    if not known:
        return ()
    words = [(match.start(), match.end()) for match in _WORD.finditer(sentence)]
    hits: list[Known] = []
    place = 0
    while place < len(words):
        hit, length = _longest(sentence, words, place, known)
        if hit is not None:
            hits.append(hit)
        place += length
    return tuple(hits)


def _longest(
    sentence: str, words: list[tuple[int, int]], place: int, known: Mapping[str, str]
) -> tuple[Known | None, int]:
    start = words[place][0]
    for length in range(min(_LONGEST, len(words) - place), 0, -1):
        end = words[place + length - 1][1]
        for cut in (0, 1, 2):
            spoken = sentence[start : end - cut]
            if cut == 1 and sentence[end - 1 : end] != ".":
                continue
            if cut == 2 and sentence[end - 2 : end].lower() not in ("'s", "’s"):
                continue
            entity = known.get(" ".join(spoken.lower().split()))
            if entity and spoken.lower() not in _NEVER:
                return Known(start, end - cut, entity), length
    return None, 1


def recased(sentence: str, hits: tuple[Known, ...]) -> str:
    """The sentence with capitals on its known names, so that they are read as names.

    The length stays, and so do all offsets.
    """
    for hit in hits:
        spoken = sentence[hit.start : hit.end]
        capital = "".join(
            one.upper()
            if (n == 0 or not spoken[n - 1].isalpha()) and len(one.upper()) == 1
            else one
            for n, one in enumerate(spoken)
        )
        sentence = sentence[: hit.start] + capital + sentence[hit.end :]
    return sentence

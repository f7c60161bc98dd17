"""How much of a reply was heard: from samples that were played to a prefix of what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lila_app.voice.model import Spoken, Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_QUIET = 64
"""Samples of 16 bits below this are the silence between words (-54 dB of the loudest); espeak's
pauses are zeros, piper's hiss stays below 40 (joe, medium)."""


def written(text: str, spoken: Spoken, words: Sequence[Word], heard: int) -> str:
    """What of a written text its first `heard` spoken words say, cut between its own words.

    A written word that is spoken as several ("23") is heard with the last of them. Marks that
    close a word go with it; those that open the next one do not.
    """
    if heard == 0:
        return ""
    if heard == len(words):
        return text
    limit = spoken.origin[words[heard].start]
    place = spoken.origin[words[heard - 1].end - 1] + 1
    while place < limit and not text[place].isspace():
        place += 1
    if place > limit or (place == limit and not text[limit - 1 : limit].isspace()):
        return _before_word(text, limit)
    return text[:place]


def _before_word(text: str, place: int) -> str:
    """The text up to the word that `place` lies in; all up to there where nothing is apart."""
    start = place
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    return text[:start].rstrip() if start else ""


def words_heard(
    samples: NDArray[np.int16], words: Sequence[Word], position: int, rate: int, *, whole: bool
) -> int:
    """How many of a piece's words are over at a position of its sound.

    A word is over with its last sample that is not silence. The last word of a sound that is not
    `whole` may still go on, so it is over only once another begins.
    """
    count = 0
    for number, word in enumerate(words):
        begins = word.at * rate // 1_000
        if begins >= position:
            break
        last = number == len(words) - 1
        if last and not whole:
            break
        ends = len(samples) if last else words[number + 1].at * rate // 1_000
        if _end(samples, begins, ends) > position:
            break
        count = number + 1
    return count


def _end(samples: NDArray[np.int16], begins: int, ends: int) -> int:
    """Where the sound between two places ends, its trailing silence left out."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples[begins:ends].astype(np.int32)) >= _QUIET)
    return begins + int(loud[-1]) + 1 if loud.size else begins

"""For engines that make a sentence at a time and say nothing of its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lila_app.voice.model import Sound, Word
from lila_app.voice.synth.timing import spans, spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+")
_QUIET = 0.01
"""Of the loudest sample: below it is the silence before and after a sentence."""

_BEFORE_MS = 10
"""Silence that stays before a sentence, so that a soft first sound is not cut off."""


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence that has words, with its place in the text."""
    begin = 0
    for end in [found.end() for found in _END.finditer(text)] + [len(text)]:
        if spans(text[begin:end]):
            yield begin, text[begin:end]
        begin = end


def timed(samples: Samples, sentence: str, place: int, at: int, rate: int) -> Sound:
    """A sentence's sound without the silence before it, its words' times guessed.

    `place` is where the sentence stands in the text, `at` (ms) when its sound begins in the text's.
    """
    import numpy as np

    loud = np.abs(samples.astype(np.int32))
    loud_at = np.flatnonzero(loud > _QUIET * loud.max(initial=0))
    if not len(loud_at):
        return Sound(samples, tuple(_moved(spread(sentence, spans(sentence), at, at), place)))
    cut = max(0, int(loud_at[0]) - _BEFORE_MS * rate // 1000)
    end = at + (int(loud_at[-1]) - cut) * 1000 // rate
    words = spread(sentence, spans(sentence), at, end)
    return Sound(samples[cut:], tuple(_moved(words, place)))


def _moved(words: tuple[Word, ...], place: int) -> Iterator[Word]:
    for word in words:
        yield Word(word.at, word.start + place, word.end + place)

"""Refusing what nobody said: Whisper writes down something for every noise.

Pure: a reading goes in, why it is refused comes out. The chance of "no speech" that the model gives
itself is no help (up to 0.70 on real speech with tiny.en, measured 2026-11-30); how sure it is of
its words is, and whether they go in circles.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lila_app.voice.policy import RecogniserRules

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with the mean log probability (natural) of its tokens.

    `cut` is whether it was ended by the limit on tokens.
    """

    text: str
    likely: float
    cut: bool


def reading(text: str, tokens: Sequence[int], score: float, most: int) -> Reading:
    """A reading from CTranslate2's numbers; `score` is the mean over the tokens.

    The end marker, which is not among the tokens, counts as one more, as in OpenAI's own code, for
    which the usual thresholds were found.
    """
    count = len(tokens)
    return Reading(text, score * count / (count + 1), count >= most)


def circling(read: Reading, rules: RecogniserRules) -> bool:
    """Whether a reading repeats itself, or would not end."""
    return read.cut or compression(read.text) > rules.circles / 1_000


def doubtful(read: Reading, rules: RecogniserRules) -> bool:
    """Whether another reading should decide."""
    return circling(read, rules) or repeated(read.text)


def repeated(text: str) -> bool:
    """Whether the same two words or more are said twice or oftener, and nothing else.

    People do that seldom, and short contexts often ("10 of clubs. 10 of clubs. 10", measured); the
    last time may be cut short.
    """
    said = words(text)
    return any(said[length:] == said[:-length] for length in range(2, len(said) // 2 + 1))


def only_names(text: str, hotwords: str) -> bool:
    """Whether every word of a reading is among the names the model was given.

    Given names, it writes them down for noise as well ("Ljubljana," at -0.83 with tiny.en, surer
    than some of the speech; measured 2026-11-30).
    """
    said = words(text)
    return bool(said) and set(said) <= set(words(hotwords))


def refusal(read: Reading, rules: RecogniserRules, least_likely: int) -> str:
    """Why a reading is not believed; "" where it is. `least_likely` is per mille."""
    if not any(letter.isalnum() for letter in read.text):
        return "there were no words in it"
    if circling(read, rules):
        return "it went in circles"
    if read.likely < least_likely / 1_000:
        return "it was no clear speech"
    return ""


def words(text: str) -> tuple[str, ...]:
    """The words of a text without case and punctuation."""
    return tuple(_WORD.findall(text.casefold()))


def compression(text: str) -> float:
    """How many times smaller zlib makes a text; above 2.4 it repeats itself (OpenAI's number)."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0


def least_likely(table: Mapping[str, int], name: str) -> int:
    """The threshold of a model, per mille; that of `other` for one without."""
    return table.get(name, table["other"])

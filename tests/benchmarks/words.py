"""Invented English: real words in the shares they have in text, about invented topics.

Full-text search costs what its commonest words cost, so a benchmark of it needs the skew of real
text. The words are the whole words of the WordPiece vocabulary, which lists them by frequency;
they are drawn by Zipf's law in Mandelbrot's form, stop words included. What makes a row be about
something is a topic: 40 rarer words of its own, and a direction in the vector space.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from lila_app.paths import shipped

TOPICS = 500
TOPIC_WORDS = 40
FIRST_WORD = 1_996
"""Entry of the vocabulary where its words begin; before it are marks and single letters."""
COMMON = 500
"""Words commoner than this many are no topic's own."""
MANDELBROT = 2.7
DIMENSION = 384
NEAR, ASKED = 0.6, 0.75
"""How much of a row's and of a question's vector points at the topic: two rows of one topic have a
cosine of .36, a question and a row .45, two of different topics .2 at most."""


@lru_cache(maxsize=1)
def vocabulary() -> tuple[str, ...]:
    """English words, the commonest first."""
    file = shipped("assets") / "vocabulary" / "minilm-tokenizer.json"
    entries: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]
    ordered = sorted(entries, key=entries.__getitem__)
    return tuple(word for word in ordered[FIRST_WORD:] if word.isascii() and word.isalpha())


@lru_cache(maxsize=1)
def _shares() -> list[float]:
    return list(accumulate(1 / (rank + MANDELBROT) for rank in range(1, len(vocabulary()) + 1)))


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes texts; the same seed writes the same."""

    random: random.Random

    def sentence(self, length: int, topic: int, share: float = 0.12) -> str:
        """A sentence of so many words, of which a share is the topic's own."""
        chance = self.random.random
        own = _topic(topic)
        picked = self.random.choices(vocabulary(), cum_weights=_shares(), k=length)
        words = [own[int(chance() * TOPIC_WORDS)] if chance() < share else word for word in picked]
        return " ".join(words).capitalize() + "."

    def text(self, sentences: int, topic: int) -> str:
        """Several sentences of 16 words."""
        return " ".join(self.sentence(16, topic) for _ in range(sentences))

    def name(self) -> str:
        """A name for someone or something: two rarer words."""
        return " ".join(w.capitalize() for w in self.random.choices(vocabulary()[3_000:], k=2))

    def topic(self) -> int:
        """One of the topics."""
        return self.random.randrange(TOPICS)

    def day(self) -> str:
        """A time in the two years before the benchmark's now."""
        year, month = self.random.choice(((2025, 6), (2025, 11), (2026, 3), (2026, 8), (2026, 10)))
        return f"{year}-{month:02}-{self.random.randint(1, 28):02}T08:00:00+00:00"


def writer(seed: int) -> Writer:
    """A writer of its own."""
    return Writer(random.Random(seed))


@lru_cache(maxsize=TOPICS)
def _topic(number: int) -> tuple[str, ...]:
    return tuple(random.Random(1_000 + number).sample(vocabulary()[COMMON:], TOPIC_WORDS))


def vectors(topics: list[int], seed: int, towards: float = NEAR) -> NDArray[np.float32]:
    """A vector of length 1 for each row, near those of its topic."""
    generator = np.random.default_rng(seed)
    noise = _unit(generator.standard_normal((len(topics), DIMENSION), dtype=np.float32))
    apart = (1 - towards**2) ** 0.5
    return _unit((towards * _directions()[topics] + apart * noise).astype(np.float32))


@lru_cache(maxsize=1)
def _directions() -> NDArray[np.float32]:
    made = np.random.default_rng(0).standard_normal((TOPICS, DIMENSION), dtype=np.float32)
    return _unit(made)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the topic it is about."""

    text: str
    topic: int


def questions(count: int, names: tuple[str, ...], seed: int = 23) -> list[Asked]:
    """Questions of about ten words; every second one names somebody, one in six two of them."""
    write = writer(seed)
    made: list[Asked] = []
    for number in range(count):
        topic = write.topic()
        text = write.sentence(write.random.randint(6, 12), topic, 0.3).rstrip(".")
        named = write.random.sample(names, 2 if number % 6 == 0 else 1) if number % 2 == 0 else []
        made.append(Asked(" ".join([text, *named]) + "?", topic))
    return made


class KnownVectors:
    """An embedder that answers questions with the vectors of their topics.

    Embedding a hundred thousand chunks would take over an hour, so stored vectors are synthetic
    and a real embedding of a question would be near none of them. With `paid`, the real model
    embeds the question first: its time is spent, its result is not used.
    """

    def __init__(
        self,
        asked: list[Asked],
        model_id: str,
        paid: Callable[[Sequence[str]], object] | None = None,
    ) -> None:
        made = vectors([one.topic for one in asked], 99, ASKED)
        self._known = {one.text: row for one, row in zip(asked, made, strict=True)}
        self._other = vectors([0], 98, ASKED)[0]
        self._paid = paid
        self.model_id = model_id
        self.dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vector of each text; any other text than the questions gets one and the same."""
        if self._paid is not None:
            self._paid(texts)
        # A leaning question is searched with what came before it; its first line is the question.
        return np.stack([self._known.get(t.split("\n", 1)[0], self._other) for t in texts])

"""Simple ways to rank the messages of a conversation, as yardsticks for LILA's own.

Each takes the same messages with the same heads and packs them greedily, best first, into the whole
of a budget; a prompt's own parts cost them nothing, while LILA pays for hers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lila_app.evaluation.locomo import Asked, Conversation, Message
from lila_app.storage import driver
from lila_app.storage.search import STOP_WORDS
from lila_app.storage.terms import Terms, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RRF = 60
"""The constant of reciprocal rank fusion, as published (Cormack et al. 2009)."""
NEIGHBOUR = 0.3
"""What a message's score gives to the ones beside it."""

Scores = Sequence[float]
Rank = Callable[[Asked], Sequence[int]]
"""From a question to places of messages, best first; what is not found is left out."""

Vectors = Mapping[str, "NDArray[np.float32]"]


def line(message: Message) -> str:
    """A message as it stands in a prompt: the form LILA gives it in the same use case."""
    return f"{message.at[:10]} {message.speaker}: {message.text}"


def recency(conversation: Conversation) -> Rank:
    """The last first: what a plain chat window holds."""
    order = list(reversed(range(len(conversation.messages))))
    return lambda _: order


class FullText:
    """FTS5 with Porter stems, any of the words but those of the stop list, by bm25."""

    def __init__(self, conversation: Conversation) -> None:
        self._memory = driver.memory()
        self._terms = Terms()
        self._memory.execute(
            "create virtual table said using fts5(text, tokenize='porter unicode61')"
        )
        self._memory.executemany(
            "insert into said (rowid, text) values (?, ?)",
            [(n, f"{m.speaker}: {m.text}") for n, m in enumerate(conversation.messages)],
        )

    def __call__(self, asked: Asked) -> Sequence[int]:
        """Places of what holds a word, best first."""
        stems = self._terms.stems(asked.text, 200)
        words = [word for word in stems if word not in STOP_WORDS] or list(stems)
        if not words:
            return []
        found = self._memory.execute(
            "select rowid from said where said match ? order by bm25(said), rowid",
            (" OR ".join(quoted(word) for word in words),),
        )
        return [row[0] for row in found]

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()
        self._terms.close()


def dense(conversation: Conversation, vectors: Vectors) -> Rank:
    """By cosine to the question; `vectors` are unit vectors by text."""
    import numpy as np

    matrix = np.stack([vectors[spoken(message)] for message in conversation.messages])

    def rank(asked: Asked) -> Sequence[int]:
        order: list[int] = np.argsort(-(matrix @ vectors[asked.text]), kind="stable").tolist()
        return order

    return rank


def spoken(message: Message) -> str:
    """A message as the yardsticks embed it."""
    return f"{message.speaker}: {message.text}"


def fused(conversation: Conversation, ways: Sequence[Rank], *, neighbours: bool) -> Rank:
    """By the sum of reciprocal ranks; `neighbours` adds a share of the better message beside."""
    messages = conversation.messages

    def rank(asked: Asked) -> Sequence[int]:
        scores = [0.0] * len(messages)
        for way in ways:
            for place, message in enumerate(way(asked), 1):
                scores[message] += 1 / (RRF + place)
        if neighbours:
            scores = [one + NEIGHBOUR * _beside(scores, n) for n, one in enumerate(scores)]
        return sorted(range(len(scores)), key=lambda n: (-scores[n], n))

    def _beside(scores: Scores, place: int) -> float:
        near = [n for n in (place - 1, place + 1) if 0 <= n < len(messages)]
        same = [scores[n] for n in near if messages[n].session == messages[place].session]
        return max(same, default=0.0)

    return rank


def packed(order: Sequence[int], sizes: Sequence[int], budget: int) -> tuple[list[int], int]:
    """The places that fit, best first, what does not fit passed over; and the tokens they take."""
    taken: list[int] = []
    used = 0
    for place in order:
        if used + sizes[place] <= budget:
            taken.append(place)
            used += sizes[place]
    return taken, used

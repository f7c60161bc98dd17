"""A store of declared size, filled with invented text and random vectors, the same every time."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lila_app.embedding.minilm import MODEL_ID
from lila_app.storage import documents, memories, relations, sessions, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.documents import NewChunk
from lila_app.storage.vectors import Table

AT = "2026-11-{:02}T08:00:00+00:00"
CHUNKS_PER_DOCUMENT = 100


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows of each kind."""

    turns: int
    memories: int
    relations: int
    chunks: int

    def tenth(self) -> Size:
        """A store a tenth of the size."""
        return Size(*(n // 10 for n in (self.turns, self.memories, self.relations, self.chunks)))


FULL = Size(turns=20_000, memories=10_000, relations=10_000, chunks=100_000)


class Words:
    """Sentences over 20,000 invented words, the frequent ones frequent (Zipf)."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
        self.words = sorted(
            {
                "".join(self._random.choices(syllables, k=self._random.randint(2, 4)))
                for _ in range(26_000)
            }
        )[:20_000]
        self._random.shuffle(self.words)
        self._weights = [1 / (rank + 10) for rank in range(len(self.words))]

    def sentence(self, length: int) -> str:
        """A sentence of so many words."""
        picked = self._random.choices(self.words, self._weights, k=length)
        return " ".join(picked).capitalize() + "."

    def name(self) -> str:
        """A name for an entity, from the rare words."""
        return " ".join(w.capitalize() for w in self._random.choices(self.words[2_000:], k=2))

    def day(self) -> str:
        """A time in November 2026."""
        return AT.format(self._random.randint(1, 29))


def fill(path: Path, size: Size, seed: int = 7) -> None:
    """Create the store."""
    words = Words(seed)
    with Store.open(path) as store:
        _turns(store, words, size.turns)
        _memories(store, words, size.memories)
        _relations(store, words, size.relations)
        _chunks(store, words, size.chunks)


def _turns(store: Store, words: Words, count: int) -> None:
    ids: list[str] = []
    with store.write() as connection:
        for start in range(0, count, 40):
            session = sessions.create(connection, at=words.day(), use_case="chat", title="bench")
            for _ in range(min(40, count - start)):
                at = words.day()
                turn = turns.begin(
                    connection, session.id, words.sentence(14), use_case="chat", at=at
                )
                turns.finish(
                    connection,
                    turn.id,
                    words.sentence(30),
                    stopped=False,
                    record_id=None,
                    model="bench/none",
                    at=at,
                )
                ids.append(turn.id)
    _vectors(store, "turns", ids, 1)


def _memories(store: Store, words: Words, count: int) -> None:
    with store.write() as connection:
        ids = [
            memories.add(
                connection, words.sentence(12), kind="core" if i < 8 else "fact", at=words.day()
            ).id
            for i in range(count)
        ]
    _vectors(store, "memories", ids, 2)


def _relations(store: Store, words: Words, count: int) -> None:
    names = [words.name() for _ in range(max(2, count // 3))]
    picker = random.Random(11)
    with store.write() as connection:
        for i in range(count):
            one, other = picker.sample(names, 2)
            relations.add(connection, one, f"knows_{i % 12}", other, at=words.day())


def _chunks(store: Store, words: Words, count: int) -> None:
    ids: list[str] = []
    for start in range(0, count, CHUNKS_PER_DOCUMENT):
        chunks = [
            NewChunk("Part › Section", " ".join(words.sentence(16) for _ in range(6)), 190, 1)
            for _ in range(min(CHUNKS_PER_DOCUMENT, count - start))
        ]
        row = documents.upsert_document(
            store,
            path=f"/bench/{start}.md",
            title=f"Document {start}",
            kind="markdown",
            sha256="0" * 64,
            size=1,
            mtime=1,
            chunks=chunks,
            at=words.day(),
        )
        ids += [chunk.id for chunk in documents.list_chunks(store, row.id)]
    _vectors(store, "chunks", ids, 3)


def _vectors(store: Store, table: Table, ids: list[str], seed: int) -> None:
    generator = np.random.default_rng(seed)
    for start in range(0, len(ids), 5_000):
        part = ids[start : start + 5_000]
        made = generator.standard_normal((len(part), 384)).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        vectors.add(store, table, part, made, MODEL_ID)

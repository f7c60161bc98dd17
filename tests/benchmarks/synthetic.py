"""A store of declared size, filled with invented text and vectors, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lila_app.embedding.minilm import MODEL_ID
from lila_app.storage import documents, memories, relations, sessions, state, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.documents import NewChunk
from lila_app.storage.driver import Connection
from lila_app.storage.vectors import Table
from tests.benchmarks import words
from tests.benchmarks.words import Writer

CHUNKS_PER_DOCUMENT = 100
CHUNK_SENTENCES = 9
"""144 words, about the 200 tokens that chunks aim at."""
TURNS_PER_SESSION = 40
WINDOW = 24
"""Turns of the session that is asked in: some 1,900 tokens, below the first cut."""
CORE = 8
NOW = "2026-11-30T07:30:00+00:00"
BATCH = 2_000
"""Rows a transaction; one each would wait for the disk a hundred thousand times."""

Progress = Callable[[str, int, int], None]
"""What is being written, how many rows are, of how many."""


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


def fill(path: Path, size: Size, progress: Progress) -> None:
    """Create the store. The session used last is the one to ask in."""
    with Store.open(path) as store:
        _memories(store, words.writer(1), size.memories, progress)
        _turns(store, words.writer(2), size.turns, progress)
        _relations(store, words.writer(3), size.relations, progress)
        _chunks(store, words.writer(4), size.chunks, progress)


def names(count: int) -> tuple[str, ...]:
    """The entities that so many relations are between; the person is one of them."""
    write = words.writer(5)
    return ("me", *dict.fromkeys(write.name() for _ in range(max(2, count // 3))))


def _batches(count: int, name: str, progress: Progress) -> Iterator[range]:
    for batch in _parts(range(count), BATCH):
        yield batch
        progress(name, batch.stop, count)


def _parts(numbers: range, size: int) -> Iterator[range]:
    for start in range(numbers.start, numbers.stop, size):
        yield range(start, min(start + size, numbers.stop))


def _memories(store: Store, write: Writer, count: int, progress: Progress) -> None:
    for batch in _batches(count, "memories", progress):
        topics = [write.topic() for _ in batch]
        with store.write() as connection:
            ids = [
                memories.add(
                    connection,
                    write.sentence(12, topic),
                    kind="core" if number < CORE else "fact",
                    at=write.day(),
                ).id
                for number, topic in zip(batch, topics, strict=True)
            ]
            _vectors(connection, "memories", ids, topics, batch)


def _turns(store: Store, write: Writer, count: int, progress: Progress) -> None:
    for batch in _batches(count - WINDOW, "turns", progress):
        with store.write() as connection:
            for numbers in _parts(batch, TURNS_PER_SESSION):
                _session(connection, write, numbers, write.day())
    with store.write() as connection:
        session = _session(connection, write, range(count - WINDOW, count), NOW)
        for _ in range(2):
            state.set_goal(connection, write.sentence(8, 0), session_id=session, at=NOW)
        for _ in range(3):
            state.add_note(connection, write.sentence(8, 0), session_id=session, at=NOW)


def _session(connection: Connection, write: Writer, numbers: range, at: str) -> str:
    """One session about one topic; its id."""
    topic = write.topic()
    session = sessions.create(connection, at=at, use_case="chat", title="benchmark").id
    ids: list[str] = []
    for _ in numbers:
        said = turns.begin(connection, session, write.sentence(14, topic), use_case="chat", at=at)
        turns.finish(
            connection,
            said.id,
            write.text(3, topic),
            stopped=False,
            record_id=None,
            model="benchmark/none",
            at=at,
        )
        ids.append(said.id)
    _vectors(connection, "turns", ids, [topic] * len(ids), numbers)
    return session


def _relations(store: Store, write: Writer, count: int, progress: Progress) -> None:
    known = names(count)
    # A few entities have many relations, most have few: the person first of all.
    shares = [1 / (rank + 20) for rank in range(len(known))]
    for batch in _batches(count, "relations", progress):
        pairs = zip(
            write.random.choices(known, shares, k=len(batch)),
            write.random.choices(known, shares, k=len(batch)),
            strict=True,
        )
        with store.write() as connection:
            for number, (one, other) in zip(batch, pairs, strict=True):
                predicate = f"{words.vocabulary()[1_000 + number % 40]}_of"
                relations.add(connection, one, predicate, other, at=write.day())


def _chunks(store: Store, write: Writer, count: int, progress: Progress) -> None:
    for batch in _batches(count, "chunks", progress):
        with store.write() as connection:
            for numbers in _parts(batch, CHUNKS_PER_DOCUMENT):
                _document(connection, write, numbers)


def _document(connection: Connection, write: Writer, numbers: range) -> None:
    topics = [write.topic() for _ in numbers]
    row = documents.upsert_document(
        connection,
        path=f"/benchmark/{numbers.start}.md",
        title=f"Document {numbers.start}",
        kind="markdown",
        sha256="0" * 64,
        size=1,
        mtime=1,
        chunks=[
            NewChunk("Part › Section", write.text(CHUNK_SENTENCES, topic), 200, line)
            for line, topic in enumerate(topics)
        ],
        at=write.day(),
    )
    ids = [chunk.id for chunk in documents.list_chunks(connection, row.id)]
    _vectors(connection, "chunks", ids, topics, numbers)


def _vectors(
    connection: Connection, table: Table, ids: list[str], topics: list[int], numbers: range
) -> None:
    seed = 1_000_003 * ("memories", "turns", "chunks").index(table) + numbers.start
    vectors.add(connection, table, ids, words.vectors(topics, seed), MODEL_ID)

"""Ranking the passages of documents: one scorer, for the rag layer, a search by hand and a tool.

A passage is scored by two things on one scale of 0 to 10,000, so that a floor means the same on
every turn:

- *meaning*: the cosine of MiniLM, read between `unrelated` (0) and `restated` (1);
- *words*: the share of the query's words that stand in it, a rare word weighing more than a common
  one. Title and headings are searched and embedded with the text of every passage under them.

They are joined as if independent, since either alone suffices and both are better. The numbers are
declared in policies/retrieval.toml with what they were measured on.

Of a passage longer than the model reads (256 word pieces; prose is cut to 200 tokens, a table, a
fence or a list may have 400) the vector knows the beginning; its words are found all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from lila_app import declared
from lila_app.context import Source
from lila_app.context.items import TOP_SCORE
from lila_app.layers.repeats import Heard
from lila_app.paths import read_text
from lila_app.paths import shipped as shipped_folder
from lila_app.storage import documents, search, vectors
from lila_app.storage.connection import Store
from lila_app.storage.documents import ChunkRow, DocumentRow
from lila_app.storage.values import sort_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TABLE, SECTION = "retrieval", "documents"
"""The table, and the section of it that is read here."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """The declared numbers; shares and cosines in basis points.

    `candidates` are taken from each of the two searches, `offered` of them go to the assembler.
    """

    candidates: int
    offered: int
    unrelated: int
    restated: int
    meaning: int
    words: int


_ALLOWED = {
    "candidates": (1, 1_000),
    "offered": (1, 100),
    "unrelated": (-TOP_SCORE, TOP_SCORE - 1),
    "restated": (1 - TOP_SCORE, TOP_SCORE),
    "meaning": (0, TOP_SCORE),
    "words": (0, TOP_SCORE),
}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with its document and score; `repeats` is the id of a better one that says it."""

    chunk: ChunkRow
    document: DocumentRow
    score: int
    repeats: str | None = None


def parse(sources: Sequence[Source]) -> Scoring:
    """The section of the shipped table with the person's own laid over it. Raises PolicyError."""
    return _parsed(tuple(sources))


@lru_cache(maxsize=4)
def _parsed(sources: Sequence[Source]) -> Scoring:
    held: dict[str, int] = {}
    names = [field.name for field in fields(Scoring)]
    for source in sources:
        section = declared.loaded(source).get(SECTION, {})
        table = declared.inner(source, SECTION, section)
        declared.only(source, SECTION, table, names)
        for name, value in table.items():
            key = f"{SECTION}.{name}"
            held[name] = declared.number(source, key, value, _ALLOWED[name])
    last = sources[-1]
    for name in names:
        if name not in held:
            raise declared.refused(last, f"{SECTION}.{name}", None, "a number")
    scoring = Scoring(**held)
    if scoring.restated <= scoring.unrelated:
        allowed = f"more than unrelated ({scoring.unrelated:,})"
        raise declared.refused(last, f"{SECTION}.restated", scoring.restated, allowed)
    return scoring


@lru_cache(maxsize=1)
def shipped() -> Scoring:
    """The numbers as they are shipped."""
    path = shipped_folder("policies") / f"{TABLE}.toml"
    return parse((Source(str(path), read_text(path)),))


class Sought(Protocol):
    """A query and its embedding (float32 [384]; waited for where it is needed)."""

    @property
    def text(self) -> str:
        """The words."""
        ...

    @property
    def vector(self) -> Callable[[], NDArray[np.float32]]:
        """Gives the embedding."""
        ...


def rank(
    store: Store, model_id: str, question: Sought, scoring: Scoring, k: int
) -> tuple[Ranked, ...]:
    """The best `k` passages, equal ones by id, and among them those that repeat a better one.

    Repetitions do not count towards `k`; what would come after the last is not looked at.
    """
    by_words = search.search_text(store, "chunks", question.text, k=scoring.candidates)
    by_meaning = vectors.search(
        store,
        "chunks",
        question.vector(),
        k=scoring.candidates,
        model_id=model_id,
        also=[hit.rowid for hit in by_words],
    )
    held = {hit.id: hit.coverage for hit in by_words}
    near = {hit.id: hit.cosine_bp for hit in by_meaning}
    scores = {id: score(scoring, near.get(id), held.get(id, 0.0)) for id in {*held, *near}}
    order = sorted(scores, key=lambda id: (-scores[id], sort_key(id)))
    return _rows(store, order[: 2 * k], scores, k)


def score(scoring: Scoring, cosine_bp: int | None, coverage: float) -> int:
    """The score of a passage from a cosine in basis points (None: not known) and a share 0..1."""
    meaning = 0.0
    if cosine_bp is not None:
        span = scoring.restated - scoring.unrelated
        meaning = min(1.0, max(0.0, (cosine_bp - scoring.unrelated) / span))
    words = min(1.0, max(0.0, coverage))
    missing = (1 - scoring.meaning / TOP_SCORE * meaning) * (1 - scoring.words / TOP_SCORE * words)
    return min(TOP_SCORE, max(0, round(TOP_SCORE * (1 - missing))))


def _rows(
    store: Store, order: Sequence[str], scores: Mapping[str, int], k: int
) -> tuple[Ranked, ...]:
    chunks = documents.get_chunks(store, order)
    known = {row.id: row for row in documents.by_ids(store, _documents_of(chunks))}
    # Gone between two reads: it was forgotten, or its document is being read again.
    chunks = [row for row in chunks if row.document_id in known]
    found: list[Ranked] = []
    heard, fresh = Heard(), 0
    for row in chunks:
        repeats = heard.repeated(row.id, row.text)
        found.append(Ranked(row, known[row.document_id], scores[row.id], repeats))
        fresh += repeats is None
        if fresh == k:
            break
    return tuple(found)


def _documents_of(chunks: Sequence[ChunkRow]) -> list[str]:
    return sorted({row.document_id for row in chunks})

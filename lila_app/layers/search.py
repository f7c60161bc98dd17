"""Hybrid search for the layers: words and meaning, joined on one calibrated scale."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.layers.port import Question
from lila_app.layers.score import relevance
from lila_app.storage import search, vectors
from lila_app.storage.connection import Store
from lila_app.storage.search import Table
from lila_app.storage.values import sort_key

CANDIDATES = 40
"""Taken from each of the two searches before they are joined."""


@dataclass(frozen=True, slots=True)
class Found:
    """A row that is relevant to the question, 0..1."""

    id: str
    relevance: float


@dataclass(frozen=True, slots=True)
class Finder:
    """Searches one table of the store by words and by meaning."""

    store: Store
    model_id: str

    def find(
        self, table: Table, question: Question, *, k: int, exclude_session: str | None = None
    ) -> tuple[Found, ...]:
        """At most `k` rows, most relevant first, ties by id."""
        by_words = search.search_text(
            self.store, table, question.text, k=CANDIDATES, exclude_session=exclude_session
        )
        by_meaning = vectors.search(
            self.store,
            table,
            question.vector(),
            k=CANDIDATES,
            model_id=self.model_id,
            exclude_session=exclude_session,
            also=[hit.rowid for hit in by_words],
        )
        covered = {hit.id: hit.coverage for hit in by_words}
        near = {hit.id: hit.cosine_bp for hit in by_meaning}
        joined = [
            Found(id, relevance(near.get(id), covered.get(id, 0.0))) for id in {*covered, *near}
        ]
        joined.sort(key=lambda found: (-round(found.relevance, 9), sort_key(found.id)))
        return tuple(joined[:k])

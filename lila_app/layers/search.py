"""Hybrid search for memories and turns: words and meaning, joined on one calibrated scale."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.layers.past import Past, Ranked
from lila_app.layers.port import Question
from lila_app.layers.score import Scale, TurnScale, meaning, recency, scored
from lila_app.storage import memories, search, vectors
from lila_app.storage.connection import Store
from lila_app.storage.values import sort_key


@dataclass(frozen=True, slots=True)
class Finder:
    """Searches the store by words and by meaning."""

    store: Store
    model_id: str

    def memories(self, question: Question, scale: Scale, *, k: int) -> tuple[tuple[str, int], ...]:
        """Ids and scores of at most `k` memories, best first, ties by id."""
        by_words = search.search_text(self.store, "memories", question.text, k=scale.candidates)
        by_meaning = vectors.search(
            self.store,
            "memories",
            question.vector(),
            k=scale.candidates,
            model_id=self.model_id,
            also=[hit.rowid for hit in by_words],
        )
        covered = {hit.id: hit.coverage for hit in by_words}
        near = {hit.id: hit.cosine_bp for hit in by_meaning}
        found = [
            (
                id,
                scored(
                    scale,
                    covered.get(id, 0.0),
                    meaning(near.get(id), scale),
                    recency(at, question.now, scale.half_life),
                ),
            )
            for id, at in memories.times(self.store, {**covered, **near}).items()
        ]
        found.sort(key=lambda one: (-one[1], sort_key(one[0])))
        return tuple(found[:k])

    def turns(
        self, question: Question, scale: TurnScale, *, k: int, exclude_session: str | None = None
    ) -> tuple[Ranked, ...]:
        """At most `k` turns with their scores, best first, ties by id."""
        past = Past(self.store, self.model_id, scale)
        return past.find(question, k=k, exclude_session=exclude_session)

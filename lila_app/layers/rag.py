"""The rag layer: what is written down somewhere else. Passages of ingested documents.

A passage is material, whoever wrote it: it stands under a head that LILA writes, every line of it
marked as quoted (`lila_app.quoting`), in a block of the person's message and never of the system's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lila_app.context.items import Counter, Item, Placement
from lila_app.documents import freshness
from lila_app.layers import passages, variants
from lila_app.layers.passages import Ranked, Scoring
from lila_app.layers.port import Question
from lila_app.layers.search import Finder
from lila_app.layers.variants import Shortened
from lila_app.quoting import label
from lila_app.storage.connection import Store
from lila_app.storage.documents import ChunkRow, DocumentRow


@dataclass(frozen=True, slots=True)
class RagLayer:
    """Passages with their document, headings, place and dates.

    `scoring` is asked on every turn, so that a person can edit the table and ask again.
    """

    store: Store
    finder: Finder
    count: Counter
    scoring: Callable[[], Scoring] = passages.shipped
    name: str = "rag"
    source: str = "document chunks, full text and vectors"
    forms: Shortened = field(default_factory=variants.text_forms, repr=False, compare=False)

    def offer(self, question: Question) -> tuple[Item, ...]:
        """The most relevant passages; one that repeats another is offered as its duplicate."""
        scoring = self.scoring()
        model_id = self.finder.model_id
        with self.store.snapshot():
            found = passages.rank(self.store, model_id, question, scoring, scoring.offered)
        return tuple(self._item(one) for one in found)

    def _item(self, ranked: Ranked) -> Item:
        row, document = ranked.chunk, ranked.document
        where = place(row, document)
        head = f"[{row.id}, {where}, {freshness.dated(document)}]\n"
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=self.forms(head, row.text, self.count),
            score=ranked.score,
            source=where if ranked.repeats is None else f"{where}, says what {ranked.repeats} says",
            digest=row.digest,
            at=document.ingested_at,
            external_ids=(document.external_id or document.path,),
            duplicate=ranked.repeats is not None,
        )


def place(row: ChunkRow, document: DocumentRow) -> str:
    """Where a chunk stands, for a person: title, headings, page or line."""
    parts = [document.title]
    if row.heading and row.heading != document.title:
        parts.append(row.heading.removeprefix(f"{document.title} › "))
    where = label(" › ".join(parts))
    if row.page is not None:
        return f"{where}, page {row.page}"
    return f"{where}, line {row.first_line}" if row.first_line is not None else where

"""The rag layer: what is written down somewhere else. Chunks of ingested documents."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.context.items import Counter, Item, Placement
from lila_app.layers import variants
from lila_app.layers.port import Question
from lila_app.layers.score import score
from lila_app.layers.search import Finder
from lila_app.storage import documents
from lila_app.storage.connection import Store
from lila_app.storage.documents import ChunkRow, DocumentRow

MOST = 16
"""Chunks offered: a cap of 3,000 tokens holds fifteen of the size chunks aim at, and with 24 the
labelled questions were answered no better (tests/benchmarks, 2026-11-30)."""


@dataclass(frozen=True, slots=True)
class RagLayer:
    """Chunks with their document, headings and place."""

    store: Store
    finder: Finder
    count: Counter
    name: str = "rag"
    source: str = "document chunks, full text and vectors"

    def offer(self, question: Question) -> tuple[Item, ...]:
        """The most relevant chunks."""
        found = self.finder.find("chunks", question, k=MOST)
        rows = documents.get_chunks(self.store, [hit.id for hit in found])
        titles = documents.by_ids(self.store, sorted({row.document_id for row in rows}))
        known = {document.id: document for document in titles}
        relevant = {hit.id: hit.relevance for hit in found}
        return tuple(self._item(row, known[row.document_id], relevant[row.id]) for row in rows)

    def _item(self, row: ChunkRow, document: DocumentRow, relevance: float) -> Item:
        head = f"[{row.id}, {place(row, document)}, {document.ingested_at[:10]}]\n"
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=variants.of_text(head, row.text, self.count),
            score=score(relevance),
            source=place(row, document),
            digest=row.digest,
            at=document.ingested_at,
            external_ids=(document.external_id or document.path,),
        )


def place(row: ChunkRow, document: DocumentRow) -> str:
    """Where a chunk stands, for a person: title, headings, page or line."""
    parts = [document.title]
    if row.heading and row.heading != document.title:
        parts.append(row.heading.removeprefix(f"{document.title} › "))
    where = " › ".join(parts)
    if row.page is not None:
        return f"{where}, page {row.page}"
    return f"{where}, line {row.first_line}" if row.first_line is not None else where

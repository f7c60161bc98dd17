"""`lila.documents`: what is written down somewhere else, taken in and kept in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lila_app import moments
from lila_app.composing import usable
from lila_app.errors import NotFoundError
from lila_app.facade import convert
from lila_app.facade.asking import plain_question
from lila_app.resources import Resources
from lila_app.storage import documents, forget
from lila_app.storage.documents import ChunkRow
from lila_app.views import DocumentInfo, ForgetReport, IngestReport, Passage, Progress


class Documents:
    """Documents of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def ingest(
        self,
        paths: Sequence[Path | str],
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IngestReport:
        """Take in files and whole folders; only what changed is read again.

        A file that is gone from a folder ingested before is removed. A file that cannot be read
        is reported and the rest done. `cancelled` is asked between files; what is done stays.
        """
        from lila_app.documents.index import ingest

        resources = self._resources
        return ingest(
            self._store,
            resources.embedder,
            resources.count,
            [Path(path) for path in paths],
            now=moments.stored(resources.clock()),
            progress=progress,
            cancelled=cancelled,
        )

    def list(self) -> tuple[DocumentInfo, ...]:
        """Every document, by id."""
        return tuple(convert.document(row) for row in documents.list_documents(self._store))

    def search(self, query: str, limit: int = 10) -> tuple[Passage, ...]:
        """Passages that answer a query, best first, scored as the rag layer scores them."""
        from lila_app.layers.score import score
        from lila_app.layers.search import Finder

        resources = self._resources
        finder = Finder(self._store, resources.embedder.model_id)
        found = finder.find("chunks", plain_question(resources, usable(query)), k=limit)
        passages = {
            row.id: row for row in documents.get_chunks(self._store, [hit.id for hit in found])
        }
        return tuple(
            self._passage(passages[hit.id], score(hit.relevance))
            for hit in found
            if hit.id in passages
        )

    def passage(self, id: str) -> Passage:
        """One passage by its id. Raises NotFoundError."""
        found = documents.get_chunks(self._store, [id])
        if not found:
            raise NotFoundError(
                f"there is no passage {id}", hint="`lila context show` names those that were used"
            )
        return self._passage(found[0], 0)

    def _passage(self, row: ChunkRow, score: int) -> Passage:
        from lila_app.layers.rag import place

        document = documents.get_document(self._store, row.document_id)
        return Passage(row.id, place(row, document), row.text, score)

    def remove(self, id: str) -> ForgetReport:
        """Erase a document from LILA (never the file) and every trace of it."""
        at = moments.stored(self._resources.clock())
        return convert.forgotten(forget.forget_document(self._store, id, at=at))

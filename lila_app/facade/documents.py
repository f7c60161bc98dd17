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
from lila_app.storage.documents import ChunkRow, DocumentRow
from lila_app.views import DocumentInfo, ForgetReport, IngestReport, Passage, Progress
from lila_app.views.documents import DocumentDetail


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
            kept=resources.privacy.kept if resources.privacy.storing else None,
        )

    def list(self) -> tuple[DocumentInfo, ...]:
        """Every document, by id."""
        return tuple(convert.document(row) for row in documents.list_documents(self._store))

    def show(self, id: str) -> DocumentDetail:
        """One document with all its passages in order. Raises NotFoundError."""
        row = documents.get_document(self._store, id)
        passages = documents.list_chunks(self._store, id)
        return DocumentDetail(
            convert.document(row), tuple(_passage(one, row, 0) for one in passages)
        )

    def search(self, query: str, limit: int = 10) -> tuple[Passage, ...]:
        """Passages that answer a query, best first, scored as the rag layer scores them."""
        from lila_app.layers import passages

        resources = self._resources
        found = passages.rank(
            self._store,
            resources.embedder.model_id,
            plain_question(resources, usable(query)),
            resources.passage_scoring(),
            limit,
        )
        return tuple(
            _passage(one.chunk, one.document, one.score) for one in found if one.repeats is None
        )

    def passage(self, id: str) -> Passage:
        """One passage by its id. Raises NotFoundError."""
        found = documents.get_chunks(self._store, [id])
        if not found:
            raise NotFoundError(
                f"there is no passage {id}", hint="`lila context show` names those that were used"
            )
        return _passage(found[0], documents.get_document(self._store, found[0].document_id), 0)

    def remove(self, id: str) -> ForgetReport:
        """Erase a document from LILA (never the file) and every trace of it."""
        at = moments.stored(self._resources.clock())
        return convert.forgotten(forget.forget_document(self._store, id, at=at))


def _passage(row: ChunkRow, document: DocumentRow, score: int) -> Passage:
    from lila_app.layers.rag import place

    return Passage(row.id, place(row, document), row.text, score)

"""`lila.documents`: what is written down somewhere else, taken in and kept in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lila_app import moments
from lila_app.facade import convert
from lila_app.resources import Resources
from lila_app.storage import documents, forget
from lila_app.views import DocumentInfo, ForgetReport, IngestReport, Progress


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

    def remove(self, id: str) -> ForgetReport:
        """Erase a document from LILA (never the file) and every trace of it."""
        at = moments.stored(self._resources.clock())
        return convert.forgotten(forget.forget_document(self._store, id, at=at))

"""`lila.db`: the store's health, and copies of it."""

from __future__ import annotations

from pathlib import Path

from lila_app import moments
from lila_app.resources import Resources
from lila_app.storage import backup, check
from lila_app.views import Progress, StoreProblem, StoreReport
from lila_app.views.importing import ExportReport


class Upkeep:
    """The store of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def check(self) -> StoreReport:
        """Verify the event chain, foreign keys, full text and vectors against their tables."""
        report = check.check(self._store)
        return StoreReport(
            tuple(StoreProblem(p.kind, p.where, p.detail) for p in report.problems),
            tuple(report.counts),
            report.pending_vectors,
        )

    def catch_up(self, progress: Progress | None = None) -> int:
        """Embed whatever has no vector yet, now and not in the background; how many got one."""
        from lila_app.documents.pending import embed_pending

        return embed_pending(self._store, self._resources.embedder, progress=progress)

    def backup(self, path: Path | str) -> Path:
        """Copy the store to a file that does not exist yet, 0600."""
        at = moments.stored(self._resources.clock())
        return backup.backup(self._store, Path(path), at=at)

    def export(self, path: Path | str, *, progress: Progress | None = None) -> ExportReport:
        """Write everything in open formats to a new folder, or a new file that ends in `.zip`."""
        from lila_app.storage.export import export

        at = moments.stored(self._resources.clock())
        rows = export(self._store, Path(path), at=at, progress=progress or _quiet)
        return ExportReport(str(path), rows)

    def restore(self, path: Path | str) -> Path:
        """Put a backup in place of the store; the old file is kept beside it and returned.

        The assistant must be opened again afterwards.
        """
        store = self._store
        at = moments.stored(self._resources.clock())
        store.close()
        return backup.restore(Path(path), store.path, at=at)


def _quiet(_done: int, _total: int, _label: str) -> None:
    """For callers that do not watch."""

"""The graph in memory, loaded when first needed and kept in step with the store.

The store is the truth. A question costs one look at its counters; what changed since the last one,
whichever process changed it, is applied to what is held, and only a forgetting reads all again.
"""

from __future__ import annotations

import threading

from lila_app.graph import loading
from lila_app.graph.snapshot import Snapshot
from lila_app.storage import relations
from lila_app.storage.connection import Store
from lila_app.storage.relations import RelationRow


class Mirror:
    """The graph in memory; safe to use from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._loaded: Snapshot | None = None

    def current(self) -> Snapshot:
        """The graph as it is in the store now."""
        with self._lock, self._store.read() as connection:
            now = loading.stamp(connection)
            old = self._loaded
            if old is None:
                self._loaded = loading.whole(connection, now)
            elif old.stamp[:3] != now[:3]:
                fresh = loading.since(connection, old, now)
                self._loaded = fresh or loading.whole(connection, now)
            else:
                return old
            return self._loaded

    def rows(self, ids: list[int]) -> dict[int, RelationRow]:
        """The relations of these row numbers that are still there."""
        found = relations.by_ids(self._store, ids)
        return {int(row.id[1:]): row for row in found}

    def warm(self) -> None:
        """Load now, so that the first question does not wait for it."""
        self.current()

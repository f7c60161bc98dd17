"""The log of memory's reads and writes, as `lila.memory_io`."""

from __future__ import annotations

from lila_app.resources import Resources
from lila_app.storage import memory_io, turns
from lila_app.views.io import IoInfo


class MemoryIo:
    """Who read and wrote what in the memory of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._store = resources.store

    def list(self, turn: str | None = None, limit: int | None = 50) -> tuple[IoInfo, ...]:
        """Reads and writes, the newest last: of one turn, at most so many. Raises NotFoundError."""
        if turn is not None:
            turns.get(self._store, turn)
        return tuple(
            IoInfo(one.at, one.way, one.what, one.who, one.ids, one.turn, one.record)
            for one in memory_io.entries(self._store, turn=turn, limit=limit)
        )

"""`lila.memory`: what LILA keeps about the person, added by hand, found, forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lila_app import moments
from lila_app.composing import usable
from lila_app.errors import UsageError
from lila_app.facade import convert
from lila_app.facade.asking import plain_question
from lila_app.resources import Resources
from lila_app.storage import forget, memories
from lila_app.storage.memories import MemoryKind
from lila_app.views import ForgetReport, MemoryHit, MemoryInfo

KINDS = ("fact", "core")


class Memory:
    """Memories of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def add(
        self,
        text: str,
        *,
        kind: str = "fact",
        pinned: bool = False,
        now: datetime | str | None = None,
        external_ids: Sequence[str] = (),
        source_turn: str | None = None,
    ) -> MemoryInfo:
        """Keep a memory: a "fact" is recalled when it fits, a "core" one opens every prompt.

        `source_turn` is where it was said; forgetting the memory then takes it from there too.
        """
        row = memories.add(
            self._store,
            " ".join(usable(text).split()),
            kind=_kind(kind),
            pinned=pinned,
            at=self._at(now),
            external_ids=external_ids,
            source_turn=source_turn,
        )
        self._resources.learn()
        return convert.memory(row)

    def show(self, id: str) -> MemoryInfo:
        """One memory. Raises NotFoundError."""
        return convert.memory(memories.get(self._store, id))

    def list(self, kind: str | None = None, limit: int | None = None) -> tuple[MemoryInfo, ...]:
        """Memories by id, the newest `limit` of them."""
        chosen = _kind(kind) if kind is not None else None
        rows = memories.list_memories(self._store, kind=chosen, limit=limit)
        return tuple(convert.memory(row) for row in rows)

    def search(
        self, query: str, limit: int = 10, now: datetime | str | None = None
    ) -> tuple[MemoryHit, ...]:
        """Memories that answer a query, best first, scored as the memory layer scores them."""
        from lila_app.layers.score import recency, score
        from lila_app.layers.search import Finder

        resources = self._resources
        finder = Finder(self._store, resources.embedder.model_id)
        found = finder.find("memories", plain_question(resources, usable(query)), k=limit)
        relevant = {hit.id: hit.relevance for hit in found}
        hits = [
            MemoryHit(convert.memory(row), score(relevant[row.id], recency(row.at, self._at(now))))
            for row in memories.by_ids(self._store, relevant)
        ]
        hits = [hit for hit in hits if hit.score > 0]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, int(hit.memory.id[1:]))))

    def forget(self, id: str) -> ForgetReport:
        """Erase a memory and every trace of it, in files and in what was made from it."""
        return convert.forgotten(forget.forget_memory(self._store, id, at=self._at(None)))

    def _at(self, now: datetime | str | None) -> str:
        return moments.stored(moments.resolve(now, self._resources.clock))


def _kind(kind: str) -> MemoryKind:
    if kind == "core":
        return "core"
    if kind == "fact":
        return "fact"
    raise UsageError(f"{kind!r} is not a kind of memory", hint="use fact or core")

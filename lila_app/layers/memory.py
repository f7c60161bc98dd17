"""The memory layer: what is durably true of the person, and what was said in earlier sessions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lila_app.context.items import TOP_SCORE, Counter, Item, Placement, recalled
from lila_app.layers import variants
from lila_app.layers.conversation import reply_text
from lila_app.layers.port import Question
from lila_app.layers.score import recency, score
from lila_app.layers.search import Finder
from lila_app.storage import memories, turns
from lila_app.storage.connection import Store
from lila_app.storage.memories import MemoryRow
from lila_app.storage.turns import TurnRow

MOST_MEMORIES, MOST_TURNS = 24, 16

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class MemoryLayer:
    """The profile pack (core memories, frozen for an epoch), recalled memories, past turns."""

    store: Store
    finder: Finder
    count: Counter
    name: str = "memory"
    source: str = "memories and earlier sessions, full text and vectors"

    def offer(self, question: Question) -> tuple[Item, ...]:
        """The pack, then what the question finds outside it."""
        pack = self._pack(question)
        inside = {row.id for row in pack}
        pinned = [
            row
            for row in memories.list_pinned(self.store)
            if row.id not in inside and row.superseded_by is None
        ]
        found = {
            hit.id: hit.relevance
            for hit in self.finder.find("memories", question, k=MOST_MEMORIES)
            if hit.id not in inside
        }
        rows = {row.id: row for row in memories.by_ids(self.store, found)}
        rows |= {row.id: row for row in pinned}
        items = [self._standing(row) for row in pack]
        items += [self._recalled(row, found.get(row.id), question.now) for row in rows.values()]
        return (*items, *self._past(question))

    def _pack(self, question: Question) -> list[MemoryRow]:
        if question.pack is not None:
            rows = memories.by_ids(self.store, question.pack)
        else:
            rows = memories.list_memories(self.store, kind="core")
        return [row for row in rows if row.superseded_by is None]

    def _past(self, question: Question) -> tuple[Item, ...]:
        found = self.finder.find(
            "turns", question, k=MOST_TURNS, exclude_session=question.session_id
        )
        relevant = {hit.id: hit.relevance for hit in found}
        rows = turns.by_ids(self.store, relevant)
        asked = _bare(question.text)
        return tuple(
            self._past_turn(row, relevant[row.id], question.now)
            for row in rows
            if not row.erased and _bare(row.user) != asked
        )

    def _standing(self, row: MemoryRow) -> Item:
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.PROFILE,
            variants=(recalled("full", f"- {row.text}", self.count),),
            score=TOP_SCORE,
            source="core memory",
            digest=row.digest,
            at=row.at,
            external_ids=row.external_ids,
            pinned=row.pinned,
        )

    def _recalled(self, row: MemoryRow, relevance: float | None, now: str) -> Item:
        head = f"[{row.id}, {row.at[:10]}] "
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=variants.of_text(head, row.text, self.count),
            score=score(relevance or 0.0, recency(row.at, now)),
            source="memory",
            digest=row.digest,
            at=row.at,
            external_ids=row.external_ids,
            pinned=row.pinned,
            superseded=row.superseded_by is not None,
        )

    def _past_turn(self, row: TurnRow, relevance: float, now: str) -> Item:
        text = f"They: {row.user}\nLILA: {reply_text(row)}"
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=variants.of_text(f"[{row.id}, {row.at[:10]}] ", text, self.count),
            score=score(relevance, recency(row.at, now)),
            source=f"session {row.session_id}",
            digest=row.digest,
            at=row.at,
            external_ids=row.external_ids,
        )


def _bare(text: str) -> list[str]:
    """The words alone: a turn that only asked the same holds no answer but LILA's own."""
    return [word.casefold() for word in _WORD.findall(text)]

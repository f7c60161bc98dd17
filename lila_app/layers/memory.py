"""The memory layer: what is durably true of the person, and what was said in earlier sessions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lila_app.context.items import TOP_SCORE, Counter, Item, Placement, recalled
from lila_app.layers import saying, score, variants
from lila_app.layers.port import Question
from lila_app.layers.score import Scales
from lila_app.layers.search import Finder
from lila_app.layers.variants import Shortened
from lila_app.memory import retention
from lila_app.memory.promotion import Rules
from lila_app.quoting import label, quoted
from lila_app.storage import conflicts, memories
from lila_app.storage.conflicts import Mark
from lila_app.storage.connection import Store
from lila_app.storage.memories import MemoryRow
from lila_app.storage.turns import TurnRow

MOST_MEMORIES = 24

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class MemoryLayer:
    """The profile pack (core memories, frozen for an epoch), recalled memories, past turns.

    `scales` and `rules` are asked on every turn, so that a person can edit a table and ask again;
    without rules nothing fades.
    """

    store: Store
    finder: Finder
    count: Counter
    scales: Callable[[], Scales] = score.shipped
    rules: Callable[[], Rules] | None = None
    name: str = "memory"
    source: str = "memories and earlier sessions, full text and vectors"
    forms: Shortened = field(default_factory=variants.text_forms, repr=False, compare=False)

    def offer(self, question: Question) -> tuple[Item, ...]:
        """The pack, then what the question finds outside it."""
        with self.store.snapshot():
            return self._offer(question)

    def _offer(self, question: Question) -> tuple[Item, ...]:
        scales = self.scales()
        past = self._past(question, scales)
        pack = self._pack(question)
        inside = {row.id for row in pack}
        remembered = self._remembered(question, scales, inside)
        if question.whole:
            # What was said stands there itself; a sentence made of it would say it a second time.
            pack = [row for row in pack if row.source_turn is None]
            remembered = {row: bp for row, bp in remembered.items() if row.source_turn is None}
        items = [self._standing(row) for row in pack]
        doubted = [row.id for row in remembered if row.status == "conflict"]
        marked = conflicts.marks_of_memories(self.store, doubted) if doubted else {}
        items += [
            self._recalled(row, value, marked.get(row.id, ())) for row, value in remembered.items()
        ]
        return (*items, *past)

    def _pack(self, question: Question) -> list[MemoryRow]:
        if question.pack is not None:
            rows = memories.by_ids(self.store, question.pack)
        else:
            rows = memories.list_memories(self.store, kind="core")
        # A contradicted one is recalled with its mark, where both sides are seen.
        return [row for row in rows if not _closed(row) and row.status != "conflict"]

    def _remembered(
        self, question: Question, scales: Scales, inside: Collection[str]
    ) -> Mapping[MemoryRow, int]:
        """What the question finds outside the pack, what is pinned, and what is contradicted of
        both; each with its score."""
        found = dict(self.finder.memories(question, scales.memories, k=MOST_MEMORIES))
        pinned = [row for row in memories.list_pinned(self.store) if not _closed(row)]
        rows = {row.id: row for row in memories.by_ids(self.store, found)}
        rows |= {row.id: row for row in pinned}
        # What stands always and is contradicted is shown always, as is what contradicts it: nobody
        # asks of an allergy when the question is what to cook.
        standing = dict.fromkeys(conflicts.standing(self.store), TOP_SCORE)
        rows |= {row.id: row for row in memories.by_ids(self.store, standing)}
        found |= standing
        rules = self.rules() if self.rules is not None else None
        kept: dict[MemoryRow, int] = {}
        for row in rows.values():
            share = retention.offered(row, question.now, rules) if rules else retention.IN_FULL
            if row.id not in inside and share:
                kept[row] = found.get(row.id, 0) * share // retention.IN_FULL
        return kept

    def _past(self, question: Question, scales: Scales) -> tuple[Item, ...]:
        found = self.finder.turns(
            question, scales.turns, k=question.past, exclude_session=question.session_id
        )
        asked = _bare(question.text)
        ids = [] if question.whole else [one.row.id for one in found]
        marks = {
            id: label(conflicts.said(of)) for id, of in conflicts.marks(self.store, ids).items()
        }
        return tuple(
            self._past_turn(one.row, one.score, question, marks.get(one.row.id, ""))
            for one in found
            if one.row.speaker or _bare(one.row.user) != asked
        )

    def _standing(self, row: MemoryRow) -> Item:
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.PROFILE,
            variants=(recalled("full", quoted("- ", row.text), self.count),),
            score=TOP_SCORE,
            source="core memory",
            digest=row.digest,
            at=row.at,
            external_ids=row.external_ids,
            pinned=row.pinned,
        )

    def _recalled(self, row: MemoryRow, value: int, marked: Sequence[Mark]) -> Item:
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=self.forms(_head(row, marked), row.text, self.count),
            score=value,
            source="memory, in conflict with another" if row.status == "conflict" else "memory",
            digest=row.digest,
            at=row.at,
            external_ids=row.external_ids,
            pinned=row.pinned,
            superseded=_closed(row),
        )

    def _past_turn(self, row: TurnRow, value: int, question: Question, mark: str) -> Item:
        said = saying.said(row)
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=variants.whole(f"{row.at[:10]} ", said, self.count)
            if question.whole
            else self.forms(f"[{row.id}, {row.at[:10]}{mark}] ", said, self.count),
            score=value,
            source=f"session {row.session_id}",
            digest=row.digest,
            at=row.at,
            external_ids=row.external_ids,
        )


def _head(row: MemoryRow, marked: Sequence[Mark]) -> str:
    """Id and day; of one that another contradicts, what that says and since when, so that neither
    passes for settled."""
    if row.status != "conflict":
        return f"[{row.id}, {row.at[:10]}] "
    mark = label(conflicts.said(marked)) if marked else ", in conflict with another"
    return f"[{row.id}, {row.at[:10]}{mark}] "


def _closed(row: MemoryRow) -> bool:
    return row.superseded_by is not None or row.status == "closed"


def _bare(text: str) -> list[str]:
    """The words alone: a turn that only asked the same holds no answer but LILA's own."""
    return [word.casefold() for word in _WORD.findall(text)]

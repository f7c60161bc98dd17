"""What becomes of facts and memories, as changes that can be undone: kept, promoted, closed.

Everything happens in the transaction it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from lila_app.memory import promotion
from lila_app.memory.promotion import Record, Rules
from lila_app.memory.retention import expires
from lila_app.storage import changes, facts, memories
from lila_app.storage.changes import Step, steps
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.memories import Holds, MemoryKind
from lila_app.storage.values import instant

OPEN = ("current", "conflict")
"""What is believed, if with a doubt."""


class Placing:
    """Gives facts their places, within one transaction."""

    def __init__(self, connection: Connection, rules: Rules, zone: ZoneInfo) -> None:
        self.connection = connection
        self.rules = rules
        self.zone = zone
        self.root: int | None = None
        """The first of the changes that are taken back together."""

    def kept(self, memory: str, at: str) -> None:
        """Note that the person gave a memory; what is taken in next belongs to it."""
        self.root = None
        self.change("kept", "explicit", changes.born(memory, at), at=at)

    def promote(self, id: str, at: datetime, *, by_hand: bool = False) -> None:
        """Give a fact the place it has earned by now."""
        fact = facts.get(self.connection, id)
        if fact.status not in OPEN or fact.stage == "withheld":
            return
        record = self.record(fact)
        when = at.astimezone(self.zone)
        if fact.stage == "candidate":
            why = promotion.earned(record, self.rules)
            if not why:
                return
            self.place(fact, "long_term", why, when)
            fact = facts.get(self.connection, id)
        if by_hand:
            return  # the person gave it, and chose its place
        held = memories.core_count(self.connection)
        if fact.stage == "long_term" and promotion.core(record, held, self.rules):
            self.place(fact, "core", "core", when)

    def change(
        self,
        what: str,
        why: str,
        made: Sequence[Step],
        *,
        at: str,
        ends: str | None = None,
        party: Sequence[str] = (),
        subject: str = "",
    ) -> None:
        """Apply steps and log them, as a part of what is under way."""
        sequence = changes.make(
            self.connection,
            what,
            why,
            made,
            at=at,
            ends=ends,
            joins=self.root,
            party=party,
            subject=subject,
        )
        self.root = self.root or sequence

    def place(self, fact: FactRow, stage: facts.Stage, why: str, at: datetime) -> None:
        """Promote a fact, with the memory it becomes."""
        made = self.staged(fact, stage, at)
        self.change("promoted", why, made, at=instant(at))

    def contradict(self, ids: Sequence[str], why: str, *, at: str) -> None:
        """Mark facts as contradicting each other; neither is retired."""
        for row in facts.by_ids(self.connection, ids):
            made = self.contradicted(row, "conflict")
            self.change("conflict", why, made, at=at, party=ids, subject=row.id)

    def replace(self, old: str, new: str, at: str) -> None:
        """Put a memory in another one's place; what that one stated is closed with it."""
        made = steps(self.connection, old, status="closed", closed_at=at, superseded_by=new)
        for fact in facts.of_memories(self.connection, [old]):
            if fact.status in OPEN:
                made += steps(self.connection, fact.id, status="closed", closed_at=at)
                for relation in facts.relations_of(self.connection, [fact.id]):
                    made += steps(self.connection, relation, status="closed")
        self.change("edited", "hand", made, at=at)

    def record(self, fact: FactRow) -> Record:
        """What speaks for a fact."""
        seen = facts.sightings(self.connection, [fact.id])
        used = [] if fact.memory_id is None else facts.uses(self.connection, fact.memory_id)
        days = {self.day(one.at) for one in seen if one.how in ("said", "confirmed")}
        return Record(
            predicate=fact.predicate,
            kind=fact.kind,
            confidence=fact.confidence,
            about_me=promotion.is_me(fact.subject_key, fact.value_key),
            explicit=fact.explicit,
            confirmed=any(one.how == "confirmed" for one in seen),
            negated=fact.negated,
            days=len(days),
            uses=len(used) + sum(one.how == "use" for one in seen),
        )

    def close(self, old: FactRow, ends: str | None, at: str, by: str | None) -> list[Step]:
        """Steps that close a fact with its relations and its memory."""
        closed = max(at, old.learned_at)
        made = steps(
            self.connection,
            old.id,
            status="closed",
            valid_to=ends or old.valid_to,
            closed_at=closed,
            superseded_by=by,
        )
        for relation in facts.relations_of(self.connection, [old.id]):
            made += steps(self.connection, relation, status="closed")
        if old.memory_id is not None:
            made += self.close_memory(old.memory_id, {old.id}, at=closed, ends=ends)
        return made

    def close_memory(
        self, id: str, gone: set[str], *, at: str, ends: str | None, by: str | None = None
    ) -> list[Step]:
        """Steps that close a memory; what else it said gets memories of its own."""
        memory = memories.get(self.connection, id)
        made = steps(
            self.connection,
            id,
            status="closed",
            closed_at=at,
            valid_to=ends or memory.valid_to,
            superseded_by=by or memory.superseded_by,
        )
        for fact in facts.of_memories(self.connection, [id]):
            if fact.id not in gone and fact.status in OPEN:
                own = self._memory(fact, memory.kind == "core", at, pinned=memory.pinned)
                made += [*changes.born(own, at), *steps(self.connection, fact.id, memory_id=own)]
        return made

    def contradicted(self, fact: FactRow, status: facts.Status) -> list[Step]:
        """Steps that mark a fact with its relations and its memory."""
        made = steps(self.connection, fact.id, status=status)
        for relation in facts.relations_of(self.connection, [fact.id]):
            made += steps(self.connection, relation, status=status)
        if fact.memory_id is not None:
            made += steps(self.connection, fact.memory_id, status=status)
        return made

    def born(self, fact: FactRow, at: str) -> list[Step]:
        """Undone, the world is as it was before this was said."""
        made = [Step(fact.id, "status", "closed", "current"), Step(fact.id, "closed_at", at, None)]
        for relation in facts.relations_of(self.connection, [fact.id]):
            made.append(Step(relation, "status", "closed", "current"))
        return made

    def told_again(self, fact: FactRow, memory: str, at: str) -> list[Step]:
        """A fact the person gives again in other words is told by those from now on."""
        stage = "core" if fact.stage == "core" else "long_term"
        made = steps(self.connection, fact.id, memory_id=memory, stage=stage)
        old = fact.memory_id
        if old is None or old == memory:
            return made
        before = memories.get(self.connection, old)
        if before.kind == "core":
            made += steps(self.connection, memory, kind="core")
        if before.pinned:
            made += steps(self.connection, memory, pinned=1)
        return made + self.close_memory(old, {fact.id}, at=at, ends=None, by=memory)

    def staged(self, fact: FactRow, stage: facts.Stage, at: datetime) -> list[Step]:
        """Steps that promote a fact, with the memory it becomes."""
        core, now = stage == "core", instant(at)
        if fact.memory_id is not None:
            if memories.get(self.connection, fact.memory_id).kind == "core":
                return steps(self.connection, fact.id, stage="core")
            made = steps(self.connection, fact.id, stage=stage)
            return made + (steps(self.connection, fact.memory_id, kind="core") if core else [])
        own = self._memory(fact, core, now)
        born = changes.born(own, now)
        if fact.status == "conflict":
            born = [Step(own, "status", "closed", "conflict"), born[1]]
        # Taken back, a promotion is not done again by itself.
        return [
            *born,
            Step(fact.id, "stage", "withheld", stage),
            changes.step(self.connection, fact.id, "memory_id", own),
        ]

    def _memory(self, fact: FactRow, core: bool, at: str, *, pinned: bool = False) -> str:
        last = fact.valid_to or fact.valid_from
        kind: MemoryKind = "core" if core else "fact"
        return memories.add(
            self.connection,
            fact.text,
            kind=kind,
            pinned=pinned,
            at=at,
            source_turn=fact.source_turn,
            holds=Holds(
                retention=fact.kind,
                valid_from=fact.valid_from,
                valid_to=fact.valid_to,
                expires_at=expires(
                    fact.kind, None if last is None else date.fromisoformat(last), self.rules
                ),
            ),
        ).id

    def day(self, at: str) -> date:
        """The day of an instant where the person lives."""
        return datetime.fromisoformat(at).astimezone(self.zone).date()

"""What LILA does with one thing that was stated: keep it, close what it replaces, promote it.

Everything happens in the transaction it is given, and as one change that can be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from zoneinfo import ZoneInfo

from lila_app.memory import promotion, subjects
from lila_app.memory.model import Candidate
from lila_app.memory.promotion import Record, Rules
from lila_app.memory.retention import expires, faded
from lila_app.memory.supersession import Decision, Held, Statement, Verdict, contradicts, decide
from lila_app.storage import changes, facts, memories, relations
from lila_app.storage.changes import Step, midnight, steps
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow, Stated
from lila_app.storage.memories import Holds, MemoryKind
from lila_app.storage.values import instant

OPEN = ("current", "conflict")


@dataclass(frozen=True, slots=True)
class Heard:
    """Where something was stated. `at` is an aware time in the person's zone.

    `speaker` is "" for the person; `turn` the turn, `memory` the memory whose words it is, where
    there is one; `words` are the whole utterance.
    """

    at: datetime
    speaker: str
    words: str
    turn: str | None = None
    memory: str | None = None
    extractor: str = "rules"


@dataclass(slots=True)
class Taken:
    """What came of a statement: its fact, and the facts that were closed by it."""

    fact: str
    closed: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])


class Taking:
    """Takes statements in, within one transaction."""

    def __init__(self, connection: Connection, rules: Rules, zone: ZoneInfo) -> None:
        self._connection = connection
        self._rules = rules
        self._zone = zone

    def take(self, candidate: Candidate, heard: Heard) -> Taken:
        """Take in one thing that was stated."""
        subject = subjects.of(self._connection, candidate, heard.words)
        new = self._statement(candidate, heard)
        slot = [
            row
            for row in facts.in_slot(self._connection, subject.keys, candidate.predicate)
            if row.status in OPEN and not self._over(row, new.day)
        ]
        decision = decide(new, [Held(row.id, self._held(row)) for row in slot])
        by_id = {row.id: row for row in slot}
        if decision.add:
            fact = facts.add(self._connection, _stated(candidate, heard, subject), at=_at(heard))
            self._relate(fact, candidate, subject.name)
        else:
            fact = by_id[decision.same or ""]
            if heard.turn is not None:
                facts.sight(self._connection, fact.id, heard.turn, at=_at(heard), how="said")
        taken = self._apply(fact, decision, by_id, heard, subject)
        self.promote(taken.fact, heard.at, heard)
        return taken

    def promote(self, id: str, at: datetime, heard: Heard | None = None) -> None:
        """Give a fact the place it has earned by now."""
        fact = facts.get(self._connection, id)
        if fact.status not in OPEN or fact.stage == "withheld":
            return
        record = self.record(fact)
        when = at.astimezone(self._zone)
        if fact.stage == "candidate":
            why = promotion.earned(record, self._rules)
            if not why:
                return
            self.place(fact, "long_term", why, when)
            fact = facts.get(self._connection, id)
        by_hand = heard is not None and heard.memory is not None
        held = memories.core_count(self._connection)
        if fact.stage == "long_term" and not by_hand and fact.extractor != "hand":
            if promotion.core(record, held, self._rules):
                self.place(fact, "core", "core", when)

    def place(self, fact: FactRow, stage: facts.Stage, why: str, at: datetime) -> None:
        """Promote a fact, with the memory it becomes."""
        made = self._stage(fact, stage, at)
        changes.make(self._connection, "promoted", why, made, at=instant(at))

    def record(self, fact: FactRow) -> Record:
        """What speaks for a fact."""
        seen = facts.sightings(self._connection, [fact.id])
        used = [] if fact.memory_id is None else facts.uses(self._connection, fact.memory_id)
        days = {self._day(one.at) for one in seen if one.how in ("said", "confirmed")}
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

    # --- what becomes of those in the slot -------------------------------------------------------

    def _apply(
        self,
        fact: FactRow,
        decision: Decision,
        slot: dict[str, FactRow],
        heard: Heard,
        subject: subjects.Subject,
    ) -> Taken:
        taken, at, what = Taken(fact.id), _at(heard), "learned"
        made: list[Step] = []
        why, ends = "", None
        if decision.closed_by is not None:
            ends = None if decision.ends is None else decision.ends.isoformat()
            made += self._close(fact, ends, at, decision.closed_by)
            changes.make(self._connection, "superseded", "earlier", made, at=at, ends=ends)
            taken.closed.append(fact.id)
            return taken
        for verdict in decision.verdicts:
            old = slot.get(verdict.id)
            if old is None or verdict.action == "same":
                continue
            unsure = old.subject_key != subject.key or not subject.sure
            if verdict.action == "conflict" or unsure:
                # Of somebody of the same name it is not known whether they are the same.
                taken.conflicts.append(old.id)
                continue
            what, why = "superseded", verdict.why
            ends = None if verdict.ends is None else verdict.ends.isoformat()
            made += self._verdict(fact, old, verdict, at)
            if verdict.action != "bound":
                taken.closed.append(old.id)
        made += self._successor(fact, [slot[id] for id in taken.closed], heard)
        if taken.conflicts:
            what, why = ("conflict", "undecided") if not taken.closed else (what, why)
            for one in (fact, *(slot[id] for id in taken.conflicts)):
                made += self._contradicted(one, "conflict")
        else:
            made += self._settled(fact, slot, taken)
        if taken.closed and decision.add:
            # Undone, the world is as it was before this was said.
            made += [Step(fact.id, "status", "closed", "current")]
            made += [Step(fact.id, "closed_at", at, None)]
        if made and what != "learned":
            changes.make(self._connection, what, why, made, at=at, ends=ends)
        elif made:
            changes.make(self._connection, "settled", "repeated", made, at=at)
        return taken

    def _verdict(self, fact: FactRow, old: FactRow, verdict: Verdict, at: str) -> list[Step]:
        ends = None if verdict.ends is None else verdict.ends.isoformat()
        if verdict.action == "bound":
            made = steps(self._connection, old.id, valid_to=ends)
            if old.memory_id is not None:
                made += steps(self._connection, old.memory_id, valid_to=ends)
            return made
        return self._close(old, ends, at, fact.id)

    def _close(self, old: FactRow, ends: str | None, at: str, by: str | None) -> list[Step]:
        """Steps that close a fact with its relations and its memory."""
        closed = max(at, old.learned_at)
        made = steps(
            self._connection,
            old.id,
            status="closed",
            valid_to=ends or old.valid_to,
            closed_at=closed,
            superseded_by=by,
        )
        for relation in facts.relations_of(self._connection, [old.id]):
            made += steps(self._connection, relation, status="closed")
        if old.memory_id is not None:
            made += self.close_memory(old.memory_id, {old.id}, at=closed, ends=ends)
        return made

    def close_memory(
        self, id: str, gone: set[str], *, at: str, ends: str | None, by: str | None = None
    ) -> list[Step]:
        """Steps that close a memory; what else it said gets memories of its own."""
        memory = memories.get(self._connection, id)
        made = steps(
            self._connection,
            id,
            status="closed",
            closed_at=at,
            valid_to=ends or memory.valid_to,
            superseded_by=by or memory.superseded_by,
        )
        for fact in facts.of_memories(self._connection, [id]):
            if fact.id not in gone and fact.status in OPEN:
                own = self._memory(fact, memory.kind == "core", at, pinned=memory.pinned)
                made += [*changes.born(own, at), *steps(self._connection, fact.id, memory_id=own)]
        return made

    def _successor(self, fact: FactRow, closed: Sequence[FactRow], heard: Heard) -> list[Step]:
        """What takes a place takes it whole: the stage of what it replaced is its own."""
        stages = {one.stage for one in closed}
        made: list[Step] = []
        if heard.memory is None and fact.stage in ("candidate", "long_term"):
            if "core" in stages and not fact.negated:
                made = self._stage(fact, "core", heard.at.astimezone(self._zone))
            elif stages & {"core", "long_term"} and fact.stage == "candidate":
                made = self._stage(fact, "long_term", heard.at.astimezone(self._zone))
        own = heard.memory or next(
            (str(one.after) for one in made if one.column == "memory_id"), fact.memory_id
        )
        if heard.memory is not None and "core" in stages and not fact.negated:
            made += [*steps(self._connection, fact.id, stage="core")]
            made += steps(self._connection, heard.memory, kind="core")
        if own is not None:
            for one in closed:
                if one.memory_id is not None and one.memory_id != own:
                    made += steps(self._connection, one.memory_id, superseded_by=own)
        return made

    def _contradicted(self, fact: FactRow, status: facts.Status) -> list[Step]:
        made = steps(self._connection, fact.id, status=status)
        for relation in facts.relations_of(self._connection, [fact.id]):
            made += steps(self._connection, relation, status=status)
        if fact.memory_id is not None:
            made += steps(self._connection, fact.memory_id, status=status)
        return made

    def _settled(self, fact: FactRow, slot: dict[str, FactRow], taken: Taken) -> list[Step]:
        """Conflicts that ended because one side was closed."""
        if fact.predicate == "note":
            return []
        left = [row for id, row in slot.items() if id not in taken.closed]
        made: list[Step] = []
        for one in {row.id: row for row in (*left, fact)}.values():
            against = [row for row in (*left, fact) if row.id != one.id]
            if one.status == "conflict" and not any(
                contradicts(self._held(one), self._held(other)) for other in against
            ):
                made += self._contradicted(one, "current")
        return made

    # --- memories and relations ------------------------------------------------------------------

    def _stage(self, fact: FactRow, stage: facts.Stage, at: datetime) -> list[Step]:
        core, now = stage == "core", instant(at)
        if fact.memory_id is not None:
            if memories.get(self._connection, fact.memory_id).kind == "core":
                return steps(self._connection, fact.id, stage="core")
            made = steps(self._connection, fact.id, stage=stage)
            return made + (steps(self._connection, fact.memory_id, kind="core") if core else [])
        own = self._memory(fact, core, now)
        born = changes.born(own, now)
        if fact.status == "conflict":
            born = [Step(own, "status", "closed", "conflict"), born[1]]
        # Taken back, a promotion is not done again by itself.
        return [
            *born,
            Step(fact.id, "stage", "withheld", stage),
            changes.step(self._connection, fact.id, "memory_id", own),
        ]

    def _memory(self, fact: FactRow, core: bool, at: str, *, pinned: bool = False) -> str:
        last = fact.valid_to or fact.valid_from
        kind: MemoryKind = "core" if core else "fact"
        return memories.add(
            self._connection,
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
                    fact.kind, None if last is None else date.fromisoformat(last), self._rules
                ),
            ),
        ).id

    def _relate(self, fact: FactRow, candidate: Candidate, name: str) -> None:
        told = candidate.is_entity and not candidate.negated and candidate.cue != "ended"
        if not told or candidate.confidence < self._rules.graph_confidence:
            return
        begins, ends = fact.valid_from, fact.valid_to
        if begins is not None and ends is not None and ends <= begins:
            ends = None
        relations.add(
            self._connection,
            name,
            fact.predicate,
            fact.value,
            valid_from=midnight(begins),
            valid_to=midnight(ends),
            source=fact.id,
            fact_id=fact.id,
            at=fact.learned_at,
        )

    # --- statements ------------------------------------------------------------------------------

    def _over(self, row: FactRow, day: date) -> bool:
        """Whether a passing thing (tired, a plan) is over, so that saying it again is new."""
        rule = self._rules.retention.get(row.kind)
        if rule is None or rule.least or row.kind == "chat":
            return False
        return faded((day - self._day(row.learned_at)).days, rule) == 0

    def _day(self, at: str) -> date:
        return datetime.fromisoformat(at).astimezone(self._zone).date()

    def _statement(self, candidate: Candidate, heard: Heard) -> Statement:
        return Statement(
            value=subjects.value_key(candidate.value),
            negated=candidate.negated,
            many=candidate.many,
            kind=candidate.kind,
            at=_at(heard),
            day=heard.at.astimezone(self._zone).date(),
            source=heard.speaker,
            cue=candidate.cue,
            explicit=candidate.explicit,
            valid_from=candidate.valid_from,
            valid_to=candidate.valid_to,
        )

    def _held(self, row: FactRow) -> Statement:
        return Statement(
            value=row.value_key,
            negated=row.negated,
            many=row.many,
            kind=row.kind,
            at=row.learned_at,
            day=self._day(row.learned_at),
            source=row.speaker,
            explicit=row.explicit,
            valid_from=_date(row.valid_from),
            valid_to=_date(row.valid_to),
        )


def _stated(candidate: Candidate, heard: Heard, subject: subjects.Subject) -> Stated:
    ended = candidate.cue == "ended"
    return Stated(
        subject=subject.name,
        subject_key=subject.key,
        predicate=candidate.predicate,
        value=candidate.value,
        value_key=subjects.value_key(candidate.value),
        text=" ".join(candidate.text.split()),
        kind=candidate.kind,
        negated=candidate.negated or ended,
        many=candidate.many,
        explicit=candidate.explicit,
        confidence=candidate.confidence,
        extractor=heard.extractor,
        valid_from=_iso(candidate.valid_from),
        valid_to=None if ended else _iso(candidate.valid_to),
        source_turn=heard.turn,
        span=(candidate.start, candidate.end),
        memory_id=heard.memory,
    )


def _at(heard: Heard) -> str:
    return instant(heard.at)


def _date(found: str | None) -> date | None:
    return None if found is None else date.fromisoformat(found[:10])


def _iso(found: date | None) -> str | None:
    return None if found is None else found.isoformat()

"""What LILA does with one thing that was stated: keep it, close what it replaces, promote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from lila_app.memory import subjects
from lila_app.memory.model import Candidate
from lila_app.memory.placing import OPEN, Placing
from lila_app.memory.retention import faded
from lila_app.memory.supersession import Decision, Held, Statement, Verdict, contradicts, decide
from lila_app.storage import facts, memories, relations
from lila_app.storage.changes import Step, midnight, steps
from lila_app.storage.facts import FactRow, Stated
from lila_app.storage.values import instant


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
    """What came of a statement: its fact, and those it closed, contradicts, or gives an end to."""

    fact: str
    closed: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])
    ending: list[str] = field(default_factory=list[str])


class Taking(Placing):
    """Takes statements in, within one transaction."""

    def take(self, candidate: Candidate, heard: Heard) -> Taken:
        """Take in one thing that was stated."""
        if heard.memory is None:
            self.root = None
        subject = subjects.of(self.connection, candidate, heard.words)
        new = self._statement(candidate, heard)
        slot = [
            row
            for row in facts.in_slot(self.connection, subject.keys, candidate.predicate)
            if row.status in OPEN and not self._over(row, new.day)
        ]
        decision = decide(new, [Held(row.id, self._held(row)) for row in slot])
        by_id = {row.id: row for row in slot}
        if decision.add:
            stated = _stated(candidate, heard, subject)
            if heard.memory is not None:
                core = memories.get(self.connection, heard.memory).kind == "core"
                stated = replace(stated, stage="core" if core else "long_term")
            fact = facts.add(self.connection, stated, at=_at(heard))
            self._relate(fact, candidate, subject.name)
        else:
            fact = by_id[decision.same or ""]
            if heard.turn is not None:
                facts.sight(self.connection, fact.id, heard.turn, at=_at(heard), how="said")
        taken = self._apply(fact, decision, by_id, heard, subject)
        self.promote(taken.fact, heard.at, by_hand=heard.memory is not None)
        return taken

    def _apply(
        self,
        fact: FactRow,
        decision: Decision,
        slot: dict[str, FactRow],
        heard: Heard,
        subject: subjects.Subject,
    ) -> Taken:
        taken, at = Taken(fact.id), _at(heard)
        if decision.closed_by is not None:
            ends = _iso(decision.ends)
            made = self.close(fact, ends, at, decision.closed_by)
            self.change("superseded", "earlier", made, at=at, ends=ends)
            taken.closed.append(fact.id)
            return taken
        made, why, ends = list[Step](), "", None
        for verdict in decision.verdicts:
            old = slot[verdict.id]
            unsure = old.subject_key not in subject.one or not subject.sure
            if verdict.action == "same":
                continue
            if verdict.action == "conflict" or unsure:
                # Of somebody of the same name it is not known whether they are the same.
                taken.conflicts.append(old.id)
                continue
            why, ends = verdict.why, _iso(verdict.ends)
            made += self._verdict(fact, old, verdict, at)
            (taken.ending if verdict.action == "bound" else taken.closed).append(old.id)
        closed = [slot[id] for id in taken.closed]
        made += self._successor(fact, closed, heard, ended=why == "ended")
        made += self._settled(fact, slot, taken)
        if decision.add and (taken.closed or heard.memory is not None):
            made += self.born(fact, at)
        if decision.same is not None and heard.memory is not None:
            made += self.told_again(fact, heard.memory, at)
        stated = ("stated", "explicit" if heard.memory is not None else "repeated")
        what, reason = ("superseded", why) if why else stated
        self.change(what, reason, made, at=at, ends=ends)
        if taken.conflicts:
            self.contradict([fact.id, *taken.conflicts], "undecided", at=at)
        return taken

    def _verdict(self, fact: FactRow, old: FactRow, verdict: Verdict, at: str) -> list[Step]:
        ends = None if verdict.ends is None else verdict.ends.isoformat()
        if verdict.action == "bound":
            made = steps(self.connection, old.id, valid_to=ends)
            if old.memory_id is not None:
                made += steps(self.connection, old.memory_id, valid_to=ends)
            return made
        # What only says that something is over takes nothing's place.
        return self.close(old, ends, at, None if verdict.why == "ended" else fact.id)

    def _successor(
        self, fact: FactRow, closed: Sequence[FactRow], heard: Heard, *, ended: bool
    ) -> list[Step]:
        """What takes a place takes it whole: the stage of what it replaced is its own."""
        stages = {one.stage for one in closed}
        made: list[Step] = []
        if heard.memory is None and fact.stage in ("candidate", "long_term"):
            if "core" in stages and not fact.negated:
                made = self.staged(fact, "core", heard.at.astimezone(self.zone))
            elif stages & {"core", "long_term"} and fact.stage == "candidate":
                made = self.staged(fact, "long_term", heard.at.astimezone(self.zone))
        own = heard.memory or next(
            (str(one.after) for one in made if one.column == "memory_id"), fact.memory_id
        )
        if heard.memory is not None and "core" in stages and not fact.negated:
            made += [*steps(self.connection, fact.id, stage="core")]
            made += steps(self.connection, heard.memory, kind="core")
        if own is not None and not ended:
            for one in closed:
                if one.memory_id is not None and one.memory_id != own:
                    made += steps(self.connection, one.memory_id, superseded_by=own)
        return made

    def _settled(self, fact: FactRow, slot: dict[str, FactRow], taken: Taken) -> list[Step]:
        """Conflicts that ended because one side was closed."""
        if fact.predicate == "note" or taken.conflicts:
            return []
        left = [row for id, row in slot.items() if id not in taken.closed]
        made: list[Step] = []
        for one in {row.id: row for row in (*left, fact)}.values():
            against = [row for row in (*left, fact) if row.id != one.id]
            if one.status == "conflict" and not any(
                contradicts(self._held(one), self._held(other)) for other in against
            ):
                made += self.contradicted(one, "current")
        return made

    def _relate(self, fact: FactRow, candidate: Candidate, name: str) -> None:
        related = candidate.is_entity or candidate.predicate in self.rules.graph_kinds
        told = related and not candidate.negated and candidate.cue != "ended"
        if not told or candidate.confidence < self.rules.graph_confidence:
            return
        begins, ends = fact.valid_from, fact.valid_to
        if begins is not None and ends is not None and ends <= begins:
            ends = None
        relations.add(
            self.connection,
            name,
            fact.predicate,
            fact.value,
            valid_from=midnight(begins),
            valid_to=midnight(ends),
            source=fact.id,
            fact_id=fact.id,
            at=fact.learned_at,
        )

    def _over(self, row: FactRow, day: date) -> bool:
        """Whether a passing thing (tired, a plan) is over, so that saying it again is new."""
        rule = self.rules.retention.get(row.kind)
        if rule is None or rule.least or row.kind == "chat":
            return False
        return faded((day - self.day(row.learned_at)).days, rule) == 0

    def _statement(self, candidate: Candidate, heard: Heard) -> Statement:
        return Statement(
            value=subjects.value_key(candidate.value),
            negated=candidate.negated,
            many=candidate.many,
            kind=candidate.kind,
            at=_at(heard),
            day=heard.at.astimezone(self.zone).date(),
            source=heard.speaker,
            cue=candidate.cue,
            explicit=candidate.explicit,
            valid_from=candidate.valid_from,
            valid_to=candidate.valid_to,
            passing=candidate.passing,
        )

    def _held(self, row: FactRow) -> Statement:
        return Statement(
            value=row.value_key,
            negated=row.negated,
            many=row.many,
            kind=row.kind,
            at=row.learned_at,
            day=self.day(row.learned_at),
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

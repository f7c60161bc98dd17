"""Why LILA remembers something, and what contradicts what, as views for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lila_app.errors import NotFoundError, UsageError
from lila_app.facade import convert
from lila_app.memory import promotion
from lila_app.memory.promotion import Rules
from lila_app.memory.taking import Taking
from lila_app.storage import changes, conflicts, facts, memories, relations, turns
from lila_app.storage.changes import Change
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow, SightingRow
from lila_app.views.memory import (
    CandidateInfo,
    ChangeInfo,
    ConflictInfo,
    FactInfo,
    Named,
    SightingInfo,
    SourceInfo,
    UndoInfo,
    UseInfo,
    WhyInfo,
)


def why(connection: Connection, id: str) -> WhyInfo:
    """Everything that is known of how a memory, fact or relation came to be.

    Raises `NotFoundError`, and `UsageError` for a relation that comes from neither of them.
    """
    if id[:1] == "r":
        source = relations.get(connection, id).source
        if source[:1] not in ("f", "m"):
            raise UsageError(
                f"{id} comes from no memory", hint="`lila graph list` shows where it is from"
            )
        return replace(why(connection, source), id=id)
    if id[:1] == "f":
        held = [facts.get(connection, id)]
        memory = held[0].memory_id
    else:
        memory = memories.get(connection, id).id
        held = facts.of_memories(connection, [memory])
    row = None if memory is None else memories.get(connection, memory)
    ids = [fact.id for fact in held]
    seen = facts.sightings(connection, ids) if ids else []
    said = [one for one in seen if one.how != "use"]
    told = [one.turn_id for one in said]
    told += [fact.source_turn for fact in held if fact.source_turn is not None]
    told += [row.source_turn] if row is not None and row.source_turn is not None else []
    by = row.superseded_by if row is not None else None
    return WhyInfo(
        id=id,
        memory=None if row is None else convert.memory(row),
        facts=tuple(fact_info(fact) for fact in held),
        sources=_sources(connection, told),
        sightings=tuple(SightingInfo(s.fact_id, s.turn_id, s.at, s.how) for s in said),
        uses=_uses(connection, memory, seen),
        changes=changes_of(connection, [*ids, *([memory] if memory else [])]),
        supersedes=_supersedes(connection, ids, memory),
        superseded_by=by or next((fact.superseded_by for fact in held if fact.superseded_by), None),
    )


def all_conflicts(connection: Connection) -> tuple[ConflictInfo, ...]:
    """Facts that contradict each other, those that do together."""
    return tuple(
        ConflictInfo(tuple(fact_info(fact) for fact in group))
        for group in conflicts.groups(connection)
    )


def waiting(
    connection: Connection, taking: Taking, rules: Rules, limit: int | None
) -> tuple[CandidateInfo, ...]:
    """The facts that wait for their promotion, and what each lacks."""
    found: list[CandidateInfo] = []
    for fact in facts.listed(connection, stages=("candidate", "withheld"), limit=limit):
        if fact.status == "closed":
            continue
        lack = promotion.lacking(taking.record(fact), rules)
        found.append(CandidateInfo(fact_info(fact), lack.days, lack.uses))
    return tuple(found)


def changes_of(connection: Connection, ids: Sequence[str]) -> tuple[ChangeInfo, ...]:
    """What was done to these rows, oldest first."""
    found = changes.of(connection, ids)
    undone = {one.undoes for one in found}
    return tuple(change_info(one, one.sequence in undone) for one in found)


def change_info(change: Change, undone: bool = False) -> ChangeInfo:
    """A change as it is shown."""
    ids = tuple(dict.fromkeys(step.id for step in change.steps))
    return ChangeInfo(change.what, change.why, change.at, ids, undone)


def undone(connection: Connection, change: Change) -> UndoInfo:
    """What taking a change back came to, in words: of a fact with a memory the memory's only."""
    status = {step.id: step.after for step in change.steps if step.column == "status"}
    was = {step.id: step.before for step in reversed(change.steps) if step.column == "status"}
    ids = tuple(dict.fromkeys(step.id for step in change.steps))
    told = _told(connection, ids)
    ends = {id: (was[id] == "closed", status[id] == "closed") for id in status if id in told}
    moved = [id for id, (before, after) in ends.items() if before != after]
    return UndoInfo(
        change.what,
        change.at,
        ids,
        gone=tuple(told[id] for id in moved if status[id] == "closed"),
        again=tuple(told[id] for id in moved if status[id] != "closed"),
        other=tuple(one for id, one in told.items() if id not in moved),
    )


def _told(connection: Connection, ids: Sequence[str]) -> dict[str, Named]:
    """Memories, and facts that are none of these memories', by id in the order of the ids."""
    rows = memories.by_ids(connection, [id for id in ids if id[0] == "m"])
    told = {row.id: Named(row.id, row.text) for row in rows}
    words = {row.text for row in rows}
    for fact in facts.by_ids(connection, [id for id in ids if id[0] == "f"]):
        if fact.memory_id not in told and fact.text not in words:
            told[fact.id] = Named(fact.id, fact.text)
    return {id: told[id] for id in ids if id in told}


def fact_info(row: FactRow) -> FactInfo:
    """A fact as it is shown."""
    return FactInfo(
        row.id,
        row.subject,
        row.predicate,
        row.value,
        row.text,
        row.kind,
        row.negated,
        row.stage,
        row.status,
        row.valid_from,
        row.valid_to,
        row.learned_at,
        row.closed_at,
        row.superseded_by,
        row.memory_id,
        row.source_turn,
    )


def _supersedes(connection: Connection, ids: Sequence[str], memory: str | None) -> tuple[str, ...]:
    found = [] if memory is None else memories.replaced_by(connection, memory)
    for id in ids:
        found += [
            fact.id
            for fact in facts.replaced_by(connection, id)
            if fact.memory_id is None or fact.memory_id not in found
        ]
    return tuple(dict.fromkeys(found))


def _uses(
    connection: Connection, memory: str | None, seen: Sequence[SightingRow]
) -> tuple[UseInfo, ...]:
    """The replies it helped, as a memory and before it was one: nobody said it in those turns."""
    found = {one.turn_id: one.at for one in seen if one.how == "use"}
    if memory is not None:
        found |= dict(facts.uses(connection, memory))
    return tuple(UseInfo(turn, at) for turn, at in sorted(found.items(), key=_when))


def _when(use: tuple[str, str]) -> tuple[str, int]:
    return use[1], int(use[0][1:])


def _sources(connection: Connection, told: Sequence[str]) -> tuple[SourceInfo, ...]:
    found: list[SourceInfo] = []
    for id in dict.fromkeys(told):
        try:
            turn = turns.get(connection, id)
        except NotFoundError:
            continue
        found.append(SourceInfo(turn.id, turn.session_id, turn.at, turn.speaker, turn.user))
    return tuple(sorted(found, key=lambda one: (one.at, int(one.turn_id[1:]))))

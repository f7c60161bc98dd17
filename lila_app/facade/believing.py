"""What becomes of memories by the person's hand: settled, promoted, put back, edited, undone.

Each is one change in the log, and each but forgetting can be taken back.
"""

from __future__ import annotations

from datetime import datetime

from lila_app.errors import NotFoundError, UsageError
from lila_app.memory.learning import Kept, Learner
from lila_app.memory.placing import OPEN
from lila_app.memory.taking import Taking
from lila_app.resources import Resources
from lila_app.storage import changes, conflicts, facts, memories
from lila_app.storage.changes import Change, Step, steps
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.memories import MemoryKind, MemoryRow


def pin(connection: Connection, id: str, pinned: bool, at: str) -> MemoryRow:
    """Pin a memory, or no longer."""
    memories.get(connection, id)
    what = "pinned" if pinned else "unpinned"
    changes.make(connection, what, "hand", steps(connection, id, pinned=int(pinned)), at=at)
    return memories.get(connection, id)


def promote(taking: Taking, connection: Connection, id: str, core: bool, at: datetime) -> str:
    """Make a memory of a candidate, or a core memory of either; the memory's id."""
    stamp = at.isoformat()
    if id[:1] == "f":
        fact = facts.get(connection, id)
        if fact.status not in OPEN:
            raise UsageError(f"{id} is over", hint="`lila memory undo` takes that back")
        if fact.memory_id is None:
            taking.place(fact, "core" if core else "long_term", "hand", at)
            return facts.get(connection, id).memory_id or ""
        id = fact.memory_id
    memory = memories.get(connection, id)
    if memory.status == "closed" and memory.superseded_by is not None:
        raise UsageError(
            f"{id} was replaced by {memory.superseded_by}",
            hint=f"`lila memory undo {id}` takes that back",
        )
    made: list[Step] = []
    if core:
        made += steps(connection, id, kind="core")
        for fact in facts.of_memories(connection, [id]):
            made += steps(connection, fact.id, stage="core")
    if memory.status == "closed":
        made += steps(connection, id, status="current", closed_at=None)
        for fact in facts.of_memories(connection, [id]):
            made += steps(connection, fact.id, stage="core" if core else "long_term")
    changes.make(connection, "promoted", "hand", made, at=stamp)
    return id


def demote(connection: Connection, id: str, at: str) -> MemoryRow:
    """Take a core memory out of the profile pack; stop offering any other."""
    memory = memories.get(connection, id)
    held = facts.of_memories(connection, [id])
    if memory.status == "closed":
        by = memory.superseded_by
        raise UsageError(
            f"{id} is not offered as it is",
            hint=f"it was replaced by {by}" if by else "`lila memory promote` offers it again",
        )
    if memory.kind == "core":
        made = steps(connection, id, kind="fact")
        stage = "long_term"
    else:
        made = steps(connection, id, status="closed", closed_at=at)
        stage = "withheld"
    for fact in held:
        made += steps(connection, fact.id, stage=stage)
    changes.make(connection, "demoted", "hand", made, at=at)
    return memories.get(connection, id)


def settle(taking: Taking, connection: Connection, id: str, at: datetime) -> list[str]:
    """Decide a conflict for a fact or a memory, else confirm it; ids of what was closed."""
    chosen = _facts(connection, id)
    stamp = at.isoformat()
    made: list[Step] = []
    closed: dict[str, FactRow] = {}
    for fact in chosen:
        against = conflicts.of(connection, fact.id) if fact.status == "conflict" else []
        closed |= {one.id: one for one in against if one.id not in {c.id for c in chosen}}
    for fact in chosen:
        if fact.status == "conflict":
            made += _current(connection, fact)
        if fact.stage in ("candidate", "withheld"):
            taking.place(fact, "long_term", "confirmed", at)
    first = facts.get(connection, chosen[0].id)
    for one in closed.values():
        made += close(taking, connection, one, first, stamp)
    taking.change("resolved", "hand", _last_each(made), at=stamp, ends=stamp[:10])
    return sorted(closed)


def close(taking: Taking, connection: Connection, old: FactRow, by: FactRow, at: str) -> list[Step]:
    """Steps that close a fact for another one that was chosen over it."""
    ends = max(at[:10], (old.valid_from or old.learned_at)[:10])
    made = steps(
        connection, old.id, status="closed", closed_at=at, valid_to=ends, superseded_by=by.id
    )
    for relation in facts.relations_of(connection, [old.id]):
        made += steps(connection, relation, status="closed")
    if old.memory_id is not None and old.memory_id != by.memory_id:
        made += taking.close_memory(old.memory_id, {old.id}, at=at, ends=ends, by=by.memory_id)
    return made


def edit(
    resources: Resources, id: str, text: str, at: datetime, *, later: bool = False
) -> MemoryRow:
    """Put other words in a memory's place: a new row, the old one kept as superseded.

    With `later` nobody waits for a parser that has to be loaded first; the same words change
    nothing.
    """
    cold = later and not resources.looking.parses
    learner: Learner = resources.learner
    old = memories.get(resources.store, id)
    if old.superseded_by is not None:
        raise UsageError(
            f"{id} was replaced by {old.superseded_by}", hint=f"edit {old.superseded_by}"
        )
    if old.text == text:
        return old
    kind: MemoryKind = "core" if old.kind == "core" else "fact"
    stamp = at.isoformat()
    kept = Kept(text, kind, old.pinned, stamp, old.external_ids)
    row = learner.keep(kept, instead_of=id, later=cold)
    if cold:  # what it states is taken in before LILA closes
        resources.later(lambda: learner.understand(row.id))
    return row


def undo(connection: Connection, id: str | None, at: str) -> Change:
    """Take back the last change, of one memory or fact or of all, and what was made with it."""
    ids = [] if id is None else [id, *_near(connection, id)]
    found = changes.last(connection, ids)
    if found is None:
        raise NotFoundError(
            "there is no change to undo" if id is None else f"nothing was done to {id} since",
            hint="`lila memory why ID` lists what was done",
        )
    return changes.undo(connection, found, at=at)


def _near(connection: Connection, id: str) -> list[str]:
    if id[:1] == "m":
        memories.get(connection, id)
        return [fact.id for fact in facts.of_memories(connection, [id])]
    fact = facts.get(connection, id)
    return [fact.memory_id] if fact.memory_id is not None else []


def _facts(connection: Connection, id: str) -> list[FactRow]:
    if id[:1] == "f":
        found = [facts.get(connection, id)]
    else:
        memories.get(connection, id)
        found = facts.of_memories(connection, [id])
    found = [fact for fact in found if fact.status in OPEN]
    if not found:
        raise UsageError(f"there is nothing to decide about {id}", hint="`lila memory conflicts`")
    return found


def _current(connection: Connection, fact: FactRow) -> list[Step]:
    made = steps(connection, fact.id, status="current")
    for relation in facts.relations_of(connection, [fact.id]):
        made += steps(connection, relation, status="current")
    if fact.memory_id is not None:
        made += steps(connection, fact.memory_id, status="current")
    return made


def _last_each(made: list[Step]) -> list[Step]:
    """One step a column: where two touch the same, the last says what it will be."""
    return list({(step.id, step.column): step for step in made}.values())

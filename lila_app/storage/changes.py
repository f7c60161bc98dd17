"""Changes to what LILA believes, each one event that can be taken back.

A change is a list of steps: a column of one row, what it was and what it is now. None of them is
content: columns that hold words are never changed (an edit makes a new row). So a change can be
undone exactly, an undo is itself a change, and a forgetting has nothing to look for in here but
the ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import events, relations
from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number

KIND = "memory_changed"

FEW = 4
"""Rows whose changes are looked for one by one; for more, every change is read once."""

Value = str | int | None

_TABLES = {"f": "facts", "m": "memories", "r": "relations"}
_COLUMNS = {
    "f": ("stage", "status", "valid_to", "closed_at", "superseded_by", "memory_id"),
    "m": (
        *("kind", "pinned", "status", "superseded_by", "valid_to", "expires_at"),
        *("closed_at", "retention"),
    ),
    "r": ("status",),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One column of the row `id` (f12, m5, r7): what it was, what it is."""

    id: str
    column: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class Change:
    """One change; `what` and `why` are words of a closed list, `undoes` a change taken back.

    Changes that were made together have one `root`, and are taken back together.
    """

    sequence: int
    what: str
    why: str
    at: str
    steps: tuple[Step, ...]
    undoes: int | None
    root: int


def make(
    connection: Connection,
    what: str,
    why: str,
    steps: Sequence[Step],
    *,
    at: str,
    ends: str | None = None,
    undoes: int | None = None,
    joins: int | None = None,
    party: Sequence[str] = (),
    subject: str = "",
) -> int | None:
    """Apply the steps that change something, and log them; None where nothing did.

    `ends` is the day on which a relation that is closed stops to hold (None: `at`); `joins` names
    the first of the changes this one belongs to; `party` are the facts that contradict
    each other, `subject` being one of them.
    """
    real = [_in_utc(step) for step in steps if step.before != step.after]
    if not real and not party:
        return None
    for step in real:
        if step.id[0] == "r":
            _relate(connection, step, at, ends)
        else:
            _set(connection, step.id, step.column, step.after)
    body: dict[str, object] = {
        "what": what,
        "why": why,
        "steps": [[step.id, step.column, step.before, step.after] for step in real],
    }
    body |= {} if undoes is None else {"undoes": undoes}
    body |= {} if joins is None else {"joins": joins}
    body |= {"party": list(party)} if party else {}
    return events.append(
        connection, KIND, subject=subject or real[0].id, session_id=None, at=at, body=body
    ).sequence


def _in_utc(step: Step) -> Step:
    """Times are compared as text, so they are kept in one zone whatever zone they are given in."""
    if step.column != "closed_at":
        return step
    before, after = (
        instant(value) if isinstance(value, str) else value for value in (step.before, step.after)
    )
    return replace(step, before=before, after=after)


def step(connection: Connection, id: str, column: str, after: Value) -> Step:
    """The step from what the row says now."""
    return Step(id, column, _get(connection, id, column), after)


def steps(connection: Connection, id: str, **after: Value) -> list[Step]:
    """Steps of one row from what it says now."""
    return [step(connection, id, column, value) for column, value in after.items()]


def born(memory: str, at: str) -> list[Step]:
    """Of a memory made in a change: taken back, it is one that held until `at`."""
    return [Step(memory, "status", "closed", "current"), Step(memory, "closed_at", at, None)]


def of(source: Source, ids: Iterable[str]) -> list[Change]:
    """The changes that touched one of these rows, oldest first."""
    wanted = set(ids)
    needles = [f'"{id}"' for id in wanted] if len(wanted) <= FEW else [""]
    with reading(source) as connection:
        found = [one for needle in needles for one in _changes(connection, needle)]
    unique = {one.sequence: one for one in found if wanted & {step.id for step in one.steps}}
    return [unique[sequence] for sequence in sorted(unique)]


def recent(source: Source) -> list[Change]:
    """Every change, oldest first."""
    with reading(source) as connection:
        return _changes(connection, "")


def last(source: Source, ids: Iterable[str] = ()) -> Change | None:
    """The newest change that still stands, of these rows or of all; undoing is no such change."""
    wanted = list(ids)
    with reading(source) as connection:
        found = of(connection, wanted) if wanted else recent(connection)
    standing = _standing(found)
    return standing[-1] if standing else None


def at(source: Source, letter: str, moment: str) -> dict[str, dict[str, Value]]:
    """By row (of the kind `letter`), the columns that were otherwise at a moment, as they were."""
    until, then = instant(moment), dict[str, dict[str, Value]]()
    for one in recent(source):
        if one.at <= until:
            continue
        for step in one.steps:
            if step.id[0] == letter:
                then.setdefault(step.id, {}).setdefault(step.column, step.before)
    return then


def undo(connection: Connection, change: Change, *, at: str) -> Change:
    """Take a change back, with those made together with it.

    What is as it was before stays so. Raises `UsageError` where a later change stands on it, and
    `NotFoundError` where nothing of it is left.
    """
    together = [one for one in _standing(recent(connection)) if one.root == change.root]
    made: list[Step] = []
    for one in reversed(together):
        back = [
            Step(step.id, step.column, step.after, step.before)
            for step in reversed(one.steps)
            if _exists(connection, step.id) and not _was(connection, step)
        ]
        changes_ = make(connection, one.what, "undone", back, at=at, undoes=one.sequence)
        if changes_ is not None:
            made += back
    if not made:
        raise NotFoundError("there is nothing left to undo", hint="what it was about is gone")
    return Change(change.sequence, change.what, "undone", at, tuple(made), None, change.root)


def _standing(found: Sequence[Change]) -> list[Change]:
    undone = {one.undoes for one in found}
    return [one for one in found if one.undoes is None and one.sequence not in undone]


def _was(connection: Connection, step: Step) -> bool:
    """Whether a row says what it said before a step; it must else say what the step made of it."""
    now = _get(connection, step.id, step.column)
    if now not in (step.before, step.after):
        raise UsageError(
            f"{step.id} was changed again since",
            hint="`lila memory why` names its changes; undo the later one first",
        )
    return now == step.before


def party(source: Source, id: str) -> set[str]:
    """Every fact that was ever found to contradict this one, and itself.

    By the subject of the change, which is an index: a turn asks this of what it recalls.
    """
    with reading(source) as connection:
        rows = connection.execute(
            "select p.body from events e join payloads p using (sequence) "
            "where e.subject = ? and e.kind = ?",
            (id, KIND),
        )
        return {id, *(one for (body,) in rows for one in json.loads(body).get("party", ()))}


def payloads(connection: Connection, ids: Iterable[str]) -> list[int]:
    """Sequences of the changes that name one of these rows, for a forgetting."""
    return [one.sequence for one in of(connection, ids)]


def _changes(connection: Connection, needle: str) -> list[Change]:
    # By session and kind, which is an index; the text narrows it before JSON is read.
    rows = connection.execute(
        "select e.sequence, e.at, p.body from events e join payloads p using (sequence) "
        "where e.session_id is null and e.kind = ? and instr(cast(p.body as text), ?) "
        "order by e.sequence",
        (KIND, needle),
    )
    return [_change(*row) for row in rows]


def _change(sequence: int, at: str, body: str) -> Change:
    held = json.loads(body)
    steps_ = tuple(Step(*one) for one in held["steps"])
    return Change(
        *(sequence, held["what"], held["why"], at, steps_, held.get("undoes")),
        held.get("joins", sequence),
    )


def _relate(connection: Connection, step: Step, at: str, ends: str | None) -> None:
    """A relation keeps its own history: how it was is in its own events."""
    if step.after == "closed":
        relations.close(connection, step.id, at=at, valid_to=midnight(ends))
        return
    if step.before == "closed":
        relations.reopen(connection, step.id, at=at)
    relations.mark(
        connection, step.id, "conflict" if step.after == "conflict" else "current", at=at
    )


def midnight(day: str | None) -> str | None:
    """The instant at which relations let a day begin: they know no zones."""
    return None if day is None else f"{day[:10]}T00:00:00+00:00"


def _set(connection: Connection, id: str, column: str, value: Value) -> None:
    table, row = _place(id, column)
    connection.execute(f"update {table} set {column} = ? where id = ?", (_stored(value), row))


def _get(connection: Connection, id: str, column: str) -> Value:
    table, row = _place(id, column)
    found = connection.execute(f"select {column} from {table} where id = ?", (row,)).fetchone()
    if found is None:
        raise NotFoundError(f"there is no {id}", hint="`lila memory list` shows what there is")
    if column in ("superseded_by", "memory_id") and found[0] is not None:
        return f"{'m' if column == 'memory_id' or id[0] == 'm' else 'f'}{found[0]}"
    value: Value = found[0]
    return value


def _exists(connection: Connection, id: str) -> bool:
    table, row = _place(id, _COLUMNS[id[0]][0])
    query = f"select 1 from {table} where id = ?"
    return connection.execute(query, (row,)).fetchone() is not None


def _place(id: str, column: str) -> tuple[str, int]:
    letter = id[:1]
    if column not in _COLUMNS.get(letter, ()):
        raise RuntimeError(f"{column} of {id} is not for changes")
    return _TABLES[letter], number(id, letter)


def _stored(value: Value) -> Value:
    """An id is kept as its row's number; no other value looks like one."""
    if isinstance(value, str) and value[:1] in ("f", "m") and value[1:].isdecimal():
        return int(value[1:])
    return value

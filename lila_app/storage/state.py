"""What stands in a session: goals, working notes and what is open now.

A goal without a session stands in every session of the profile. Setting or finishing a goal
changes what lies above the breakpoints, so it is logged as a `prefix_break` too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from lila_app.errors import NotFoundError
from lila_app.storage import events, lineage
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, optional_id, storable

NoteKind = Literal["note", "open"]


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A goal; `status` is "active" or "done", `session_id` None means the whole profile."""

    id: str
    text: str
    session_id: str | None
    status: str
    at: str
    digest: str


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A working note or an open thing of one session."""

    id: str
    kind: str
    text: str
    session_id: str
    at: str
    touched_at: str
    digest: str


def set_goal(source: Source, text: str, *, session_id: str | None = None, at: str) -> GoalRow:
    """Pin a goal, for one session or (None) for all."""
    with writing(source) as connection:
        session = None if session_id is None else lineage.require(connection, session_id)
        goal = insert_goal(connection, text, session=session, status="active", at=instant(at))
        _break(connection, goal, "goal set", at)
        return goal


def list_goals(
    source: Source, session_id: str | None = None, *, include_done: bool = False
) -> list[GoalRow]:
    """Goals of the profile and, if given, of this session; by id."""
    with reading(source) as connection:
        session = None if session_id is None else lineage.require(connection, session_id)
        rows = connection.execute(
            "select id, text, session_id, status, at, digest from goals "
            "where (session_id is null or session_id = ?) and (? or status = 'active') order by id",
            (session, include_done),
        ).fetchall()
        return [_goal(row) for row in rows]


def finish_goal(source: Source, id: str, *, at: str) -> GoalRow:
    """Mark a goal as done; doing it twice changes nothing."""
    with writing(source) as connection:
        goal = get_goal(connection, id)
        if goal.status == "done":
            return goal
        events.append(
            connection, "goal_done", subject=id, session_id=goal.session_id, at=at, body={}
        )
        connection.execute("update goals set status = 'done' where id = ?", (number(id, "g"),))
        _break(connection, goal, "goal done", at)
        return get_goal(connection, id)


def get_goal(source: Source, id: str) -> GoalRow:
    """One goal."""
    with reading(source) as connection:
        row = connection.execute(
            "select id, text, session_id, status, at, digest from goals where id = ?",
            (number(id, "g"),),
        ).fetchone()
    if row is None:
        raise NotFoundError(f"there is no goal {id}", hint="`lila goal list` shows them")
    return _goal(row)


def add_note(
    source: Source, text: str, *, session_id: str, at: str, kind: NoteKind = "note"
) -> NoteRow:
    """Keep a working note ("note") or what is open now ("open") in a session."""
    at = instant(at)
    with writing(source) as connection:
        session = lineage.require(connection, session_id)
        return insert_note(connection, text, kind=kind, session=session, at=at, touched_at=at)


def list_notes(source: Source, session_id: str, *, now: str, idle_minutes: int) -> list[NoteRow]:
    """Notes and open things of one session that were touched in the last `idle_minutes`; by id."""
    since = datetime.fromisoformat(instant(now)) - timedelta(minutes=idle_minutes)
    with reading(source) as connection:
        rows = connection.execute(
            "select id, kind, text, session_id, at, touched_at, digest from notes "
            "where session_id = ? and touched_at >= ? order by id",
            (lineage.require(connection, session_id), since.isoformat()),
        ).fetchall()
    return [_note(row) for row in rows]


def touch(source: Source, id: str, *, at: str) -> NoteRow:
    """Say that a note is still in use, so that it does not expire."""
    with writing(source) as connection:
        row = connection.execute(
            "update notes set touched_at = max(touched_at, ?) where id = ? "
            "returning id, kind, text, session_id, at, touched_at, digest",
            (instant(at), number(id, "n")),
        ).fetchone()
        if row is None:
            raise NotFoundError(f"there is no note {id}", hint="it may have been forgotten")
        return _note(row)


def insert_goal(
    connection: Connection, text: str, *, session: int | None, status: str, at: str
) -> GoalRow:
    """Add the row and its event; for this room only."""
    goal: int = connection.execute(
        "insert into goals (session_id, text, status, at, digest) values (?, ?, ?, ?, '') "
        "returning id",
        (session, storable(text), status, at),
    ).fetchone()[0]
    event = events.append(
        connection,
        "goal_set",
        subject=f"g{goal}",
        session_id=optional_id("s", session),
        at=at,
        body={"text": text, "status": status},
    )
    connection.execute("update goals set digest = ? where id = ?", (event.digest, goal))
    return GoalRow(f"g{goal}", text, optional_id("s", session), status, at, event.digest)


def insert_note(
    connection: Connection, text: str, *, kind: str, session: int, at: str, touched_at: str
) -> NoteRow:
    """Add the row and its event; for this room only."""
    note: int = connection.execute(
        "insert into notes (session_id, kind, text, at, touched_at, digest) "
        "values (?, ?, ?, ?, ?, '') returning id",
        (session, kind, storable(text), at, touched_at),
    ).fetchone()[0]
    event = events.append(
        connection,
        "note_added",
        subject=f"n{note}",
        session_id=f"s{session}",
        at=at,
        body={"kind": kind, "text": text},
    )
    connection.execute("update notes set digest = ? where id = ?", (event.digest, note))
    return NoteRow(f"n{note}", kind, text, f"s{session}", at, touched_at, event.digest)


def _break(connection: Connection, goal: GoalRow, reason: str, at: str) -> None:
    events.append(
        connection,
        "prefix_break",
        subject=goal.id,
        session_id=goal.session_id,
        at=at,
        body={"reason": reason},
    )


def _goal(row: tuple[Any, ...]) -> GoalRow:
    return GoalRow(f"g{row[0]}", row[1], optional_id("s", row[2]), row[3], row[4], row[5])


def _note(row: tuple[Any, ...]) -> NoteRow:
    return NoteRow(f"n{row[0]}", row[1], row[2], f"s{row[3]}", row[4], row[5], row[6])

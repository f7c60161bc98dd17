"""Sessions: started, listed, forked, named, deleted; and the epochs within one.

A session is named after its first words, or by a model, until the person renames it: then nothing
else names it again. Deleting a session erases what no other session shows. A fork keeps seeing the
turns before its fork point until it is deleted itself, as a second name for a file keeps the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lila_app.errors import NotFoundError
from lila_app.storage import erasure, events, lineage
from lila_app.storage.connection import Source, Store, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, optional_id, storable

if TYPE_CHECKING:
    from lila_app.storage.forget import ForgetReport


NAMINGS = ("session_started", "session_renamed", "session_named")
"""Events that hold a session's title; the second is the person's doing, the third never is."""


@dataclass(frozen=True, slots=True)
class Naming:
    """A title nobody gave; where a model made it, which, and of which turns (else "" and none)."""

    title: str
    made_by: str = ""
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session; `turns` counts every turn it shows, inherited ones too."""

    id: str
    title: str
    use_case: str
    started_at: str
    last_at: str
    turns: int
    forked_from: str | None
    epoch: int


@dataclass(frozen=True, slots=True)
class EpochRow:
    """A stretch of a session with the same limits, tools, policy and persona.

    `body` is what was frozen when it began: ids and numbers, never content. `sequence` is the
    event it began with.
    """

    number: int
    sequence: int
    fingerprint: str
    body: Mapping[str, object]
    at: str


def create(source: Source, *, at: str, use_case: str, title: str = "") -> SessionRow:
    """Start a session."""
    with writing(source) as connection:
        session = _insert(connection, instant(at), use_case, storable(title), None, None)
        return _get(connection, session)


def get(source: Source, id: str) -> SessionRow:
    """One session; `NotFoundError` when it does not exist or was deleted."""
    with reading(source) as connection:
        return _get(connection, lineage.require(connection, id))


def list_sessions(source: Source, limit: int = 50) -> list[SessionRow]:
    """Sessions, the last used first."""
    with reading(source) as connection:
        rows = connection.execute(
            "select id from sessions where deleted = 0 order by last_at desc, id desc limit ?",
            (limit,),
        ).fetchall()
        return [_get(connection, row[0]) for row in rows]


def latest(source: Source) -> SessionRow | None:
    """The session used last, by the person with LILA.

    What was imported is not gone on with unasked, however new it is; once the person said
    something in such a session, it is theirs.
    """
    with reading(source) as connection:
        row = connection.execute(
            "select id from sessions s where deleted = 0 and (not exists "
            "(select 1 from imported_sessions i where i.session_id = s.id) or exists "
            "(select 1 from turns t where t.session_id = s.id and t.source = '')) "
            "order by last_at desc, id desc limit 1"
        ).fetchone()
        return None if row is None else _get(connection, row[0])


def rename(source: Source, id: str, title: str, *, at: str) -> SessionRow:
    """Give a session the title the person wants."""
    with writing(source) as connection:
        session = lineage.require(connection, id)
        events.append(
            connection,
            "session_renamed",
            subject=id,
            session_id=id,
            at=at,
            body={"title": storable(title)},
        )
        connection.execute("update sessions set title = ? where id = ?", (title, session))
        return _get(connection, session)


def renamed(source: Source, id: str) -> bool:
    """Whether the person gave a session its title after it was started."""
    with reading(source) as connection:
        return bool(events.of_subject(connection, id, ("session_renamed",)))


def name(
    source: Source,
    id: str,
    naming: Naming,
    *,
    instead_of: str,
    at: str,
    generation: int | None = None,
) -> bool:
    """Name a session that still has a title nobody gave, and say whether it was done.

    Nothing happens where the person renamed it or its title is no longer `instead_of`. Raises
    NotFoundError, and OvertakenError when something was forgotten since the `generation`.
    """
    with writing(source) as connection:
        session = lineage.require(connection, id)
        erasure.require(connection, generation)
        if renamed(connection, id) or _get(connection, session).title != instead_of:
            return False
        _name(connection, session, naming, at)
        return True


def named_by_models(connection: Connection) -> list[tuple[int, str, Naming]]:
    """(sequence, session, title) of every title a model made, the last it has and earlier ones."""
    rows = connection.execute(
        "select sequence, subject, body from events join payloads using (sequence) "
        "where kind = 'session_named' order by sequence"
    )
    found = [(row[0], row[1], json.loads(row[2])) for row in rows]
    return [
        (sequence, id, Naming(body["title"], body["made_by"], tuple(body["turns"])))
        for sequence, id, body in found
        if body["made_by"]
    ]


def fork(source: Source, id: str, *, at: str, through_turn: str | None = None) -> SessionRow:
    """A new session that shows this one's turns up to and with `through_turn` (default: all).

    Goals and notes of the session are copied as rows of their own: from here on neither session
    sees what the other changes.
    """
    at = instant(at)
    with writing(source) as connection:
        parent = lineage.require(connection, id)
        last = _fork_point(connection, parent, through_turn)
        row = connection.execute(
            "select title, use_case from sessions where id = ?", (parent,)
        ).fetchone()
        session = _insert(connection, at, row[1], row[0], parent, last)
        _copy_naming(connection, parent, session, at)
        _copy_state(connection, parent, session, at)
        return _get(connection, session)


def delete(store: Store, id: str, *, at: str) -> ForgetReport:
    """Erase a session and everything only it shows; see `forget.forget_session`."""
    from lila_app.storage import forget  # the other way round it imports this module

    return forget.forget_session(store, id, at=at)


def enter_epoch(
    source: Source,
    id: str,
    fingerprint: str,
    *,
    body: Mapping[str, object],
    reason: str = "",
    at: str,
) -> EpochRow:
    """The session's current epoch if its fingerprint is this one, else a new one.

    `body` (ids, numbers and hashes only) is kept when a new epoch begins and ignored otherwise;
    `reason` says in the log why it did.
    """
    at = instant(at)
    with writing(source) as connection:
        session = lineage.require(connection, id)
        current = _epoch(connection, session)
        if current is not None and current.fingerprint == fingerprint:
            return current
        begun = current.number + 1 if current else 1
        event = events.append(
            connection,
            "epoch_began",
            subject=id,
            session_id=id,
            at=at,
            body={"number": begun, "fingerprint": fingerprint, "reason": reason},
        )
        connection.execute(
            "insert into epochs values (?, ?, ?, ?, ?, ?)",
            (session, begun, event.sequence, fingerprint, json.dumps(body, sort_keys=True), at),
        )
        connection.execute("update sessions set epoch = ? where id = ?", (begun, session))
        return EpochRow(begun, event.sequence, fingerprint, body, at)


def current_epoch(source: Source, id: str) -> EpochRow | None:
    """The epoch the session is in, None before its first."""
    with reading(source) as connection:
        return _epoch(connection, lineage.require(connection, id))


def _epoch(connection: Connection, session: int) -> EpochRow | None:
    row = connection.execute(
        "select number, sequence, fingerprint, body, at from epochs where session_id = ? "
        "order by number desc limit 1",
        (session,),
    ).fetchone()
    return None if row is None else EpochRow(row[0], row[1], row[2], json.loads(row[3]), row[4])


def _insert(
    connection: Connection,
    at: str,
    use_case: str,
    title: str,
    parent: int | None,
    fork_sequence: int | None,
) -> int:
    session: int = connection.execute(
        "insert into sessions (title, use_case, started_at, last_at, forked_from, fork_sequence) "
        "values (?, ?, ?, ?, ?, ?) returning id",
        (title, use_case, at, at, parent, fork_sequence),
    ).fetchone()[0]
    event = events.append(
        connection,
        "session_started",
        subject=f"s{session}",
        session_id=f"s{session}",
        at=at,
        body={
            "title": title,
            "use_case": use_case,
            "forked_from": optional_id("s", parent),
            "fork_sequence": fork_sequence,
        },
    )
    connection.execute("update sessions set sequence = ? where id = ?", (event.sequence, session))
    return session


def _name(connection: Connection, session: int, naming: Naming, at: str) -> None:
    title = storable(naming.title)
    events.append(
        connection,
        "session_named",
        subject=f"s{session}",
        session_id=f"s{session}",
        at=at,
        body={"title": title, "made_by": naming.made_by, "turns": list(naming.turns)},
    )
    connection.execute("update sessions set title = ? where id = ?", (title, session))


def _copy_naming(connection: Connection, parent: int, session: int, at: str) -> None:
    """Say of a fork too which turns its title was made of: it may outlive the session it is of."""
    title = _get(connection, session).title
    made = [
        naming
        for _, id, naming in named_by_models(connection)
        if id == f"s{parent}" and naming.title == title
    ]
    if made:
        _name(connection, session, made[-1], at)


def _fork_point(connection: Connection, parent: int, through_turn: str | None) -> int:
    condition, values = lineage.visible(connection, parent)
    if through_turn is None:
        last: int | None = connection.execute(
            f"select max(sequence) from turns where {condition}", values
        ).fetchone()[0]
        return last or 0
    row = connection.execute(
        f"select sequence from turns where id = ? and {condition}",
        (number(through_turn, "t"), *values),
    ).fetchone()
    if row is None:
        raise NotFoundError(
            f"session s{parent} has no turn {through_turn}",
            hint=f"`lila sessions show s{parent}` shows its turns",
        )
    sequence: int = row[0]
    return sequence


def _copy_state(connection: Connection, parent: int, session: int, at: str) -> None:
    from lila_app.storage import state  # state needs nothing of sessions but the rows

    for text, status in connection.execute(
        "select text, status from goals where session_id = ? order by id", (parent,)
    ).fetchall():
        state.insert_goal(connection, text, session=session, status=status, at=at)
    for kind, text, touched in connection.execute(
        "select kind, text, touched_at from notes where session_id = ? order by id", (parent,)
    ).fetchall():
        state.insert_note(connection, text, kind=kind, session=session, at=at, touched_at=touched)


def _get(connection: Connection, session: int) -> SessionRow:
    row: tuple[Any, ...] = connection.execute(
        "select id, title, use_case, started_at, last_at, forked_from, epoch from sessions "
        "where id = ?",
        (session,),
    ).fetchone()
    condition, values = lineage.visible(connection, session)
    turns = connection.execute(f"select count(*) from turns where {condition}", values).fetchone()
    return SessionRow(
        id=f"s{row[0]}",
        title=row[1],
        use_case=row[2],
        started_at=row[3],
        last_at=row[4],
        turns=turns[0],
        forked_from=optional_id("s", row[5]),
        epoch=row[6],
    )

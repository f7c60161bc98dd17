"""Turns: what the person said and what LILA answered, each pair one row.

`begin` makes the person's words durable before anything is asked of a model; `finish` adds the
reply. A turn's `sequence` is that of the event that began it: it orders turns over all sessions
and never changes. Where a text was forgotten it reads `[forgotten]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import events, lineage, vectors
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, optional_id, optional_number, storable

FORGOTTEN = "[forgotten]"

COLUMNS = (
    "id, session_id, sequence, use_case, at, user, reply, user_erased, reply_erased, stopped, "
    "record_id, model, digest, external_ids, speaker, source"
)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn; `reply` is None until it is finished, `stopped` marks a partial one.

    `digest` follows from the HMACs of the words and the reply and changes when either does.
    `erased` says that at least one of the two was forgotten. `session_id` is the session the
    turn was spoken in, which for a fork may be an ancestor. `speaker` is who said `user` where it
    was somebody else than the person (an imported conversation), `source` where it came from ("" is
    LILA itself).
    """

    id: str
    session_id: str
    sequence: int
    use_case: str
    at: str
    user: str
    reply: str | None
    stopped: bool
    record_id: str | None
    model: str | None
    digest: str
    external_ids: tuple[str, ...]
    erased: bool
    speaker: str
    source: str


def begin(
    source: Source,
    session_id: str,
    text: str,
    *,
    use_case: str,
    at: str,
    external_id: str = "",
    speaker: str = "",
    origin: str = "",
) -> TurnRow:
    """Store the person's words; they are on the disk when this returns.

    `speaker` and `origin` are a message's that somebody said elsewhere (see `TurnRow`).
    """
    if not text.strip():
        raise UsageError("the message is empty", hint="say something, or stop with Ctrl-D")
    with writing(source) as connection:
        said = _Said(text, use_case, at, external_id, speaker, origin)
        return _begin(connection, session_id, said)


def finish(
    source: Source,
    turn_id: str,
    reply: str,
    *,
    stopped: bool,
    record_id: str | None,
    model: str | None,
    at: str,
    external_id: str = "",
    again: bool = False,
) -> TurnRow:
    """Store the reply to a turn, whole or (`stopped`) what there is of it.

    With `again` it takes the place of a partial one, which the event log keeps. When something in
    the turn's record was forgotten while the model was answering, the reply is stored as
    forgotten: it was made from what must not come back.
    """
    with writing(source) as connection:
        turn = get(connection, turn_id)
        replaces = turn.reply is not None
        if replaces and not (again and turn.stopped):
            raise UsageError(f"turn {turn_id} has a reply already", hint="begin another turn")
        record = optional_number(record_id, "c")
        forgotten = bool(
            connection.execute(
                "select 1 from records where id = ? and erased = 1", (record,)
            ).fetchone()
        )
        event = events.append(
            connection,
            "turn_retried" if replaces else "turn_finished",
            subject=turn_id,
            session_id=turn.session_id,
            at=at,
            body={
                "reply": "" if forgotten else storable(reply),
                "stopped": stopped,
                "record_id": record_id,
                "model": model,
                "external_id": external_id,
            },
        )
        connection.execute(
            "update turns set reply = ?, reply_erased = ?, stopped = ?, record_id = ?, model = ?, "
            "digest = ?, external_ids = ? where id = ?",
            (
                "" if forgotten else reply,
                forgotten,
                stopped,
                record,
                model,
                events.combine(turn.digest, event.digest),
                _external([*turn.external_ids, external_id]),
                number(turn_id, "t"),
            ),
        )
        if replaces:
            vectors.delete_rows(connection, "turns", [number(turn_id, "t")])
        _used(connection, turn.session_id, at)
        return get(connection, turn_id)


def unfinished(source: Source, session_id: str) -> TurnRow:
    """The session's last turn, if it has no reply or a partial one. Raises UsageError else."""
    turn = latest(source, session_id)
    if turn is None or (turn.reply is not None and not turn.stopped):
        raise UsageError(
            f"the last reply of {session_id} is whole, so there is nothing to ask again"
            if turn is not None
            else f"nothing was asked in {session_id} yet",
            hint="say it in your own words",
        )
    if turn.erased:
        raise UsageError(
            f"what the last turn of {session_id} asked or got was forgotten", hint="ask it anew"
        )
    if turn.session_id != session_id:
        raise UsageError(
            f"the last turn of {session_id} was asked in {turn.session_id}, before the fork",
            hint=f"ask it again there, with `--session {turn.session_id}`",
        )
    return turn


def append_message(
    source: Source,
    session_id: str,
    role: Literal["user", "assistant"],
    text: str,
    *,
    at: str,
    external_id: str = "",
    use_case: str = "chat",
    speaker: str = "",
    origin: str = "",
) -> TurnRow:
    """Add one message that no model was asked for: an import, or words spoken elsewhere.

    A user message, and one of a named speaker, begins a turn. An assistant message answers the
    session's last turn if that is unanswered; else it makes a turn of its own with no words of the
    person.
    """
    with writing(source) as connection:
        if role == "user" or speaker:
            return begin(
                connection,
                session_id,
                text,
                use_case=use_case,
                at=at,
                external_id=external_id,
                speaker=speaker,
                origin=origin,
            )
        session = lineage.require(connection, session_id)
        row = connection.execute(
            "select id, reply from turns where session_id = ? order by sequence desc limit 1",
            (session,),
        ).fetchone()
        if row is not None and row[1] is None:
            turn_id = f"t{row[0]}"
        else:
            turn_id = _begin(connection, session_id, _Said("", use_case, at, origin=origin)).id
        return finish(
            connection,
            turn_id,
            text,
            stopped=False,
            record_id=None,
            model=None,
            at=at,
            external_id=external_id,
        )


def heard(source: Source, record_id: str, text: str, *, at: str) -> TurnRow:
    """Replace the reply of the turn this record made by what was really heard of it.

    The event log keeps the whole reply; what later turns see is what the person heard.
    """
    with writing(source) as connection:
        row = connection.execute(
            f"select {COLUMNS} from turns where record_id = ?1 "
            "or id = (select turn_id from records where id = ?1) order by sequence limit 1",
            (number(record_id, "c"),),
        ).fetchone()
        if row is None or row[6] is None:
            raise NotFoundError(
                f"no reply was stored for the record {record_id}",
                hint="`lila sessions show` names the record of each turn",
            )
        turn = as_turn(row)
        if row[8]:
            return turn
        return shorten(connection, turn, text, at=at)


def shorten(connection: Connection, turn: TurnRow, heard: str, *, at: str) -> TurnRow:
    """Put what was heard of a turn's reply in its place; for this room only."""
    event = events.append(
        connection,
        "turn_heard",
        subject=turn.id,
        session_id=turn.session_id,
        at=at,
        body={"reply": storable(heard)},
    )
    row = number(turn.id, "t")
    connection.execute(
        "update turns set reply = ?, stopped = 1, digest = ? where id = ?",
        (heard, events.combine(turn.digest, event.digest), row),
    )
    vectors.delete_rows(connection, "turns", [row])
    return get(connection, turn.id)


def get(source: Source, id: str) -> TurnRow:
    """One turn of a session that was not deleted (or that a fork still shows)."""
    found = by_ids(source, [id])
    if not found:
        raise NotFoundError(f"there is no turn {id}", hint="`lila sessions show` names turns")
    return found[0]


def of_record(source: Source, record_id: str) -> TurnRow | None:
    """The turn whose reply was made with a record's prompt; None where it led to no reply."""
    with reading(source) as connection:
        row = connection.execute(
            f"select {COLUMNS} from turns where record_id = ? order by id limit 1",
            (number(record_id, "c"),),
        ).fetchone()
    return None if row is None else as_turn(row)


def by_ids(source: Source, ids: Iterable[str]) -> list[TurnRow]:
    """The turns of these ids that exist, in the order asked for."""
    wanted = [number(id, "t") for id in ids]
    marks = ", ".join("?" * len(wanted))
    with reading(source) as connection:
        rows = connection.execute(f"select {COLUMNS} from turns where id in ({marks})", wanted)
        found = {row[0]: as_turn(row) for row in rows}
    return [found[one] for one in wanted if one in found]


def window(source: Source, session_id: str, after_sequence: int = 0) -> list[TurnRow]:
    """Turns of the session after a sequence, in order, answered or not; inherited ones too."""
    with reading(source) as connection:
        condition, values = lineage.visible(connection, lineage.require(connection, session_id))
        rows = connection.execute(
            f"select {COLUMNS} from turns where {condition} and sequence > ? order by sequence",
            (*values, after_sequence),
        )
        return [as_turn(row) for row in rows]


def latest(source: Source, session_id: str, before_sequence: int | None = None) -> TurnRow | None:
    """The last turn the session shows, or the last before a sequence."""
    with reading(source) as connection:
        condition, values = lineage.visible(connection, lineage.require(connection, session_id))
        row = connection.execute(
            f"select {COLUMNS} from turns where {condition} and sequence < ? "
            "order by sequence desc limit 1",
            (*values, lineage.EVERYTHING if before_sequence is None else before_sequence),
        ).fetchone()
        return None if row is None else as_turn(row)


def as_turn(row: Sequence[Any]) -> TurnRow:
    """A row of `COLUMNS` as it is shown."""
    reply: str | None = row[6]
    return TurnRow(
        id=f"t{row[0]}",
        session_id=f"s{row[1]}",
        sequence=row[2],
        use_case=row[3],
        at=row[4],
        user=_text(row[5], row[7]),
        reply=None if reply is None else _text(reply, row[8]),
        stopped=bool(row[9]),
        record_id=optional_id("c", row[10]),
        model=row[11],
        digest=row[12],
        external_ids=tuple(json.loads(row[13])),
        erased=bool(row[7] or row[8]),
        speaker=row[14],
        source=row[15],
    )


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    use_case: str
    at: str
    external_id: str = ""
    speaker: str = ""
    origin: str = ""


def _begin(connection: Connection, session_id: str, said: _Said) -> TurnRow:
    session = lineage.require(connection, session_id)
    turn = _next_id(connection)
    body = {
        "text": storable(said.text),
        "use_case": said.use_case,
        "external_id": said.external_id,
    }
    # Only where there is one: what LILA heard itself is written as it always was.
    body |= {"speaker": storable(said.speaker)} if said.speaker else {}
    body |= {"source": said.origin} if said.origin else {}
    event = events.append(
        connection,
        "turn_began",
        subject=f"t{turn}",
        session_id=session_id,
        at=said.at,
        body=body,
    )
    connection.execute(
        "insert into turns (id, session_id, sequence, use_case, at, user, digest, external_ids, "
        "speaker, source) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            turn,
            session,
            event.sequence,
            said.use_case,
            event.at,
            said.text,
            event.digest,
            _external([said.external_id]),
            storable(said.speaker),
            said.origin,
        ),
    )
    _used(connection, session_id, event.at)
    return get(connection, f"t{turn}")


def _next_id(connection: Connection) -> int:
    # The event names the turn and the turn the event; AUTOINCREMENT's own counter breaks the tie.
    row = connection.execute("select seq from sqlite_sequence where name = 'turns'").fetchone()
    return (row[0] if row else 0) + 1


def _used(connection: Connection, session_id: str, at: str) -> None:
    connection.execute(
        "update sessions set last_at = max(last_at, ?) where id = ?",
        (instant(at), number(session_id, "s")),
    )


def _external(ids: Sequence[str]) -> str:
    return json.dumps([id for id in ids if id])


def _text(text: str, erased: int) -> str:
    return FORGOTTEN if erased else text

"""Messages said elsewhere, many in one transaction: what `turns.append_message` does one by one.

The rows and the event log come out the same (a test compares them); what differs is that a turn
whose reply comes in the same batch is inserted whole, so that its words enter the full-text index
once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lila_app.storage import events, vectors
from lila_app.storage.driver import Connection
from lila_app.storage.values import number, storable

Side = Literal["user", "reply"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `at` is as the store keeps it, `speaker` is "" for the person."""

    session_id: str
    role: Literal["user", "assistant"]
    text: str
    at: str
    external_id: str = ""
    speaker: str = ""


@dataclass(slots=True)
class _Turn:
    """A turn being put together; `stored` marks one that is a row already."""

    id: int
    session_id: str
    at: str
    user: str = ""
    reply: str | None = None
    speaker: str = ""
    external_ids: list[str] = field(default_factory=list[str])
    digest: str = ""
    sequence: int = 0
    stored: bool = False


@dataclass(slots=True)
class _Batch:
    origin: str
    entries: list[events.Entry] = field(default_factory=list[events.Entry])
    owners: list[_Turn] = field(default_factory=list[_Turn])
    """The turn of each entry."""
    turns: list[_Turn] = field(default_factory=list[_Turn])
    latest: dict[str, _Turn | None] = field(default_factory=dict[str, "_Turn | None"])
    """The last turn of each session met so far."""


def append_messages(
    connection: Connection, messages: Sequence[Message], *, origin: str, learn: bool = True
) -> list[tuple[str, Side]]:
    """Add messages in order; the turn of each, and which side of it.

    A message of the person or of a named speaker begins a turn; one of an assistant answers the
    last turn of its session if that came from elsewhere too and is unanswered, else it makes a
    turn without words of the person. `origin` says where they came from. Without `learn` nothing
    is learned from them.
    """
    batch = _Batch(origin)
    placed = [_place(connection, batch, message) for message in messages]
    made = events.append_all(connection, batch.entries)
    for turn, (sequence, digest) in zip(batch.owners, made, strict=True):
        turn.sequence = turn.sequence or sequence
        turn.digest = events.combine(turn.digest, digest) if turn.digest else digest
    _insert(connection, batch, learn)
    _answer(connection, [turn for turn in batch.turns if turn.stored])
    _touch(connection, messages)
    return placed


def _place(connection: Connection, batch: _Batch, message: Message) -> tuple[str, Side]:
    text = storable(message.text)
    if message.role == "user" or message.speaker:
        turn = _begin(connection, batch, message, text)
        return f"t{turn.id}", "user"
    turn = _latest(connection, batch, message.session_id)
    if turn is None or turn.reply is not None:
        turn = _begin(connection, batch, message, "")
    turn.reply = text
    if message.external_id:
        turn.external_ids.append(message.external_id)
    body: dict[str, object] = {
        "reply": text,
        "stopped": False,
        "record_id": None,
        "model": None,
        "external_id": message.external_id,
    }
    _log(batch, turn, "turn_finished", message.at, body)
    return f"t{turn.id}", "reply"


def _begin(connection: Connection, batch: _Batch, message: Message, text: str) -> _Turn:
    own = bool(text)
    turn = _Turn(
        _next(connection, batch),
        message.session_id,
        message.at,
        text,
        speaker=storable(message.speaker) if own else "",
        external_ids=[message.external_id] if own and message.external_id else [],
    )
    body: dict[str, object] = {
        "text": text,
        "use_case": "chat",
        "external_id": message.external_id if own else "",
    }
    body |= {"speaker": turn.speaker} if turn.speaker else {}
    body |= {"source": batch.origin} if batch.origin else {}
    batch.turns.append(turn)
    batch.latest[message.session_id] = turn
    _log(batch, turn, "turn_began", message.at, body)
    return turn


def _log(batch: _Batch, turn: _Turn, kind: str, at: str, body: dict[str, object]) -> None:
    batch.entries.append(events.Entry(kind, f"t{turn.id}", turn.session_id, at, body))
    batch.owners.append(turn)


def _next(connection: Connection, batch: _Batch) -> int:
    for turn in reversed(batch.turns):
        if not turn.stored:
            return turn.id + 1
    row = connection.execute("select seq from sqlite_sequence where name = 'turns'").fetchone()
    return (row[0] if row else 0) + 1


def _latest(connection: Connection, batch: _Batch, session_id: str) -> _Turn | None:
    if session_id not in batch.latest:
        row = connection.execute(
            "select id, sequence, at, reply, digest, external_ids, user_erased from turns "
            "where session_id = ? and source != '' order by sequence desc limit 1",
            (number(session_id, "s"),),
        ).fetchone()
        turn = None
        if row is not None and not row[6]:
            ids = list[str](json.loads(row[5]))
            turn = _Turn(row[0], session_id, row[2], "", row[3], "", ids, row[4], row[1], True)
            if row[3] is None:
                batch.turns.append(turn)
        batch.latest[session_id] = turn
    return batch.latest[session_id]


def _insert(connection: Connection, batch: _Batch, learn: bool) -> None:
    connection.executemany(
        "insert into turns (id, session_id, sequence, use_case, at, user, reply, digest, "
        "external_ids, speaker, source, learned) values (?, ?, ?, 'chat', ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                turn.id,
                number(turn.session_id, "s"),
                turn.sequence,
                turn.at,
                turn.user,
                turn.reply,
                turn.digest,
                json.dumps(turn.external_ids),
                turn.speaker,
                batch.origin,
                0 if learn else 1,
            )
            for turn in batch.turns
            if not turn.stored
        ],
    )


def _answer(connection: Connection, answered: Sequence[_Turn]) -> None:
    """Turns of earlier batches whose reply came now; a vector of the words alone goes."""
    for turn in answered:
        if turn.reply is not None:
            connection.execute(
                "update turns set reply = ?, digest = ?, external_ids = ? where id = ?",
                (turn.reply, turn.digest, json.dumps(turn.external_ids), turn.id),
            )
            vectors.delete_rows(connection, "turns", [turn.id])


def _touch(connection: Connection, messages: Sequence[Message]) -> None:
    used: dict[str, str] = {}
    for message in messages:
        used[message.session_id] = max(used.get(message.session_id, ""), message.at)
    connection.executemany(
        "update sessions set last_at = max(last_at, ?) where id = ?",
        [(at, number(id, "s")) for id, at in used.items()],
    )

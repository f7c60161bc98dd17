"""Spoken turns, whose words may still change: somebody who was thought to be done goes on speaking.

Such a turn is *open*: it is a turn like any other, but nothing is learned from it until it is
settled. Revising it puts other words in the place of those before. It keeps its id and its place;
the event log keeps the earlier words, and what was answered to them, at most as long as the turn's
own: whatever erases those erases these, and what only they tell is forgotten without the turn's own
(`storage.sweep`).
"""

from __future__ import annotations

from lila_app.errors import UsageError
from lila_app.storage import erasure, events, turns, vectors
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.sweep import Sweep
from lila_app.storage.turns import TurnRow
from lila_app.storage.values import instant, number, storable

OPEN = 3
"""The mark of an open turn in `turns.learned`: what looks for turns to learn from asks for 0."""


def begin(source: Source, session_id: str, text: str, *, use_case: str, at: str) -> TurnRow:
    """Store what the person has said so far as an open turn; on the disk when this returns."""
    with writing(source) as connection:
        turn = turns.begin(connection, session_id, text, use_case=use_case, at=at)
        connection.execute(
            "update turns set learned = ? where id = ?", (OPEN, number(turn.id, "t"))
        )
        return turn


def revise(source: Source, turn_id: str, text: str, *, at: str) -> TurnRow:
    """Put other words in the place of an open turn's; it is unanswered again.

    A session that is named after the earlier words is not renamed here. Raises UsageError for a
    turn that was settled, and where something of it was forgotten.
    """
    if not text.strip():
        raise UsageError("the message is empty", hint="withdraw the turn instead")
    with writing(source) as connection:
        turn = _open(connection, turn_id)
        event = events.append(
            connection,
            "turn_revised",
            subject=turn_id,
            session_id=turn.session_id,
            at=at,
            body={"text": storable(text)},
        )
        row = number(turn_id, "t")
        connection.execute(
            "update turns set user = ?, reply = null, reply_erased = 0, stopped = 0, "
            "record_id = null, model = null, digest = ? where id = ?",
            (text, events.combine(turn.digest, event.digest), row),
        )
        vectors.delete_rows(connection, "turns", [row])
        erasure.bump(connection)  # a vector of the earlier words may be under way
        return turns.get(connection, turn_id)


def settle(source: Source, turn_id: str) -> None:
    """Say that an open turn's words are final: they may be learned from. Else nothing happens."""
    with writing(source) as connection:
        connection.execute(
            "update turns set learned = 0 where id = ? and learned = ?",
            (number(turn_id, "t"), OPEN),
        )


def unsettled(source: Source, session_id: str) -> bool:
    """Whether a session has a turn whose words may still change."""
    with reading(source) as connection:
        row = connection.execute(
            "select 1 from turns where session_id = ? and learned = ? limit 1",
            (number(session_id, "s"), OPEN),
        ).fetchone()
        return row is not None


def settle_before(source: Source, at: str) -> int:
    """Settle every open turn that began before a time; returns how many.

    A process that was killed leaves one. Of a conversation that goes on, in another process, one
    may be settled while its reply is heard or nobody says anything, which changes nothing: words
    are revised within seconds.
    """
    with writing(source) as connection:
        return connection.execute(
            "update turns set learned = 0 where learned = ? and at < ?", (OPEN, instant(at))
        ).rowcount


def heard(source: Source, turn_id: str, text: str, *, at: str) -> TurnRow:
    """Put what was heard of a reply in its place and mark it as stopped; "" is none of it.

    Where nothing of the reply was stored yet, this stores what was heard.
    """
    with writing(source) as connection:
        turn = turns.get(connection, turn_id)
        if turn.reply is None:
            return turns.finish(
                connection, turn_id, text, stopped=True, record_id=None, model=None, at=at
            )
        return turns.shorten(connection, turn, text, at=at)


def withdraw(source: Source, turn_id: str, *, at: str) -> None:
    """Take back an open turn: nobody said that.

    Its words, its replies and the inputs of its records are erased, and so is the name its session
    has from it, as by a forgetting; the file is not rewritten for it.
    """
    with writing(source) as connection:
        turn = _open(connection, turn_id)
        sweep = Sweep(connection, at)
        sweep.title_from(turn.session_id, turn.user)
        sweep.turn_rows([(number(turn_id, "t"), turn.user, turn.reply)])
        sweep.records()
        sweep.finish(scrub=False)


def _open(connection: Connection, turn_id: str) -> TurnRow:
    turn = turns.get(connection, turn_id)
    row = connection.execute(
        "select learned from turns where id = ?", (number(turn_id, "t"),)
    ).fetchone()
    if row[0] != OPEN or turn.erased:
        raise UsageError(
            f"the words of {turn_id} are final, or something of it was forgotten",
            hint="say it anew: that is a turn of its own",
        )
    return turn

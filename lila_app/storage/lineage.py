"""Which turns a session shows: its own, and its ancestors' up to where it was forked.

A fork copies nothing. It sees the ancestor's rows themselves, so ids, bytes and prefix hashes up
to the fork point stay what they were.
"""

from __future__ import annotations

from lila_app.errors import NotFoundError
from lila_app.storage.driver import Connection
from lila_app.storage.values import number

EVERYTHING = 2**62


def require(connection: Connection, session_id: str) -> int:
    """The row number of a session that exists and was not deleted."""
    session = number(session_id, "s")
    row = connection.execute(
        "select 1 from sessions where id = ? and deleted = 0", (session,)
    ).fetchone()
    if row is None:
        raise NotFoundError(
            f"there is no session {session_id}", hint="`lila sessions list` shows them"
        )
    return session


def segments(connection: Connection, session: int) -> list[tuple[int, int]]:
    """(session, last visible sequence) for a session and its ancestors, nearest first."""
    found: list[tuple[int, int]] = []
    last = EVERYTHING
    current: int | None = session
    while current is not None:
        found.append((current, last))
        row = connection.execute(
            "select forked_from, fork_sequence from sessions where id = ?", (current,)
        ).fetchone()
        current = row[0] if row else None
        if row and row[1] is not None:
            last = min(last, row[1])
    return found


def visible(connection: Connection, session: int) -> tuple[str, list[int]]:
    """An SQL condition with its parameters that holds for the turns this session shows."""
    parts = segments(connection, session)
    condition = " or ".join("(session_id = ? and sequence <= ?)" for _ in parts)
    return f"({condition})", [value for part in parts for value in part]


def inherited_turns(connection: Connection) -> set[int]:
    """Turns that some session shows without having spoken them."""
    found: set[int] = set()
    for session in _living_forks(connection):
        condition, values = visible(connection, session)
        found |= {
            row[0]
            for row in connection.execute(
                f"select id from turns where {condition} and session_id != ?", (*values, session)
            )
        }
    return found


def inherited_cuts(connection: Connection) -> set[int]:
    """Cuts of ancestors that some session lives with."""
    found: set[int] = set()
    for session in _living_forks(connection):
        for ancestor, last, before in cut_segments(connection, session)[1:]:
            rows = connection.execute(
                "select id from cuts where session_id = ? and upto_sequence <= ? and sequence < ?",
                (ancestor, last, before),
            )
            found |= {row[0] for row in rows}
    return found


def cut_segments(connection: Connection, session: int) -> list[tuple[int, int, int]]:
    """`segments`, each with the event before which an ancestor's cut must have been made."""
    found: list[tuple[int, int, int]] = []
    before = EVERYTHING
    for one, last in segments(connection, session):
        found.append((one, last, before))
        started: int = connection.execute(
            "select sequence from sessions where id = ?", (one,)
        ).fetchone()[0]
        before = min(before, started)
    return found


def _living_forks(connection: Connection) -> list[int]:
    rows = connection.execute(
        "select id from sessions where deleted = 0 and forked_from is not null"
    )
    return [row[0] for row in rows]

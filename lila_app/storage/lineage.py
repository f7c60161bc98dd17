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


def visible(connection: Connection, session: int, prefix: str = "") -> tuple[str, list[int]]:
    """An SQL condition with its parameters that holds for the turns this session shows.

    `prefix` qualifies the columns, for example "t.".
    """
    parts = segments(connection, session)
    condition = " or ".join(f"({prefix}session_id = ? and {prefix}sequence <= ?)" for _ in parts)
    return f"({condition})", [value for part in parts for value in part]

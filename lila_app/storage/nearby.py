"""Turns as a search looks at them: the words alone, and what stands next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.storage import lineage
from lila_app.storage.connection import Store


@dataclass(frozen=True, slots=True)
class Message:
    """A turn by row number: who said what, in which session, when (ISO 8601 in UTC)."""

    row: int
    session: int
    at: str
    speaker: str
    user: str
    reply: str


def read(store: Store, rows: Sequence[int]) -> list[Message]:
    """The turns of these row numbers of which nothing was forgotten, by row number.

    A third of the time that whole rows take, and a search looks at hundreds.
    """
    marks = ", ".join("?" * len(rows))
    with store.read() as connection:
        found = connection.execute(
            "select id, session_id, at, speaker, user, coalesce(reply, '') from turns "
            f"where id in ({marks}) and user_erased = 0 and reply_erased = 0 order by id",
            list(rows),
        )
        return [Message(*row) for row in found]


def around(
    store: Store, rows: Sequence[int], reach: int, *, exclude_session: str | None = None
) -> list[int]:
    """Row numbers of turns within `reach` rows of these in the same session, these left out.

    Row numbers are given in the order in which turns begin. Where two sessions take turns with
    each other, a turn has fewer neighbours, never a stranger. `exclude_session` leaves out the
    turns that session shows.
    """
    held = set(rows)
    steps = range(-reach, reach + 1)
    wanted = sorted({row + step for row in rows for step in steps if row + step > 0})
    marks = ", ".join("?" * len(wanted))
    condition, values = "false", list[int]()
    with store.read() as connection:
        if exclude_session is not None:
            session = lineage.require(connection, exclude_session)
            condition, values = lineage.visible(connection, session)
        found = connection.execute(
            f"select id, session_id, {condition} from turns where id in ({marks}) order by id",
            (*values, *wanted),
        ).fetchall()
    sessions: dict[int, int] = {row[0]: row[1] for row in found}
    near = [row[0] for row in found if row[0] not in held and not row[2]]
    return [
        row
        for row in near
        if any(row + s in held and sessions.get(row + s) == sessions[row] for s in steps)
    ]

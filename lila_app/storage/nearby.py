"""Turns that stand next to others in the same session: what was said just before and after."""

from __future__ import annotations

from collections.abc import Sequence

from lila_app.storage import lineage
from lila_app.storage.connection import Store


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

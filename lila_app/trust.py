"""Whether a prompt holds words that are neither the person's nor LILA's own.

A document, an imported conversation or a page that is open may say "remember this", and a model may
obey. So nothing is written without asking in a turn whose prompt or tool results hold such words,
nor in a session that holds replies made from them: a reply can carry what a document said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lila_app.storage import calls, turns
from lila_app.storage.connection import Source, Store
from lila_app.storage.driver import Connection

_OURS = frozenset("mtrg")
"""First letters of ids that may be the person's own: memories, turns, relations, goals. Whatever
else is in a prompt (passages, notes on what is open) was written elsewhere."""

_ID = re.compile(r"([a-z])(\d+)")
_HOPS = 3
"""From a relation over its fact or memory to the turn it was said in."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a model has read in a turn: a session, the prompt on record, what tools showed."""

    session_id: str
    record_id: str
    shown: tuple[str, ...]


def outside(store: Store, read: Read) -> bool:
    """Whether anything in it was written by others, as far as it is known."""
    with store.read() as connection:
        held = [
            row[0]
            for row in connection.execute(
                "select item_id from record_items where record_id = ? and included = 1",
                (int(read.record_id[1:]),),
            )
        ]
        # The summary tells turns the window does not show.
        session = turns.window(connection, read.session_id)
        if any(row.source or row.speaker for row in session):
            return True
        ids = [row.id for row in session]
        return (
            _foreign(connection, {*held, *read.shown, *ids})
            or _made_from_others(connection, ids)
            or any(_foreign(connection, row) for row in _returned(connection, ids))
        )


def _foreign(connection: Connection, ids: Iterable[str]) -> bool:
    """Whether one of these is not the person's own, or was learnt from what was not."""
    waiting = set(ids)
    for _ in range(_HOPS):
        if any(id[:1] not in _OURS | {"f"} for id in waiting):
            return True
        told = {id for id in waiting if id[:1] == "t"}
        if any(row.source or row.speaker for row in turns.by_ids(connection, sorted(told))):
            return True
        waiting = {one for id in waiting - told for one in _sources(connection, id)}
    return False


def _sources(connection: Connection, id: str) -> list[str]:
    """What a memory, fact or relation is from, by id."""
    found = _ID.fullmatch(id)
    if found is None:
        return []
    query = _WHERE_FROM.get(found[1])
    rows = connection.execute(query, (int(found[2]),)) if query else ()
    return [one for row in rows for one in row if one and _ID.fullmatch(one)]


_WHERE_FROM = {
    "m": "select 't' || m.source_turn, 'f' || f.id from memories m "
    "left join facts f on f.memory_id = m.id where m.id = ?",
    "f": "select 't' || source_turn, null from facts where id = ?",
    "r": "select source, 'f' || fact_id from relations where id = ?",
}


def _made_from_others(connection: Connection, ids: Sequence[str]) -> bool:
    """Whether a turn of these was answered with a passage or a note in view."""
    if not ids:
        return False
    marks = ", ".join("?" * len(ids))
    row = connection.execute(
        "select 1 from record_items i join records r on r.id = i.record_id "
        f"where r.turn_id in ({marks}) and i.included = 1 "
        "and substr(i.item_id, 1, 1) not in ('m', 't', 'r', 'g', 'f') limit 1",
        [int(id[1:]) for id in ids],
    ).fetchone()
    return row is not None


def _returned(source: Source, ids: Sequence[str]) -> list[tuple[str, ...]]:
    """What tools showed in turns."""
    return [row.returned.items for row in calls.of_turns(source, ids) if row.returned is not None]

"""Entities that are one: found so by spelling or by hand, and taken back without a trace.

Merging rewrites nothing. A row says that one entity is gone into another; relations stay with the
entity they were made about, and whoever reads follows the rows. So taking a merge back restores
exactly what was. What was learnt in between was learnt about the one that was kept, and stays
with it. Splitting is the other way round: some relations of an entity are really about somebody
else of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import entities, events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.entities import EntityRow, get_entity
from lila_app.storage.naming import key
from lila_app.storage.values import instant, number, optional_id

LETTER = "x"
"""Of a merge's id ("x3")."""

BY_HAND = "by hand"


@dataclass(frozen=True, slots=True)
class MergeRow:
    """`gone` is the entity that was taken for `kept`; `names` are those two, as they were added.

    `undone_at` is when that was taken back, None while it holds.
    """

    id: str
    kept: str
    gone: str
    names: tuple[str, str]
    why: str
    at: str
    undone_at: str | None


@dataclass(frozen=True, slots=True)
class Joined:
    """A merge, and the entity as it now is."""

    merge: MergeRow
    entity: EntityRow


@dataclass(frozen=True, slots=True)
class Parted:
    """Both sides after a merge was taken back; `later` relations stayed with the kept one."""

    merge: MergeRow
    kept: EntityRow
    gone: EntityRow
    later: tuple[str, ...]


def merge(store: Source, kept: str, gone: str, *, why: str = BY_HAND, at: str) -> Joined:
    """Take the entity `gone` for the entity `kept` (both by id). Raises UsageError for one."""
    at = instant(at)
    with writing(store) as connection:
        one = number(get_entity(connection, kept).id, "e")
        other = number(get_entity(connection, gone).id, "e")
        if one == other:
            raise UsageError(
                f"{kept} and {gone} already are one", hint="`lila graph aliases` shows who is who"
            )
        row = entities.join(connection, one, other, why=why, at=at)
        return Joined(_get(connection, row), get_entity(connection, f"e{one}"))


def unmerge(store: Source, id: str, *, at: str) -> Parted:
    """Take a merge back: two entities again, each with what was said of it before.

    Relations made since stay with the kept one, because only its name stood for both.
    """
    at = instant(at)
    with writing(store) as connection:
        found = _get(connection, number(id, LETTER))
        if found.undone_at is not None:
            raise UsageError(f"{id} was taken back already", hint="`lila graph aliases` shows it")
        row = number(id, LETTER)
        later = _made_since(connection, number(found.kept, "e"), id)
        connection.execute("update merges set undone_at = ? where id = ?", (at, row))
        body = {"merge": id, "kept": found.kept, "gone": found.gone}
        events.append(
            connection, "entities_parted", subject=found.kept, session_id=None, at=at, body=body
        )
        entities.bump(connection)
        return Parted(
            _get(connection, row),
            get_entity(connection, found.kept),
            get_entity(connection, found.gone),
            later,
        )


def split(store: Source, id: str, name: str, relations: Sequence[str], *, at: str) -> EntityRow:
    """Give some relations of an entity to another one of a distinguished name ("Alex (work)").

    The two are told apart for good: neither rule nor suggestion makes them one. Raises UsageError
    for a relation that is not the entity's, and for a name that already is its own.
    """
    at = instant(at)
    name = entities.named(name, "entity")
    with writing(store) as connection:
        whole = get_entity(connection, id)
        known = connection.execute("select id from entities where key = ?", (key(name),)).fetchone()
        new = (
            get_entity(connection, f"e{known[0]}") if known else entities.make(connection, name, at)
        )
        if new.id == whole.id:
            raise UsageError(
                f"{name} is {whole.name} already",
                hint='give a name that tells them apart, such as "Alex (work)"',
            )
        group = entities.members(connection, number(whole.id, "e"))
        for relation in relations:
            _move(connection, relation, group, number(new.id, "e"), whole.name, at)
        keep_apart(connection, whole.id, new.id, at=at)
        return new


def keep_apart(store: Source, one: str, other: str, *, at: str) -> None:
    """Note that two entities are two, so that nothing suggests otherwise again."""
    at = instant(at)
    with writing(store) as connection:
        connection.execute(
            "insert into merges (kept, gone, why, at, undone_at) values (?, ?, 'apart', ?, ?)",
            (number(one, "e"), number(other, "e"), at, at),
        )


def list_merges(store: Source, *, undone: bool = False) -> list[MergeRow]:
    """Merges that hold, by id; with `undone`, those that were taken back instead."""
    with reading(store) as connection:
        rows = connection.execute(
            f"{_SELECT} where m.undone_at is {'not ' if undone else ''}null order by m.id"
        )
        return [_merge(row) for row in rows]


_SELECT = (
    "select m.id, m.kept, m.gone, k.name, g.name, m.why, m.at, m.undone_at from merges m "
    "join entities k on k.id = m.kept join entities g on g.id = m.gone"
)


def _get(connection: Connection, row: int) -> MergeRow:
    found = connection.execute(f"{_SELECT} where m.id = ?", (row,)).fetchone()
    if found is None:
        raise NotFoundError(
            f"there is no merge {optional_id(LETTER, row)}", hint="`lila graph aliases` names them"
        )
    return _merge(found)


def _merge(row: tuple[Any, ...]) -> MergeRow:
    return MergeRow(
        f"{LETTER}{row[0]}", f"e{row[1]}", f"e{row[2]}", (row[3], row[4]), row[5], row[6], row[7]
    )


def _made_since(connection: Connection, entity: int, merge: str) -> tuple[str, ...]:
    """Relations of an entity added after one was merged into it, by the order of the log."""
    rows = connection.execute(
        "select r.id from relations r join events e on e.subject = 'r' || r.id "
        "where (r.subject_id = ?1 or r.object_id = ?1) and e.kind = 'relation_added' "
        "and e.sequence > (select m.sequence from events m join payloads p using (sequence) "
        "where m.subject = 'e' || ?1 and m.kind = 'entities_merged' "
        "and json_extract(p.body, '$.merge') = ?2) order by r.id",
        (entity, merge),
    )
    return tuple(f"r{row[0]}" for row in rows)


def _move(
    connection: Connection, id: str, group: Sequence[int], new: int, whole: str, at: str
) -> None:
    ends = connection.execute(
        "select subject_id, object_id from relations where id = ?", (number(id, "r"),)
    ).fetchone()
    if ends is None or not {*ends} & {*group}:
        raise UsageError(
            f"{id} is no relation of {whole}", hint="`lila graph show` names an entity's relations"
        )
    one, other = (new if end in group else end for end in ends)
    connection.execute(
        "update relations set subject_id = ?, object_id = ? where id = ?",
        (one, other, number(id, "r")),
    )
    body = {"subject": f"e{one}", "object": f"e{other}"}
    events.append(connection, "relation_moved", subject=id, session_id=None, at=at, body=body)
    entities.bump(connection)

"""Entities and the typed relations between them, each with the interval in which it holds.

`generation` counts every change, so that a mirror in memory knows when it is stale.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import erasure, events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, storable

_SELECT = (
    "select r.id, s.id, s.name, r.predicate, o.id, o.name, r.valid_from, r.valid_to, r.source, "
    "r.at, r.digest from relations r join entities s on s.id = r.subject_id "
    "join entities o on o.id = r.object_id "
)


@dataclass(frozen=True, slots=True)
class EntityRow:
    """Someone or something relations are about; `aliases` are other names it goes by."""

    id: str
    name: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelationRow:
    """`subject predicate object` from `valid_from` to `valid_to` (None: open at that end).

    `source` says where it comes from: a memory or turn id, or "" when added by hand.
    """

    id: str
    subject_id: str
    subject: str
    predicate: str
    object_id: str
    object: str
    valid_from: str | None
    valid_to: str | None
    source: str
    at: str
    digest: str


def add(
    store: Source,
    subject: str,
    predicate: str,
    object: str,
    *,
    valid_from: str | None = None,
    valid_to: str | None = None,
    source: str = "",
    at: str,
    generation: int | None = None,
) -> RelationRow:
    """Keep a relation between two entities named by name or alias, made where they are new.

    Each call makes a row of its own. A worker passes the erasure `generation` it started from.
    """
    at = instant(at)
    begin = None if valid_from is None else instant(valid_from)
    end = None if valid_to is None else instant(valid_to)
    if begin is not None and end is not None and end <= begin:
        raise UsageError(
            f"the relation would end ({valid_to}) before it begins ({valid_from})",
            hint="give an end after the beginning, or none",
        )
    predicate = _named(predicate, "predicate")
    with writing(store) as connection:
        erasure.require(connection, generation)
        one = add_entity(connection, subject, at=at)
        other = add_entity(connection, object, at=at)
        relation: int = connection.execute(
            "insert into relations (subject_id, predicate, object_id, valid_from, valid_to, "
            "source, at, digest) values (?, ?, ?, ?, ?, ?, ?, '') returning id",
            (number(one.id, "e"), predicate, number(other.id, "e"), begin, end, source, at),
        ).fetchone()[0]
        event = events.append(
            connection,
            "relation_added",
            subject=f"r{relation}",
            session_id=None,
            at=at,
            body={
                "subject": one.name,
                "predicate": predicate,
                "object": other.name,
                "valid_from": begin,
                "valid_to": end,
                "source": source,
            },
        )
        connection.execute("update relations set digest = ? where id = ?", (event.digest, relation))
        bump(connection)
        return get(connection, f"r{relation}")


def get(store: Source, id: str) -> RelationRow:
    """One relation."""
    with reading(store) as connection:
        row = connection.execute(_SELECT + "where r.id = ?", (number(id, "r"),)).fetchone()
    if row is None:
        raise NotFoundError(f"there is no relation {id}", hint="`lila graph show` names them")
    return _relation(row)


def all_relations(store: Source) -> list[RelationRow]:
    """Every relation, by id."""
    with reading(store) as connection:
        return [_relation(row) for row in connection.execute(_SELECT + "order by r.id")]


def of_entity(store: Source, entity_id: str) -> list[RelationRow]:
    """Every relation in which an entity is subject or object, by id."""
    entity = number(entity_id, "e")
    with reading(store) as connection:
        rows = connection.execute(
            _SELECT + "where r.subject_id = ? or r.object_id = ? order by r.id", (entity, entity)
        )
        return [_relation(row) for row in rows]


def add_entity(store: Source, name: str, *, aliases: Sequence[str] = (), at: str) -> EntityRow:
    """The entity of this name or alias, made if there is none; new aliases are added to it."""
    name = _named(name, "entity")
    with writing(store) as connection:
        known = find_entity(connection, name)
        if known is None:
            row = connection.execute(
                "insert into entities (name, key, aliases) values (?, ?, '[]') returning id",
                (name, key(name)),
            ).fetchone()
            known = EntityRow(f"e{row[0]}", name, ())
            added = True
        else:
            added = False
        taken = {key(one) for one in (known.name, *known.aliases)}
        fresh = [alias for alias in aliases if key(alias) not in taken]
        if not added and not fresh:
            return known
        merged = EntityRow(known.id, known.name, (*known.aliases, *fresh))
        _keep(connection, merged, "entity_added" if added else "entity_named", at)
        return merged


def find_entity(store: Source, name: str) -> EntityRow | None:
    """The entity of this name, else the first that has it as an alias; case does not matter."""
    wanted = key(storable(name))
    with reading(store) as connection:
        row = connection.execute(
            "select id, name, aliases from entities where key = ?", (wanted,)
        ).fetchone()
        if row is not None:
            return _entity(row)
        rows = connection.execute(
            "select id, name, aliases from entities where aliases <> '[]' order by id"
        )
        for entity in map(_entity, rows):
            if wanted in {key(alias) for alias in entity.aliases}:
                return entity
    return None


def all_entities(store: Source) -> list[EntityRow]:
    """Every entity, by id."""
    with reading(store) as connection:
        rows = connection.execute("select id, name, aliases from entities order by id")
        return [_entity(row) for row in rows]


def generation(store: Source) -> int:
    """Changes with every change to entities or relations, in whichever process."""
    with reading(store) as connection:
        value: int = connection.execute(
            "select value from counters where name = 'relations'"
        ).fetchone()[0]
        return value


def bump(connection: Connection) -> None:
    """Count one change; for this room only."""
    connection.execute("update counters set value = value + 1 where name = 'relations'")


def sentence(row: RelationRow) -> str:
    """A relation as plain words."""
    return f"{row.subject} {row.predicate} {row.object}"


def key(name: str) -> str:
    """What makes two spellings of a name the same: case, width and spacing do not count."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _keep(connection: Connection, entity: EntityRow, kind: str, at: str) -> None:
    aliases = [storable(alias) for alias in entity.aliases]
    connection.execute(
        "update entities set aliases = ? where id = ?",
        (json.dumps(aliases, ensure_ascii=False), number(entity.id, "e")),
    )
    events.append(
        connection,
        kind,
        subject=entity.id,
        session_id=None,
        at=at,
        body={"name": entity.name, "aliases": aliases},
    )
    bump(connection)


def _named(text: str, what: str) -> str:
    text = " ".join(storable(text).split())
    if not text:
        raise UsageError(f"the {what} of a relation is empty", hint="name all three parts")
    return text


def _entity(row: tuple[Any, ...]) -> EntityRow:
    return EntityRow(f"e{row[0]}", row[1], tuple(json.loads(row[2])))


def _relation(row: tuple[Any, ...]) -> RelationRow:
    return RelationRow(
        id=f"r{row[0]}",
        subject_id=f"e{row[1]}",
        subject=row[2],
        predicate=row[3],
        object_id=f"e{row[4]}",
        object=row[5],
        valid_from=row[6],
        valid_to=row[7],
        source=row[8],
        at=row[9],
        digest=row[10],
    )

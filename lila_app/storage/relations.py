"""Entities and the typed relations between them, each with the interval in which it holds.

A relation that holds no more is closed, never rewritten: its row stays, with the end of its
interval, and can be opened again. `generation` counts every change, so that a mirror in memory
knows when it is stale.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import erasure, events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, optional_id, optional_number, storable

_SELECT = (
    "select r.id, s.id, s.name, r.predicate, o.id, o.name, r.valid_from, r.valid_to, r.source, "
    "r.at, r.digest, r.status, r.fact_id, r.closed_at from relations r "
    "join entities s on s.id = r.subject_id join entities o on o.id = r.object_id "
)

Status = Literal["current", "conflict", "closed"]
"""Whether a relation is believed, contradicted by another one, or over."""

EVENTS = ("relation_added", "relation_closed", "relation_reopened", "relation_marked")
"""What the log holds about a relation: the payloads that go when it is forgotten."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    """Someone or something relations are about; `aliases` are other names it goes by."""

    id: str
    name: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelationRow:
    """`subject predicate object` from `valid_from` to `valid_to` (None: open at that end).

    `source` says where it comes from: a fact, memory or turn id, or "" when added by hand;
    `fact_id` ("f12") is the fact it restates. `closed_at` is when LILA learnt that it is over.
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
    status: Status = "current"
    fact_id: str | None = None
    closed_at: str | None = None


def add(
    store: Source,
    subject: str,
    predicate: str,
    object: str,
    *,
    valid_from: str | None = None,
    valid_to: str | None = None,
    source: str = "",
    fact_id: str | None = None,
    status: Status = "current",
    at: str,
    generation: int | None = None,
) -> RelationRow:
    """Keep a relation between two entities named by name or alias, made where they are new.

    Each call makes a row of its own. A worker passes the erasure `generation` it started from.
    """
    if status == "closed":
        raise ValueError("a relation is closed by `close`, which keeps how to open it again")
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
            "source, at, digest, status, fact_id) values (?, ?, ?, ?, ?, ?, ?, '', ?, ?) "
            "returning id",
            (
                *(number(one.id, "e"), predicate, number(other.id, "e"), begin, end, source, at),
                *(status, optional_number(fact_id, "f")),
            ),
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
                "fact": fact_id,
                "status": status,
            },
        )
        connection.execute("update relations set digest = ? where id = ?", (event.digest, relation))
        bump(connection)
        return get(connection, f"r{relation}")


def close(
    store: Source,
    id: str,
    *,
    at: str,
    valid_to: str | None = None,
    by: str | None = None,
    generation: int | None = None,
) -> RelationRow:
    """End a relation's interval at `valid_to` (None: `at`); one that ends sooner keeps its end.

    `by` names what took its place ("f13", "r8"). The row stays, and `reopen` gives it back the end
    and the status it had. Closing what is closed changes nothing.
    """
    at = instant(at)
    end = at if valid_to is None else instant(valid_to)
    with writing(store) as connection:
        erasure.require(connection, generation)
        row = get(connection, id)
        if row.status == "closed":
            return row
        if row.valid_to is not None and row.valid_to < end:
            end = row.valid_to
        if row.valid_from is not None and end < row.valid_from:
            end = row.valid_from  # it never held: an interval without a moment in it
        before = {"valid_to": row.valid_to, "status": row.status}
        body = {"valid_to": end, "by": by, "before": before}
        return _change(connection, id, "relation_closed", body, (end, "closed", at), at=at)


def reopen(store: Source, id: str, *, at: str) -> RelationRow:
    """Take a closing back: the end and the status are what they were. Open ones do not change."""
    at = instant(at)
    with writing(store) as connection:
        row = get(connection, id)
        if row.status != "closed":
            return row
        found = connection.execute(
            "select p.body from events e join payloads p using (sequence) "
            "where e.subject = ? and e.kind = 'relation_closed' order by e.sequence desc limit 1",
            (id,),
        ).fetchone()
        before = json.loads(found[0])["before"]
        state = (before["valid_to"], before["status"], None)
        return _change(connection, id, "relation_reopened", before, state, at=at)


def mark(store: Source, id: str, status: Literal["current", "conflict"], *, at: str) -> RelationRow:
    """Say that another relation contradicts an open one, or that none does any more."""
    at = instant(at)
    with writing(store) as connection:
        row = get(connection, id)
        if row.status in ("closed", status):
            return row
        state = (row.valid_to, status, None)
        return _change(connection, id, "relation_marked", {"status": status}, state, at=at)


def _change(
    connection: Connection,
    id: str,
    kind: str,
    body: Mapping[str, object],
    state: tuple[str | None, str, str | None],
    *,
    at: str,
) -> RelationRow:
    """Log a change and apply it; `state` are end, status and time of closing."""
    connection.execute(
        "update relations set valid_to = ?, status = ?, closed_at = ? where id = ?",
        (*state, number(id, "r")),
    )
    events.append(connection, kind, subject=id, session_id=None, at=at, body=body)
    bump(connection)
    return get(connection, id)


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
        status=row[11],
        fact_id=optional_id("f", row[12]),
        closed_at=row[13],
    )

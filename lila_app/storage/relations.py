"""Entities and the typed relations between them, each with the interval in which it holds.

A relation that holds no more is closed, never rewritten: its row stays, with the end of its
interval, and can be opened again. `generation` counts every change, so that a mirror in memory
knows when it is stale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import erasure, events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.entities import EntityRow as EntityRow
from lila_app.storage.entities import add_entity, bump, members, named, roots
from lila_app.storage.entities import all_entities as all_entities
from lila_app.storage.entities import find_entity as find_entity
from lila_app.storage.entities import generation as generation
from lila_app.storage.naming import key as key
from lila_app.storage.values import instant, number, optional_id, optional_number

_SELECT = (
    "select r.id, s.id, s.name, r.predicate, o.id, o.name, r.valid_from, r.valid_to, r.source, "
    "r.at, r.digest, r.status, r.fact_id, r.closed_at, f.source_turn from relations r "
    "join entities s on s.id = r.subject_id join entities o on o.id = r.object_id "
    "left join facts f on f.id = r.fact_id "
)

Status = Literal["current", "conflict", "closed"]
"""Whether a relation is believed, contradicted by another one, or over."""

EVENTS = (
    "relation_added", "relation_closed", "relation_reopened", "relation_marked", "relation_moved",
)  # fmt: skip
"""What the log holds about a relation: the payloads that go when it is forgotten."""


@dataclass(frozen=True, slots=True)
class RelationRow:
    """`subject predicate object` from `valid_from` to `valid_to` (None: open at that end).

    `source` says where it comes from: a fact, memory or turn id, or "" when added by hand;
    `fact_id` ("f12") is the fact it restates, `turn_id` where that was said. `closed_at` is when
    LILA learnt that it is over.
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
    turn_id: str | None = None

    @property
    def origin(self) -> str:
        """The turn it was said in, else its source; "" when added by hand."""
        return self.turn_id or self.source


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
    predicate = named(predicate, "predicate")
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
    found = by_ids(store, [number(id, "r")])
    if not found:
        raise NotFoundError(f"there is no relation {id}", hint="`lila graph list` names them")
    return found[0]


def by_ids(store: Source, rows: Sequence[int]) -> list[RelationRow]:
    """The relations of these row numbers that there are, by id."""
    return _select(
        store, "where r.id in (select value from json_each(?)) ", (json.dumps(list(rows)),)
    )


def all_relations(store: Source) -> list[RelationRow]:
    """Every relation, by id."""
    return _select(store, "", ())


def of_entity(store: Source, entity_id: str) -> list[RelationRow]:
    """Every relation of an entity, or of one that was merged into it, on either side, by id."""
    entity = number(entity_id, "e")
    with reading(store) as connection:
        group = json.dumps(members(connection, entity))
        return _select(
            connection,
            "where r.subject_id in (select value from json_each(?1)) "
            "or r.object_id in (select value from json_each(?1)) ",
            (group,),
        )


def of_fact(store: Source, fact_id: str) -> list[RelationRow]:
    """The relations that restate a fact, by id."""
    return _select(store, "where r.fact_id = ? ", (number(fact_id, "f"),))


def as_of(store: Source, entity_id: str, at: str) -> list[RelationRow]:
    """What was believed of an entity at a time to hold then, by id, by the order of the log.

    What was learnt later is left out, and what was closed later has the end it had then. Names are
    those of today.
    """
    at = instant(at)
    with reading(store) as connection:
        found: list[RelationRow] = []
        for row in of_entity(connection, entity_id):
            then = _then(connection, row, at)
            begun = then is not None and (then.valid_from or "") <= at
            if then is not None and begun and (then.valid_to is None or at < then.valid_to):
                found.append(then)
        return found


def _then(connection: Connection, row: RelationRow, at: str) -> RelationRow | None:
    """A relation as it was believed at a time; None where it was not known yet."""
    rows = connection.execute(
        "select e.kind, e.at, p.body from events e join payloads p using (sequence) "
        "where e.subject = ? order by e.sequence",
        (row.id,),
    )
    then: RelationRow | None = None
    for kind, moment, text in rows:
        if moment > at:
            continue
        body = json.loads(text)
        if kind == "relation_added":
            status = body.get("status", "current")
            then = replace(row, valid_to=body["valid_to"], status=status, closed_at=None)
        elif then is not None and kind == "relation_closed":
            then = replace(then, valid_to=body["valid_to"], status="closed", closed_at=moment)
        elif then is not None and kind == "relation_reopened":
            then = replace(then, valid_to=body["valid_to"], status=body["status"], closed_at=None)
        elif then is not None and kind == "relation_marked":
            then = replace(then, status=body["status"])
    return then


def sentence(row: RelationRow) -> str:
    """A relation as plain words."""
    return f"{row.subject} {row.predicate} {row.object}"


def _select(store: Source, where: str, values: Sequence[object]) -> list[RelationRow]:
    with reading(store) as connection:
        rows = connection.execute(f"{_SELECT}{where}order by r.id", tuple(values)).fetchall()
        kept = roots(connection)
        if not kept:
            return [_relation(row) for row in rows]
        names = dict(
            connection.execute(
                "select id, name from entities where id in (select value from json_each(?))",
                (json.dumps(sorted(set(kept.values()))),),
            ).fetchall()
        )
    return [_relation(_resolved(row, kept, names)) for row in rows]


def _resolved(
    row: tuple[Any, ...], kept: Mapping[int, int], names: Mapping[int, str]
) -> tuple[Any, ...]:
    """A row with each end that was merged replaced by the entity that stands for it."""
    one, other = kept.get(row[1], row[1]), kept.get(row[4], row[4])
    subject, object = names.get(one, row[2]), names.get(other, row[5])
    return (row[0], one, subject, row[3], other, object, *row[6:])


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
        turn_id=optional_id("t", row[14]),
    )

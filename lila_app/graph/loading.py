"""Reading the graph from the store, whole or only what changed since.

What changed is what the event log says since the last event that was read; only after something
was forgotten is everything read again, because a deleted row leaves no event of its own.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Iterable, Sequence

from lila_app.graph.snapshot import Edge, Names, Snapshot, Stamp
from lila_app.storage import relations
from lila_app.storage.driver import Connection
from lila_app.storage.entities import members, roots
from lila_app.storage.naming import Form

MOST_CHANGES = 5_000
"""From this many changed rows on, reading everything is as quick."""

_MERGING = ("entities_merged", "entities_parted")
_KINDS = (*relations.EVENTS, "entity_added", "entity_named", *_MERGING)
_EDGES = "select id, subject_id, predicate, object_id, valid_from, valid_to, status from relations"
_FORMS = "select form, uses, entity_id from names where uses & 30"
_IN = "in (select value from json_each(?))"


def stamp(connection: Connection) -> Stamp:
    """What the store says of its own state now."""
    counters: dict[str, int] = dict(
        connection.execute(
            "select name, value from counters "
            "where name in ('incarnation', 'erasures', 'relations')"
        ).fetchall()
    )
    last: int = connection.execute("select coalesce(max(sequence), 0) from events").fetchone()[0]
    return Stamp(counters["incarnation"], counters["erasures"], counters["relations"], last)


def whole(connection: Connection, now: Stamp) -> Snapshot:
    """Everything there is."""
    kept = roots(connection)
    near: dict[int, list[Edge]] = {}
    edges: dict[int, Edge] = {}
    rows = map(Edge._make, connection.execute(f"{_EDGES} order by id"))
    for edge in (_resolved(row, kept) for row in rows) if kept else rows:
        edges[edge.id] = edge
        near.setdefault(edge.subject, []).append(edge)
        if edge.object != edge.subject:
            near.setdefault(edge.object, []).append(edge)
    entities = dict(connection.execute("select id, name from entities").fetchall())
    return Snapshot(now, edges, near, _names(connection), entities, kept)


def since(connection: Connection, old: Snapshot, now: Stamp) -> Snapshot | None:
    """What the old snapshot became; None where reading everything is due."""
    then = old.stamp
    if (then.incarnation, then.erasures) != (now.incarnation, now.erasures):
        return None
    changed, named, joined = _changes(connection, then.sequence)
    if len(changed) + len(named) + len(joined) > MOST_CHANGES:
        return None
    kept = old.roots
    if joined:
        kept = roots(connection)
        changed |= _touching(connection, {one for id in joined for one in members(connection, id)})
    edges, near = dict(old.edges), dict(old.near)
    _exchange(edges, near, changed, _read(connection, changed, kept))
    if not named:
        return Snapshot(now, edges, near, old.names, old.entities, kept)
    ids = json.dumps(sorted(named))
    fresh = connection.execute(f"select id, name from entities where id {_IN}", (ids,)).fetchall()
    entities = {**old.entities, **dict(fresh)}
    return Snapshot(now, edges, near, _renamed(connection, old.names, ids), entities, kept)


def _changes(connection: Connection, after: int) -> tuple[set[int], set[int], set[int]]:
    """Relations, entities' names, and entities that were merged or parted, since an event."""
    changed: set[int] = set()
    named: set[int] = set()
    joined: set[int] = set()
    for kind in _KINDS:  # a seek each in events_by_session; the log since may be long
        rows = connection.execute(
            "select subject, sequence from events "
            "where session_id is null and kind = ? and sequence > ?",
            (kind, after),
        ).fetchall()
        found = {int(subject[1:]) for subject, _ in rows}
        if kind in relations.EVENTS:
            changed |= found
        elif kind in _MERGING:
            joined |= found | _gone(connection, [sequence for _, sequence in rows])
        else:
            named |= found
    return changed, named, joined


def _gone(connection: Connection, sequences: Sequence[int]) -> set[int]:
    rows = connection.execute(
        f"select json_extract(body, '$.gone') from payloads where sequence {_IN}",
        (json.dumps(sequences),),
    )
    return {int(row[0][1:]) for row in rows}


def _touching(connection: Connection, entities: Iterable[int]) -> set[int]:
    ids = json.dumps(sorted(entities))
    rows = connection.execute(
        f"select id from relations where subject_id {_IN} union "
        f"select id from relations where object_id {_IN}",
        (ids, ids),
    )
    return {row[0] for row in rows}


def _read(connection: Connection, ids: Iterable[int], kept: dict[int, int]) -> list[Edge]:
    rows = connection.execute(f"{_EDGES} where id {_IN} order by id", (json.dumps(sorted(ids)),))
    return [_resolved(Edge._make(row), kept) for row in rows]


def _resolved(edge: Edge, kept: dict[int, int]) -> Edge:
    if edge.subject in kept or edge.object in kept:
        subject, object = kept.get(edge.subject, edge.subject), kept.get(edge.object, edge.object)
        return edge._replace(subject=subject, object=object)
    return edge


def _exchange(
    edges: dict[int, Edge],
    near: dict[int, Sequence[Edge]],
    changed: Iterable[int],
    fresh: Iterable[Edge],
) -> None:
    """Take the old edges out and the fresh ones in; lists of the old snapshot stay as they are."""
    own: dict[int, list[Edge]] = {}

    def of(entity: int) -> list[Edge]:
        if entity not in own:
            own[entity] = list(near.get(entity, ()))
        return own[entity]

    for id in changed:
        old = edges.pop(id, None)
        for entity in {old.subject, old.object} if old else ():
            of(entity).remove(old)  # pyright: ignore[reportArgumentType]
    for edge in fresh:
        edges[edge.id] = edge
        for entity in {edge.subject, edge.object}:
            insort(of(entity), edge, key=_id)
    near.update(own)
    for entity, left in own.items():
        if not left:
            del near[entity]


def _id(edge: Edge) -> int:
    return edge.id


def _names(connection: Connection) -> Names:
    spoken: dict[str, tuple[int, ...]] = {}
    bases: dict[str, tuple[int, ...]] = {}
    firsts: dict[str, tuple[int, ...]] = {}
    forms: dict[int, list[tuple[str, int]]] = {}
    for form, uses, entity in connection.execute(f"{_FORMS} order by form, entity_id"):
        forms.setdefault(entity, []).append((form, uses))
        for index, wanted in _uses(spoken, bases, firsts):
            if uses & wanted:
                index[form] = (*index.get(form, ()), entity)
    return Names(spoken, bases, firsts, {one: tuple(found) for one, found in forms.items()})


def _renamed(connection: Connection, old: Names, ids: str) -> Names:
    """The names with those of some entities (row numbers as JSON) read again."""
    spoken, bases, firsts = dict(old.spoken), dict(old.bases), dict(old.firsts)
    forms = dict(old.forms)
    indexes = _uses(spoken, bases, firsts)
    for entity in json.loads(ids):
        for form, uses in forms.pop(entity, ()):
            for index, wanted in indexes:
                if uses & wanted:
                    left = tuple(one for one in index[form] if one != entity)
                    index.pop(form)
                    if left:
                        index[form] = left
    fresh: dict[int, list[tuple[str, int]]] = {}
    for form, uses, entity in connection.execute(f"{_FORMS} and entity_id {_IN}", (ids,)):
        fresh.setdefault(entity, []).append((form, uses))
        for index, wanted in indexes:
            if uses & wanted:
                index[form] = tuple(sorted((*index.get(form, ()), entity)))
    forms.update((one, tuple(sorted(found))) for one, found in fresh.items())
    return Names(spoken, bases, firsts, forms)


_Index = dict[str, tuple[int, ...]]


def _uses(spoken: _Index, bases: _Index, firsts: _Index) -> tuple[tuple[_Index, int], ...]:
    return (
        (spoken, int(Form.SPOKEN | Form.FOLDED)),
        (bases, int(Form.BASE)),
        (firsts, int(Form.FIRST)),
    )

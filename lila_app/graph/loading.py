"""Reading the graph from the store, whole or only what changed since.

What changed is what the event log says since the last event that was read; only after something
was forgotten is everything read again, because a deleted row leaves no event of its own.
"""

from __future__ import annotations

import json
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from lila_app.graph.snapshot import Edge, Index, Names, Row, Snapshot, Stamp
from lila_app.storage import relations
from lila_app.storage.driver import Connection
from lila_app.storage.entities import members, roots
from lila_app.storage.naming import Form

MOST_CHANGES = 5_000
"""From this many changed rows on, reading everything is as quick."""

_MERGING = ("entities_merged", "entities_parted")
_KINDS = (*relations.EVENTS, "entity_added", "entity_named", *_MERGING)
_EDGES = "select id, subject_id, predicate, object_id, valid_from, valid_to, status from relations"
_USES = (Form.SPOKEN | Form.FOLDED, Form.BASE, Form.FIRST)
"""Of the indexes of names, in their order."""

_Exchanged = tuple[dict[int, Row], dict[int, Sequence[int]], dict[int, tuple[Edge, ...]]]
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
    rows: list[Row] = connection.execute(f"{_EDGES} order by id").fetchall()
    if kept:
        rows = [_resolved(row, kept) for row in rows]
    near: defaultdict[int, list[int]] = defaultdict(list)
    for id, subject, _, object, *_ in rows:
        near[subject].append(id)
        if object != subject:
            near[object].append(id)
    entities = dict(connection.execute("select id, name from entities").fetchall())
    edges = {row[0]: row for row in rows}
    return Snapshot(now, edges, dict(near), _names(connection), entities, kept)


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
    edges, near, made = _exchange(old, changed, _read(connection, changed, kept))
    if not named:
        return Snapshot(now, edges, near, old.names, old.entities, kept, made)
    ids = json.dumps(sorted(named))
    fresh = connection.execute(f"select id, name from entities where id {_IN}", (ids,)).fetchall()
    entities = {**old.entities, **dict(fresh)}
    return Snapshot(now, edges, near, _renamed(connection, old.names, ids), entities, kept, made)


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


def _read(connection: Connection, ids: Iterable[int], kept: Mapping[int, int]) -> list[Row]:
    rows = connection.execute(f"{_EDGES} where id {_IN} order by id", (json.dumps(sorted(ids)),))
    return [_resolved(row, kept) for row in rows]


def _resolved(row: Row, kept: Mapping[int, int]) -> Row:
    subject, object = row[1], row[3]
    if subject in kept or object in kept:
        ends = kept.get(subject, subject), kept.get(object, object)
        return (row[0], ends[0], row[2], ends[1], row[4], row[5], row[6])
    return row


def _exchange(old: Snapshot, changed: Iterable[int], fresh: Iterable[Row]) -> _Exchanged:
    """Take the old edges out and the fresh ones in; lists of the old snapshot stay as they are."""
    edges, near = dict(old.edges), dict(old.near)
    own: dict[int, list[int]] = {}

    def of(entity: int) -> list[int]:
        if entity not in own:
            own[entity] = list(near.get(entity, ()))
        return own[entity]

    for id in changed:
        row = edges.pop(id, None)
        for entity in {row[1], row[3]} if row else ():
            of(entity).remove(id)
    for row in fresh:
        edges[row[0]] = row
        for entity in {row[1], row[3]}:
            insort(of(entity), row[0])
    near.update(own)
    for entity, left in own.items():
        if not left:
            del near[entity]
    made = {one: found for one, found in old.looked_at.items() if one not in own}
    return edges, near, made


def _names(connection: Connection) -> Names:
    return Names(*(_index(connection, int(uses)) for uses in _USES))


def _index(connection: Connection, uses: int) -> Index:
    rows: list[tuple[str, int]] = connection.execute(
        f"select form, entity_id from names where uses & {uses} order by form desc, entity_id desc"
    ).fetchall()
    first = dict(rows)
    several: dict[str, tuple[int, ...]] = {}
    if len(first) < len(rows):
        shared = [form for form, count in Counter(form for form, _ in rows).items() if count > 1]
        groups: dict[str, list[int]] = {form: [] for form in shared}
        for form, entity in reversed(rows):
            if form in groups:
                groups[form].append(entity)
        several = {form: tuple(found) for form, found in groups.items()}
    return Index(first, several)


def _renamed(connection: Connection, old: Names, ids: str) -> Names:
    """The names with those of some entities (row numbers as JSON); names are only ever added."""
    found = connection.execute(
        f"select form, uses, entity_id from names where entity_id {_IN}", (ids,)
    ).fetchall()
    return Names(
        *(
            _added(index, [(form, entity) for form, uses, entity in found if uses & int(wanted)])
            for index, wanted in zip((old.spoken, old.bases, old.firsts), _USES, strict=True)
        )
    )


def _added(index: Index, fresh: Iterable[tuple[str, int]]) -> Index:
    first, several = dict(index.first), dict(index.several)
    for form, entity in fresh:
        known = index.get(form) if form not in several else several[form]
        known = known or ((first[form],) if form in first else ())
        if entity not in known:
            both = tuple(sorted((*known, entity)))
            first[form] = both[0]
            if len(both) > 1:
                several[form] = both
    return Index(first, several)

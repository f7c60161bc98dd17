"""Entities: the people, places and things relations are about, by all the names they go by.

Where entities were found to be one (`merges`), each keeps its row and its names; whoever asks gets
the one that was kept, under its id and with all the names. `names` holds each name's forms
(`naming`), so that a name is found without reading every entity.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.naming import Form, folded, forms, key
from lila_app.storage.values import number, storable

EVENTS = ("entity_added", "entity_named")
"""What the log holds about an entity's names: the payloads that go when it is forgotten."""

SPELLING = "spelling"
"""Why the rule of `naming` merges."""


@dataclass(frozen=True, slots=True)
class EntityRow:
    """Someone or something relations are about; `aliases` are other names it goes by."""

    id: str
    name: str
    aliases: tuple[str, ...]


def add_entity(store: Source, name: str, *, aliases: Sequence[str] = (), at: str) -> EntityRow:
    """The entity of this name or alias, made if there is none; new aliases are added to it.

    A new spelling of a known name (accents, dots, a title) is merged into the entity that has it,
    which can be taken back like any merge.
    """
    name = named(name, "entity")
    with writing(store) as connection:
        known = find_entity(connection, name)
        if known is None:
            known = _made(connection, name, at)
        taken = {key(one) for one in (known.name, *known.aliases)}
        fresh = {key(alias): alias for alias in aliases if key(alias) not in taken}
        if not fresh:
            return known
        _also(connection, known.id, tuple(fresh.values()), at)
        return get_entity(connection, known.id)


def find_entity(store: Source, name: str) -> EntityRow | None:
    """The entity of this name, else the only one that has it as an alias; case does not matter.

    None where two have it: which of them is meant is not for a name to say.
    """
    wanted = key(storable(name))
    with reading(store) as connection:
        row = connection.execute("select id from entities where key = ?", (wanted,)).fetchone()
        if row is not None:
            return get_entity(connection, f"e{row[0]}")
        found = _having(connection, wanted, Form.ALIAS)
        return get_entity(connection, f"e{found.pop()}") if len(found) == 1 else None


def called(store: Source, name: str) -> list[EntityRow]:
    """Everyone a name can mean, by id: by name, alias or spelling, and all of that base.

    Where nobody has it, those whose first name it is.
    """
    storable(name)
    with reading(store) as connection:
        found = _having(connection, key(name), Form.ALIAS | Form.SPOKEN | Form.BASE) | _having(
            connection, folded(name), Form.FOLDED
        )
        exact = connection.execute("select id from entities where key = ?", (key(name),)).fetchone()
        if exact is not None:
            found.add(root(connection, exact[0]))
        found = found or _having(connection, key(name), Form.FIRST)
        return [get_entity(connection, f"e{row}") for row in sorted(found)]


def get_entity(store: Source, id: str) -> EntityRow:
    """One entity; of one that was merged, the one that was kept. Raises NotFoundError."""
    with reading(store) as connection:
        kept = root(connection, number(id, "e"))
        found = _rows(connection, members(connection, kept))
        if kept not in found:
            raise NotFoundError(f"there is no entity {id}", hint="`lila graph aliases` names them")
        return _entity(kept, found)


def all_entities(store: Source) -> list[EntityRow]:
    """Every entity, by id; those that were merged are aliases of the one that was kept."""
    with reading(store) as connection:
        kept = roots(connection)
        found = _rows(connection)
        if not kept:
            return [_entity(row, {row: found[row]}) for row in found]
        groups: dict[int, dict[int, tuple[str, tuple[str, ...]]]] = {}
        for row, names in found.items():
            groups.setdefault(kept.get(row, row), {})[row] = names
        return [_entity(row, groups[row]) for row in sorted(groups)]


def roots(connection: Connection) -> Mapping[int, int]:
    """Of each entity that was merged, the one that stands for it now."""
    into = dict(
        connection.execute("select gone, kept from merges where undone_at is null").fetchall()
    )
    return {gone: _top(into, gone) for gone in into}


def root(connection: Connection, entity: int) -> int:
    """The entity that stands for this one: itself, unless it was merged."""
    while True:
        row = connection.execute(
            "select kept from merges where gone = ? and undone_at is null", (entity,)
        ).fetchone()
        if row is None:
            return entity
        entity = row[0]


def members(connection: Connection, entity: int) -> list[int]:
    """An entity and every one that was merged into it, directly or not, in id order."""
    found, waiting = {entity}, [entity]
    while waiting:
        rows = connection.execute(
            "select gone from merges where kept = ? and undone_at is null", (waiting.pop(),)
        )
        fresh = {row[0] for row in rows} - found
        found |= fresh
        waiting += fresh
    return sorted(found)


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


def make(connection: Connection, name: str, at: str) -> EntityRow:
    """Add an entity under a name nobody has exactly; no rule merges it with anyone."""
    row: int = connection.execute(
        "insert into entities (name, key, aliases) values (?, ?, '[]') returning id",
        (name, key(name)),
    ).fetchone()[0]
    _keep(connection, row, name, (), "entity_added", at)
    return EntityRow(f"e{row}", name, ())


def join(connection: Connection, one: int, other: int, *, why: str, at: str) -> int:
    """Note that an entity is gone into another; the merge's row. For this room only."""
    row: int = connection.execute(
        "insert into merges (kept, gone, why, at) values (?, ?, ?, ?) returning id",
        (one, other, why, at),
    ).fetchone()[0]
    body = {"merge": f"x{row}", "kept": f"e{one}", "gone": f"e{other}"}
    events.append(
        connection, "entities_merged", subject=f"e{one}", session_id=None, at=at, body=body
    )
    bump(connection)
    return row


def erase(connection: Connection, id: str) -> dict[str, tuple[str, ...]]:
    """Delete an entity nothing is about any more, with all that was merged into it.

    Returns the names each of them had, so that a forgetting can follow them.
    """
    found = _rows(connection, members(connection, number(id, "e")))
    for row in found:
        connection.execute("delete from entities where id = ?", (row,))
    bump(connection)
    return {f"e{row}": (name, *aliases) for row, (name, aliases) in found.items()}


def named(text: str, what: str) -> str:
    """A name on one line. Raises UsageError where it is empty."""
    text = " ".join(storable(text).split())
    if not text:
        raise UsageError(f"the {what} of a relation is empty", hint="name all three parts")
    return text


def _made(connection: Connection, name: str, at: str) -> EntityRow:
    """A new entity; merged at once where its name is one other's in another spelling."""
    same = _having(connection, folded(name), Form.FOLDED)
    new = make(connection, name, at)
    if len(same) != 1:  # new to all, or two could be meant: nothing is decided
        return new
    kept = same.pop()
    join(connection, kept, number(new.id, "e"), why=SPELLING, at=at)
    return get_entity(connection, f"e{kept}")


def _having(connection: Connection, form: str, wanted: Form) -> set[int]:
    """Entities that have a form of a name for one of the wanted uses."""
    rows = connection.execute(
        "select entity_id from names where form = ? and uses & ?", (form, int(wanted))
    )
    return {root(connection, row[0]) for row in rows.fetchall()}


def _also(connection: Connection, id: str, fresh: tuple[str, ...], at: str) -> None:
    row = number(id, "e")
    name, aliases = _rows(connection, [row])[row]
    _keep(connection, row, name, (*aliases, *(storable(a) for a in fresh)), "entity_named", at)


def _keep(
    connection: Connection, row: int, name: str, aliases: tuple[str, ...], kind: str, at: str
) -> None:
    connection.execute(
        "update entities set aliases = ? where id = ?",
        (json.dumps(aliases, ensure_ascii=False), row),
    )
    connection.execute("delete from names where entity_id = ?", (row,))
    connection.executemany(
        "insert into names (form, entity_id, uses) values (?, ?, ?)",
        [(form, row, int(uses)) for form, uses in forms(name, aliases).items()],
    )
    body = {"name": name, "aliases": list(aliases)}
    events.append(connection, kind, subject=f"e{row}", session_id=None, at=at, body=body)
    bump(connection)


def _rows(
    connection: Connection, ids: Iterable[int] | None = None
) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Name and aliases of each entity as it was added, in id order."""
    if ids is None:
        rows = connection.execute("select id, name, aliases from entities order by id")
    else:
        rows = connection.execute(
            "select id, name, aliases from entities where id in (select value from json_each(?)) "
            "order by id",
            (json.dumps(list(ids)),),
        )
    return {row: (name, tuple(json.loads(aliases))) for row, name, aliases in rows}


def _entity(row: int, group: Mapping[int, tuple[str, tuple[str, ...]]]) -> EntityRow:
    """The entity with the names of all that were merged into it, each once."""
    name, aliases = group[row]
    others = [one for id, (other, more) in group.items() if id != row for one in (other, *more)]
    each: dict[str, str] = {}
    for alias in (*aliases, *others):
        each.setdefault(key(alias), alias)
    each.pop(key(name), None)
    return EntityRow(f"e{row}", name, tuple(each.values()))


def _top(into: Mapping[int, int], entity: int) -> int:
    while entity in into:
        entity = into[entity]
    return entity

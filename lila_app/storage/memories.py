"""Memories: what LILA keeps about the person and their world, one sentence or so each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import changes, erasure, events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.values import instant, number, optional_id, optional_number, storable

MemoryKind = Literal["fact", "core"]

MemoryStatus = Literal["current", "closed", "conflict"]

_COLUMNS = (
    "id, text, kind, pinned, at, source_turn, superseded_by, digest, external_ids, status, "
    "retention, valid_from, valid_to, expires_at, closed_at"
)


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory; a "core" one stands in the profile pack, a "fact" is recalled when it fits.

    A "closed" one held once (until `closed_at` LILA believed it) and a "conflict" one has another
    beside it that cannot both hold. `valid_from` to `valid_to` is when it holds in the world;
    after `expires_at` it is not offered any more. Times are ISO 8601 in UTC, None where open.
    """

    id: str
    text: str
    kind: str
    pinned: bool
    at: str
    digest: str
    superseded_by: str | None
    source_turn: str | None
    external_ids: tuple[str, ...]
    status: MemoryStatus
    retention: str
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    closed_at: str | None


@dataclass(frozen=True, slots=True)
class Holds:
    """How long a memory holds and is offered; see `MemoryRow`."""

    retention: str = "durable"
    valid_from: str | None = None
    valid_to: str | None = None
    expires_at: str | None = None


def add(
    source: Source,
    text: str,
    *,
    kind: MemoryKind = "fact",
    pinned: bool = False,
    at: str,
    source_turn: str | None = None,
    external_ids: Sequence[str] = (),
    holds: Holds | None = None,
    generation: int | None = None,
) -> MemoryRow:
    """Keep a memory; a worker passes the erasure `generation` it started from."""
    holds = holds or Holds()
    at = instant(at)
    if not text.strip():
        raise UsageError("an empty memory cannot be kept", hint="say what LILA should remember")
    with writing(source) as connection:
        erasure.require(connection, generation)
        memory: int = connection.execute(
            "insert into memories (text, kind, pinned, at, source_turn, digest, external_ids, "
            "retention, valid_from, valid_to, expires_at) "
            "values (?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?) returning id",
            (
                storable(text),
                kind,
                pinned,
                at,
                optional_number(source_turn, "t"),
                json.dumps(list(external_ids)),
                *(holds.retention, holds.valid_from, holds.valid_to, holds.expires_at),
            ),
        ).fetchone()[0]
        event = events.append(
            connection,
            "memory_added",
            subject=f"m{memory}",
            session_id=None,
            at=at,
            body={
                "text": text,
                "kind": kind,
                "pinned": pinned,
                "source_turn": source_turn,
                "external_ids": list(external_ids),
            },
        )
        connection.execute("update memories set digest = ? where id = ?", (event.digest, memory))
        return get(connection, f"m{memory}")


def get(source: Source, id: str) -> MemoryRow:
    """One memory."""
    found = by_ids(source, [id])
    if not found:
        raise NotFoundError(f"there is no memory {id}", hint="`lila memory list` shows them")
    return found[0]


def by_ids(source: Source, ids: Iterable[str]) -> list[MemoryRow]:
    """The memories of these ids that exist, in the order asked for."""
    wanted = [number(id, "m") for id in ids]
    marks = ", ".join("?" * len(wanted))
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_COLUMNS} from memories where id in ({marks})", wanted
        ).fetchall()
    found = {row[0]: _memory(row) for row in rows}
    return [found[one] for one in wanted if one in found]


def times(source: Source, ids: Iterable[str]) -> dict[str, str]:
    """When each of these that exist was kept; a ranking needs no more of all it looks at."""
    wanted = [number(id, "m") for id in ids]
    marks = ", ".join("?" * len(wanted))
    with reading(source) as connection:
        rows = connection.execute(f"select id, at from memories where id in ({marks})", wanted)
        return {f"m{row[0]}": row[1] for row in rows}


def list_memories(
    source: Source, *, kind: MemoryKind | None = None, limit: int | None = None
) -> list[MemoryRow]:
    """Memories by id, the newest `limit` of them if given."""
    with reading(source) as connection:
        condition, values = ("", []) if kind is None else ("where kind = ? ", [kind])
        rows = connection.execute(
            f"select {_COLUMNS} from memories {condition}order by id desc limit ?",
            (*values, -1 if limit is None else limit),
        ).fetchall()
    return [_memory(row) for row in reversed(rows)]


def kept_in(source: Source, turn: str) -> bool:
    """Whether a memory that holds was kept from a turn."""
    with reading(source) as connection:
        row = connection.execute(
            "select 1 from memories where source_turn = ? and status <> 'closed' limit 1",
            (number(turn, "t"),),
        ).fetchone()
        return row is not None


def list_pinned(source: Source) -> list[MemoryRow]:
    """Pinned memories of any kind, by id."""
    with reading(source) as connection:
        rows = connection.execute(f"select {_COLUMNS} from memories where pinned = 1 order by id")
        return [_memory(row) for row in rows]


def as_of(source: Source, at: str) -> list[MemoryRow]:
    """What LILA believed at an instant, as it was then: kept by then, and not closed by then.

    By id; kind, state and all else that changes are those of then, and no successor is named.
    """
    at = instant(at)
    with reading(source) as connection:
        found = connection.execute(
            f"select {_COLUMNS} from memories where at <= ? order by id", (at,)
        )
        rows = [_memory(row) for row in found]
        then = changes.at(connection, "m", at)
    believed = [_then(row, then.get(row.id, {}), at) for row in rows]
    return [row for row in believed if row.status != "closed"]


def _then(row: MemoryRow, columns: Mapping[str, Any], at: str) -> MemoryRow:
    """A memory with the columns it had; what was closed later was not closed yet."""
    row = replace(row, **{name: _OF.get(name, _as_is)(value) for name, value in columns.items()})
    if row.status == "closed" and row.closed_at is not None and row.closed_at > at:
        row = replace(row, status="current", closed_at=None, superseded_by=None)
    return row


def _as_is(value: Any) -> Any:
    return value


_OF: Mapping[str, Callable[[Any], Any]] = {"pinned": bool}


def core_count(source: Source) -> int:
    """How many memories the profile pack holds."""
    with reading(source) as connection:
        count: int = connection.execute(
            "select count(*) from memories where kind = 'core' and superseded_by is null "
            "and status <> 'closed'"
        ).fetchone()[0]
        return count


def retired_core(source: Source, day: str) -> list[str]:
    """Core memories that do not hold as they stand on a day (ISO), by id.

    Closed or contradicted ones, and those that are over by then or begin later.
    """
    with reading(source) as connection:
        rows = connection.execute(
            "select id from memories where kind = 'core' "
            "and (status <> 'current' or superseded_by is not null "
            "or valid_to <= ?1 or valid_from > ?1) order by id",
            (day[:10],),
        )
        return [f"m{row[0]}" for row in rows]


def replaced_by(source: Source, id: str) -> list[str]:
    """The memories this one took the place of, by id."""
    with reading(source) as connection:
        rows = connection.execute(
            "select id from memories where superseded_by = ? order by id", (number(id, "m"),)
        )
        return [f"m{row[0]}" for row in rows]


def supersede(source: Source, old: str, new: str, *, at: str) -> MemoryRow:
    """Say that `new` took the place of `old`; the old one stays and is offered as superseded."""
    with writing(source) as connection:
        get(connection, old)
        get(connection, new)
        if old == new:
            raise UsageError(f"{old} cannot supersede itself", hint="name two memories")
        events.append(
            connection,
            "memory_superseded",
            subject=old,
            session_id=None,
            at=at,
            body={"by": new},
        )
        connection.execute(
            "update memories set superseded_by = ?, status = 'closed', closed_at = ? where id = ?",
            (number(new, "m"), instant(at), number(old, "m")),
        )
        return get(connection, old)


def _memory(row: tuple[Any, ...]) -> MemoryRow:
    return MemoryRow(
        id=f"m{row[0]}",
        text=row[1],
        kind=row[2],
        pinned=bool(row[3]),
        at=row[4],
        source_turn=optional_id("t", row[5]),
        superseded_by=optional_id("m", row[6]),
        digest=row[7],
        external_ids=tuple(json.loads(row[8])),
        status=row[9],
        retention=row[10],
        valid_from=row[11],
        valid_to=row[12],
        expires_at=row[13],
        closed_at=row[14],
    )

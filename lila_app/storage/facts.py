"""Facts: what was said, as subject, predicate and value, with where and when.

Each has two intervals: `valid_from` to `valid_to` is when it holds in the world, `learned_at` to
`closed_at` when LILA believed it. A row's words never change; what becomes of it (its stage and
status) is a change of its own in the log (see `changes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from lila_app.errors import NotFoundError
from lila_app.storage import events
from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, optional_id, optional_number, storable

Stage = Literal["candidate", "withheld", "long_term", "core"]
"""How far a fact has come; a "withheld" one was put back by hand and goes nowhere by itself."""

Status = Literal["current", "closed", "conflict"]

How = Literal["said", "use", "confirmed", "ended"]
"""How a turn bears on a fact: said again, its value used in the reply, confirmed by hand, or said
to hold no more."""

_COLUMNS = (
    "f.id, f.subject, f.subject_key, f.predicate, f.value, f.value_key, f.text, f.kind, f.negated, "
    "f.many, f.stage, f.status, f.valid_from, f.valid_to, f.learned_at, f.closed_at, "
    "f.superseded_by, f.explicit, f.confidence, f.extractor, f.source_turn, f.span_start, "
    "f.span_end, f.memory_id, f.digest, coalesce(t.speaker, '')"
)
_FROM = "from facts f left join turns t on t.id = f.source_turn "


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact. `subject_key` and `value_key` are what makes two of them the same.

    `span` are offsets into the words of `source_turn`; `speaker` is who said it ("": the person).
    Days are ISO dates in the person's zone, times ISO 8601 in UTC; None is open.
    """

    id: str
    subject: str
    subject_key: str
    predicate: str
    value: str
    value_key: str
    text: str
    kind: str
    negated: bool
    many: bool
    stage: Stage
    status: Status
    valid_from: str | None
    valid_to: str | None
    learned_at: str
    closed_at: str | None
    superseded_by: str | None
    explicit: bool
    confidence: int
    extractor: str
    source_turn: str | None
    span: tuple[int, int] | None
    memory_id: str | None
    digest: str
    speaker: str


@dataclass(frozen=True, slots=True)
class Stated:
    """What `add` needs to know of a fact."""

    subject: str
    subject_key: str
    predicate: str
    value: str
    value_key: str
    text: str
    kind: str
    negated: bool
    many: bool
    explicit: bool
    confidence: int
    extractor: str
    valid_from: str | None = None
    valid_to: str | None = None
    source_turn: str | None = None
    span: tuple[int, int] | None = None
    memory_id: str | None = None
    stage: Stage = "candidate"


@dataclass(frozen=True, slots=True)
class SightingRow:
    """A turn that bears on a fact."""

    fact_id: str
    turn_id: str
    at: str
    how: How


def add(connection: Connection, stated: Stated, *, at: str) -> FactRow:
    """Keep a fact, with its first sighting."""
    at = instant(at)
    fact: int = connection.execute(
        "insert into facts (subject, subject_key, predicate, value, value_key, text, kind, "
        "negated, many, stage, status, valid_from, valid_to, learned_at, explicit, confidence, "
        "extractor, source_turn, span_start, span_end, memory_id, digest) values "
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'current', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '') "
        "returning id",
        (
            *map(storable, (stated.subject, stated.subject_key, stated.predicate)),
            *map(storable, (stated.value, stated.value_key, stated.text)),
            *(stated.kind, stated.negated, stated.many, stated.stage),
            *(stated.valid_from, stated.valid_to),
            *(at, stated.explicit, stated.confidence, stated.extractor),
            optional_number(stated.source_turn, "t"),
            *(stated.span or (None, None)),
            optional_number(stated.memory_id, "m"),
        ),
    ).fetchone()[0]
    event = events.append(
        connection,
        "fact_learned",
        subject=f"f{fact}",
        session_id=None,
        at=at,
        body={
            "subject": stated.subject,
            "predicate": stated.predicate,
            "value": stated.value,
            "text": stated.text,
            "kind": stated.kind,
            "negated": stated.negated,
            "valid_from": stated.valid_from,
            "valid_to": stated.valid_to,
            "source_turn": stated.source_turn,
            "extractor": stated.extractor,
            "confidence": stated.confidence,
            "explicit": stated.explicit,
        },
    )
    connection.execute("update facts set digest = ? where id = ?", (event.digest, fact))
    if stated.source_turn is not None:
        sight(connection, f"f{fact}", stated.source_turn, at=at, how="said")
    return get(connection, f"f{fact}")


def sight(connection: Connection, fact: str, turn: str, *, at: str, how: How) -> bool:
    """Note that a turn bears on a fact; once a turn. Whether that is new."""
    done = connection.execute(
        "insert or ignore into sightings values (?, ?, ?, ?)",
        (number(fact, "f"), number(turn, "t"), instant(at), how),
    )
    return done.rowcount > 0


def used(connection: Connection, memory: str, turn: str, *, at: str) -> bool:
    """Note that the reply of a turn really repeats a memory; once a turn. Whether that is new."""
    done = connection.execute(
        "insert or ignore into uses values (?, ?, ?)",
        (number(memory, "m"), number(turn, "t"), instant(at)),
    )
    return done.rowcount > 0


def get(source: Source, id: str) -> FactRow:
    """One fact. Raises `NotFoundError`."""
    found = by_ids(source, [id])
    if not found:
        raise NotFoundError(f"there is no fact {id}", hint="`lila memory candidates` shows some")
    return found[0]


def by_ids(source: Source, ids: Iterable[str]) -> list[FactRow]:
    """The facts of these ids that exist, by id."""
    return _where(source, "f.id", [number(id, "f") for id in ids])


def of_memories(source: Source, ids: Iterable[str]) -> list[FactRow]:
    """The facts these memories stand for, by id."""
    return _where(source, "f.memory_id", [number(id, "m") for id in ids])


def of_turns(source: Source, ids: Iterable[str]) -> list[FactRow]:
    """The facts first said in these turns, by id."""
    return _where(source, "f.source_turn", [number(id, "t") for id in ids])


def replaced_by(source: Source, id: str) -> list[FactRow]:
    """The facts that this one took the place of, by id."""
    return _where(source, "f.superseded_by", [number(id, "f")])


def in_slot(source: Source, subject_keys: Sequence[str], predicate: str) -> list[FactRow]:
    """What is held of a subject (under these keys) in one respect, open or closed, by id."""
    marks = ", ".join("?" * len(subject_keys))
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_COLUMNS} {_FROM} where f.subject_key in ({marks}) and f.predicate = ? "
            "order by f.id",
            (*subject_keys, predicate),
        )
        return [_fact(row) for row in rows]


def keys_named(source: Source, key: str) -> list[str]:
    """The subject keys of everybody of one name: the bare one and those told apart, sorted."""
    with reading(source) as connection:
        rows = connection.execute(
            "select distinct subject_key from facts where subject_key = ? or "
            "(subject_key >= ? and subject_key < ?) order by 1",
            (key, f"{key} (", f"{key} )"),
        )
        return [row[0] for row in rows]


def told_in(source: Source, key: str) -> list[str]:
    """The words in which facts about a subject were said, each once."""
    with reading(source) as connection:
        rows = connection.execute(
            "select t.user from facts f join turns t on t.id = f.source_turn "
            "where f.subject_key = ?1 and t.user_erased = 0 union "
            "select m.text from facts f join memories m on m.id = f.memory_id "
            "where f.subject_key = ?1 and f.source_turn is null",
            (key,),
        )
        return [row[0] for row in rows]


def listed(
    source: Source,
    *,
    stages: Sequence[Stage] = (),
    status: Status | None = None,
    limit: int | None = None,
) -> list[FactRow]:
    """Facts of these stages and this status, by id, the newest `limit` of them."""
    conditions: list[str] = []
    values: list[object] = []
    if stages:
        conditions.append(f"f.stage in ({', '.join('?' * len(stages))})")
        values += stages
    if status is not None:
        conditions.append("f.status = ?")
        values.append(status)
    where = f"where {' and '.join(conditions)} " if conditions else ""
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_COLUMNS} {_FROM} {where}order by f.id desc limit ?",
            (*values, -1 if limit is None else limit),
        ).fetchall()
    return [_fact(row) for row in reversed(rows)]


def sightings(source: Source, ids: Iterable[str]) -> list[SightingRow]:
    """The turns that bear on these facts, in the order of time."""
    wanted = [number(id, "f") for id in ids]
    with reading(source) as connection:
        rows = connection.execute(
            "select fact_id, turn_id, at, how from sightings "
            f"where fact_id in ({', '.join('?' * len(wanted))}) order by at, turn_id, fact_id",
            wanted,
        )
        return [SightingRow(f"f{row[0]}", f"t{row[1]}", row[2], row[3]) for row in rows]


def uses(source: Source, memory: str) -> list[tuple[str, str]]:
    """(turn, time) of the replies that repeat a memory, in the order of time."""
    with reading(source) as connection:
        rows = connection.execute(
            "select turn_id, at from uses where memory_id = ? order by at, turn_id",
            (number(memory, "m"),),
        )
        return [(f"t{turn}", at) for turn, at in rows]


def relations_of(source: Source, ids: Iterable[str]) -> list[str]:
    """The relations made of these facts, by id."""
    wanted = [number(id, "f") for id in ids]
    with reading(source) as connection:
        rows = connection.execute(
            f"select id from relations where fact_id in ({', '.join('?' * len(wanted))}) "
            "order by id",
            wanted,
        )
        return [f"r{row[0]}" for row in rows]


def _where(source: Source, column: str, values: Sequence[int]) -> list[FactRow]:
    if not values:
        return []
    marks = ", ".join("?" * len(values))
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_COLUMNS} {_FROM} where {column} in ({marks}) order by f.id", values
        )
        return [_fact(row) for row in rows]


def _fact(row: Sequence[Any]) -> FactRow:
    return FactRow(
        id=f"f{row[0]}",
        subject=row[1],
        subject_key=row[2],
        predicate=row[3],
        value=row[4],
        value_key=row[5],
        text=row[6],
        kind=row[7],
        negated=bool(row[8]),
        many=bool(row[9]),
        stage=cast(Stage, row[10]),
        status=cast(Status, row[11]),
        valid_from=row[12],
        valid_to=row[13],
        learned_at=row[14],
        closed_at=row[15],
        superseded_by=optional_id("f", row[16]),
        explicit=bool(row[17]),
        confidence=row[18],
        extractor=row[19],
        source_turn=optional_id("t", row[20]),
        span=None if row[21] is None else (row[21], row[22]),
        memory_id=optional_id("m", row[23]),
        digest=row[24],
        speaker=row[25],
    )

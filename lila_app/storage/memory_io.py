"""What was read from memory and written to it, put together from what is stored already.

Reads are the memories and relations that stood in a prompt on record and those a tool returned;
writes are the events of memories, facts and relations. There is no table: what is forgotten leaves
its event without a payload, and so an id and a time here, and nothing it said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection
from lila_app.storage.values import number, optional_id

Way = Literal["read", "write"]

_LETTERS = frozenset("mfr")
_WRITES = {
    "memory_added": "added",
    "memory_superseded": "superseded",
    "memory_changed": "changed",
    "fact_learned": "learnt",
    "relation_added": "related",
    "relation_closed": "closed",
    "relation_reopened": "reopened",
    "relation_marked": "marked",
    "relation_moved": "moved",
    "erased": "erased",
}
_HANDS = ("hand", "undone", "confirmed", "forgotten")
"""Why of a change that a person made, whether by a command or by taking one back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One read or write. `what` is what was done, `who` did it, `ids` to what.

    `turn` is the one it was done in or learnt from, `record` the prompt it stood in. `order` sorts
    entries of one moment.
    """

    at: str
    way: Way
    what: str
    who: str
    ids: tuple[str, ...]
    turn: str | None
    record: str | None
    order: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a tool by the sequences it lies between, and what it showed or did."""

    began: int
    ended: int
    name: str
    turn: str
    ids: tuple[str, ...]
    at: str


def entries(source: Source, *, turn: str | None = None, limit: int | None = None) -> list[Entry]:
    """Reads and writes, oldest first; of one turn, and the newest `limit` of them, if given."""
    with reading(source) as connection:
        calls = _calls(connection, turn)
        found = [*_prompts(connection, turn, limit), *_returned(calls)]
        found += _written(connection, calls, turn, limit)
    found.sort(key=lambda entry: (entry.at, entry.order))
    return found if limit is None else found[max(0, len(found) - limit) :]


def _prompts(connection: Connection, turn: str | None, limit: int | None) -> Iterator[Entry]:
    """One entry a prompt: everything of memory that stood in it."""
    chosen, values = ("", []) if turn is None else ("and r.turn_id = ? ", [number(turn, "t")])
    rows = connection.execute(
        "select r.id, r.at, r.turn_id, (select u.provider || '/' || u.model from usage u "
        "where u.record_id = r.id order by u.id desc limit 1), "
        "(select group_concat(item_id, ' ') from record_items i where i.record_id = r.id "
        "and i.included = 1 and substr(i.item_id, 1, 1) in ('m', 'r')) as held "
        f"from records r where held is not null {chosen}order by r.id desc limit ?",
        (*values, -1 if limit is None else limit),
    )
    for row, at, turn_row, model, held in rows.fetchall():
        ids = tuple(sorted(held.split(), key=_order))
        yield Entry(
            at, "read", "in the prompt", model or "", ids, optional_id("t", turn_row), f"c{row}",
            (0, row),
        )  # fmt: skip


def _calls(connection: Connection, turn: str | None) -> list[_Call]:
    """Every call of a tool that has returned, with its payload or without."""
    chosen, values = ("", []) if turn is None else ("and e.subject = ? ", [turn])
    rows = connection.execute(
        "select e.sequence, e.kind, e.subject, e.at, p.body from events e "
        "left join payloads p using (sequence) "
        f"where e.kind in ('tool_called', 'tool_returned') {chosen}order by e.sequence",
        values,
    )
    began: dict[str, int] = {}
    found: list[_Call] = []
    row: tuple[int, str, str, str, str | None]
    for row in rows:
        sequence, kind, subject, at, raw = row
        body: dict[str, Any] = json.loads(raw) if raw is not None else {}
        if kind == "tool_called":
            began[subject] = sequence
            continue
        items: Sequence[str] = body.get("items", ())
        ids = tuple(id for id in items if id[:1] in _LETTERS)
        start: int = began.get(subject, sequence)
        found.append(_Call(start, sequence, body.get("name", ""), subject, ids, at))
    return found


def _returned(calls: Sequence[_Call]) -> Iterator[Entry]:
    for call in calls:
        # A call whose return was erased may have shown what was forgotten.
        if call.ids or not call.name:
            name = call.name or "a tool"
            yield Entry(
                call.at, "read", f"returned by {name}", "the model", call.ids, call.turn, None,
                (1, call.ended),
            )  # fmt: skip


def _written(
    connection: Connection, calls: Sequence[_Call], turn: str | None, limit: int | None
) -> Iterator[Entry]:
    marks = ", ".join("?" * len(_WRITES))
    rows = connection.execute(
        "select e.sequence, e.kind, e.subject, e.at, p.body from events e "
        f"left join payloads p using (sequence) where e.kind in ({marks}) "
        "order by e.sequence desc limit ?",
        (*_WRITES, -1 if limit is None or turn is not None else limit),
    )
    for sequence, kind, subject, at, raw in rows.fetchall():
        body: dict[str, Any] = json.loads(raw) if raw is not None else {}
        call = next((one for one in calls if one.began < sequence < one.ended), None)
        told = call.turn if call is not None else _turn_of(body)
        if turn is not None and told != turn:
            continue
        who = f"the model, by {call.name}" if call is not None else _who(kind, body)
        ids = _ids(subject, body)
        yield Entry(at, "write", _what(kind, body), who, ids, told, None, (2, sequence))


def _what(kind: str, body: dict[str, Any]) -> str:
    if kind == "memory_changed":
        return " ".join(filter(None, (body.get("what", "changed"), _bracket(body.get("why")))))
    if not body and kind != "erased":
        return f"{_WRITES[kind]} (forgotten since)"
    return _WRITES[kind]


def _bracket(why: object) -> str:
    return f"({why})" if why else ""


def _who(kind: str, body: dict[str, Any]) -> str:
    """Who made a write, as far as its event says; "" where it was forgotten."""
    match kind:
        case "fact_learned":
            extractor = str(body.get("extractor", ""))
            return extractor if "/" in extractor else ("LILA" if extractor else "")
        case "memory_added":
            return ("LILA" if body.get("source_turn") else "the person") if body else ""
        case "memory_changed":
            return "the person" if body.get("why") in _HANDS else "LILA"
        case "relation_added":
            return ("LILA" if body.get("source") else "the person") if body else ""
        case "erased":
            return "the person"
        case _:
            return "LILA"


def _turn_of(body: dict[str, Any]) -> str | None:
    for key in ("source_turn", "source"):
        value = body.get(key)
        if isinstance(value, str) and value[:1] == "t":
            return value
        if isinstance(value, int):
            return f"t{value}"
    return None


def _ids(subject: str, body: dict[str, Any]) -> tuple[str, ...]:
    others = [step[0] for step in body.get("steps", ())]
    others += [body["by"]] if isinstance(body.get("by"), str) else []
    return tuple(dict.fromkeys(id for id in (subject, *others) if id))


def _order(id: str) -> tuple[str, int]:
    return id[:1], int(id[1:]) if id[1:].isdigit() else 0

"""What a model asked of tools within a turn and what they returned: two kinds of events, no table.

The payload of a return names the items it showed, so that forgetting one of them finds it. A call
without a return is one whose turn ended in between; whether a change took effect, the thing it
changed says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from lila_app.storage import erasure, events
from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import storable

CALLED, RETURNED = "tool_called", "tool_returned"
KINDS = (CALLED, RETURNED)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call: `step` counts the model's answers of the turn from 1, `call` the calls of the turn.

    `arguments` is the text the model wrote. `record_id` is the prompt it was answering.
    """

    turn_id: str
    session_id: str
    record_id: str
    step: int
    call: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call came to; `items` are the ids of everything whose text it shows."""

    text: str
    failed: bool
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call and its return (None: the turn ended first, or it was forgotten).

    `arguments` are "" where they were forgotten.
    """

    turn_id: str
    step: int
    call: int
    name: str
    arguments: str
    returned: Returned | None


def called(source: Source, asked: Asked, *, at: str) -> None:
    """Log a call, before anything is done about it."""
    with writing(source) as connection:
        _append(connection, CALLED, asked, {"arguments": storable(asked.arguments)}, at)


def returned(
    source: Source, asked: Asked, result: Returned, *, at: str, generation: int | None
) -> None:
    """Log a return. `OvertakenError` if anything was forgotten since the generation given."""
    with writing(source) as connection:
        erasure.require(connection, generation)
        body = {
            "text": storable(result.text),
            "failed": result.failed,
            "items": list(result.items),
        }
        _append(connection, RETURNED, asked, body, at)


def count(source: Source, turn_id: str) -> int:
    """How many calls of a turn were logged, the forgotten ones among them."""
    with reading(source) as connection:
        return len(events.of_subject(connection, turn_id, (CALLED,)))


def of_turns(source: Source, turns: Sequence[str]) -> list[CallRow]:
    """The calls of turns, turn by turn in order."""
    with reading(source) as connection:
        marks = ", ".join("?" * len(turns))
        rows = connection.execute(
            "select e.subject, e.kind, p.body from events e join payloads p using (sequence) "
            f"where e.subject in ({marks}) and e.kind in (?, ?) order by e.sequence",
            (*turns, *KINDS),
        ).fetchall()
    found: dict[tuple[str, int], CallRow] = {}
    for turn, kind, raw in rows:
        body: dict[str, Any] = json.loads(raw)
        key = turn, body["call"]
        row = found.get(key, CallRow(turn, body["step"], body["call"], body["name"], "", None))
        if kind == CALLED:
            found[key] = replace(row, arguments=body["arguments"])
        else:
            result = Returned(body["text"], body["failed"], tuple(body["items"]))
            found[key] = replace(row, returned=result)
    places = {turn: place for place, turn in enumerate(turns)}
    return [found[key] for key in sorted(found, key=lambda key: (places[key[0]], key[1]))]


def texts(connection: Connection, turns: Sequence[str] | None) -> list[tuple[int, str, list[str]]]:
    """(sequence, turn, texts) of every call and return, of these turns; for this room only."""
    marks = "" if turns is None else ", ".join("?" * len(turns))
    rows = connection.execute(
        "select e.sequence, e.subject, p.body from events e join payloads p using (sequence) "
        f"where e.kind in (?, ?){'' if turns is None else f' and e.subject in ({marks})'} "
        "order by e.sequence",
        (*KINDS, *(turns or ())),
    ).fetchall()
    return [(sequence, turn, list(_told(json.loads(body)))) for sequence, turn, body in rows]


def showing(connection: Connection, items: Iterable[str]) -> list[int]:
    """Sequences of returns that showed one of these items, or a part of one; for this room only.

    A document's parts are its chunks, those it no longer has among them.
    """
    rows = connection.execute(
        "select e.sequence from events e join payloads p using (sequence) where e.kind = ? and "
        "exists (select 1 from json_each(p.body, '$.items') shown, json_each(?) gone "
        "where shown.value = gone.value or shown.value glob gone.value || '.*')",
        (RETURNED, json.dumps(sorted(set(items)))),
    )
    return [row[0] for row in rows]


def _append(
    connection: Connection, kind: str, asked: Asked, body: Mapping[str, object], at: str
) -> None:
    events.append(
        connection,
        kind,
        subject=asked.turn_id,
        session_id=asked.session_id,
        at=at,
        body={
            "record_id": asked.record_id,
            "step": asked.step,
            "call": asked.call,
            "name": storable(asked.name),
            **body,
        },
    )


def _told(body: dict[str, Any]) -> Iterable[str]:
    """The texts of a payload; arguments both as written and, where they are JSON, as meant."""
    if "text" in body:
        yield body["text"]
    written: str | None = body.get("arguments")
    if written is not None:
        yield written
        try:
            yield from _strings(json.loads(written))
        except (ValueError, RecursionError):
            return


def _strings(value: object) -> Iterable[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += cast("dict[str, object]", one).values()
        elif isinstance(one, list):
            waiting += cast("list[object]", one)

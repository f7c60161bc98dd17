"""Facts that contradict each other, and the marks of turns and memories that say otherwise now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lila_app.storage import changes, facts
from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.values import number


@dataclass(frozen=True, slots=True)
class Mark:
    """What became of something that was said in a turn, or that a memory says.

    `status` is closed or conflict; `text` what was said; `by` what replaced or contradicts it, in
    words, "" where nothing did; `day` from when (ISO).
    """

    of: str
    status: str
    text: str
    by: str
    day: str


LONGEST = 160
"""Characters of what stands beside a mark; it is told in full elsewhere."""


def groups(source: Source) -> list[tuple[FactRow, ...]]:
    """The facts in conflict, those that contradict each other together, by id."""
    with reading(source) as connection:
        rows = {row.id: row for row in facts.listed(connection, status="conflict")}
        seen: set[str] = set()
        found: list[tuple[FactRow, ...]] = []
        for id in rows:
            if id in seen:
                continue
            group, waiting = {id}, [id]
            while waiting:
                fresh = (changes.party(connection, waiting.pop()) & rows.keys()) - group
                group |= fresh
                waiting += sorted(fresh)
            seen |= group
            found.append(tuple(row for one, row in rows.items() if one in group))
        return found


def of(source: Source, fact: str) -> list[FactRow]:
    """The facts that are open and contradict this one, by id."""
    with reading(source) as connection:
        rows = facts.by_ids(connection, sorted(changes.party(connection, fact) - {fact}))
        return [row for row in rows if row.status == "conflict"]


def marks(source: Source, turns: Sequence[str]) -> dict[str, tuple[Mark, ...]]:
    """What of these turns' words does not hold any more, or is contradicted; by turn."""
    with reading(source) as connection:
        rows = [row for row in facts.of_turns(connection, turns) if row.status != "current"]
        seen = _repeated(connection, turns)
        rows += [row for row in seen if row.status != "current"]
        found: dict[str, dict[str, Mark]] = {}
        places = _places(connection, [row.id for row in rows], turns)
        for row in rows:
            mark = _mark(connection, row)
            for turn in {row.source_turn, *places.get(row.id, ())} & set(turns):
                if turn is not None:
                    found.setdefault(turn, {})[row.id] = mark
        return {turn: tuple(of.values()) for turn, of in found.items()}


def marks_of_memories(source: Source, memories: Sequence[str]) -> dict[str, tuple[Mark, ...]]:
    """What of these memories is contradicted, by memory."""
    with reading(source) as connection:
        found: dict[str, list[Mark]] = {}
        for row in facts.of_memories(connection, memories):
            if row.status == "conflict" and row.memory_id is not None:
                found.setdefault(row.memory_id, []).append(_mark(connection, row))
        return {memory: tuple(of) for memory, of in found.items()}


def said(marks: Iterable[Mark]) -> str:
    """Marks as words beside what they mark, each after a semicolon."""
    return "".join(f"; {_words(mark)}" for mark in marks)


def _words(mark: Mark) -> str:
    by = mark.by if len(mark.by) <= LONGEST else mark.by[:LONGEST].rsplit(" ", 1)[0] + " …"
    if mark.status == "conflict":
        return f"contradicted on {mark.day}: {by}" if by else "contradicted"
    return f"no longer so since {mark.day}" + (f": {by}" if by else "")


def _mark(connection: Connection, row: FactRow) -> Mark:
    place = row.source_turn or row.memory_id or row.id
    if row.status == "conflict":
        against = of(connection, row.id)
        by = "; ".join(one.text for one in against)
        day = max((one.learned_at[:10] for one in against), default=row.learned_at[:10])
        return Mark(place, row.status, row.text, by, day)
    by = ""
    if row.superseded_by is not None:
        successors = facts.by_ids(connection, [row.superseded_by])
        by = successors[0].text if successors else ""
    return Mark(place, row.status, row.text, by, (row.valid_to or row.closed_at or "")[:10])


def _repeated(connection: Connection, turns: Iterable[str]) -> list[FactRow]:
    wanted = [number(turn, "t") for turn in turns]
    rows = connection.execute(
        "select distinct fact_id from sightings where how = 'said' and turn_id in "
        f"({', '.join('?' * len(wanted))})",
        wanted,
    )
    return facts.by_ids(connection, [f"f{row[0]}" for row in rows])


def _places(
    connection: Connection, rows: Sequence[str], turns: Sequence[str]
) -> dict[str, set[str]]:
    wanted = set(turns)
    found: dict[str, set[str]] = {}
    for one in facts.sightings(connection, rows) if rows else ():
        if one.turn_id in wanted and one.how == "said":
            found.setdefault(one.fact_id, set()).add(one.turn_id)
    return found

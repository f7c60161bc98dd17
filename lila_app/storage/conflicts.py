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

    `status` is closed, conflict, or current of what has an end; `text` which of several things it
    says, else ""; `by` what replaced or contradicts it, in words, "" where nothing did; `day` from
    when (ISO).
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


def standing(source: Source) -> list[str]:
    """The contradicted memories that stand in every prompt, and those that contradict them, by id.

    What is told by a turn alone has no memory; `marks_of_memories` says it beside the other side.
    """
    with reading(source) as connection:
        rows = connection.execute(
            # Two questions, each with an index: with `or` every memory was read (1 ms in 10,000).
            "select id from memories where kind = 'core' and status = 'conflict' union "
            "select id from memories where pinned = 1 and status = 'conflict'"
        )
        own = [f"m{row[0]}" for row in rows]
        against = [
            one.memory_id
            for row in (facts.of_memories(connection, own) if own else ())
            if row.status == "conflict"
            for one in of(connection, row.id)
            if one.memory_id is not None
        ]
        return sorted({*own, *against}, key=lambda id: number(id, "m"))


def marks(source: Source, turns: Sequence[str]) -> dict[str, tuple[Mark, ...]]:
    """What of these turns' words does not hold any more, or is contradicted; by turn."""
    with reading(source) as connection:
        told = _told(connection, turns)
        found: dict[str, tuple[Mark, ...]] = {}
        for turn, rows in told.items():
            other = [row for row in rows if row.status != "current" or _ends(row)]
            if other:
                found[turn] = tuple(_mark(connection, row, len(rows) > 1) for row in other)
        return found


def _ends(row: FactRow) -> bool:
    """Whether it is to be so until a day; a plan's day is in its own words."""
    return row.valid_to is not None and row.kind in ("durable", "preference")


def marks_of_memories(source: Source, memories: Sequence[str]) -> dict[str, tuple[Mark, ...]]:
    """What of these memories is contradicted, by memory."""
    with reading(source) as connection:
        found: dict[str, list[Mark]] = {}
        for row in facts.of_memories(connection, memories):
            if row.status == "conflict" and row.memory_id is not None:
                found.setdefault(row.memory_id, []).append(_mark(connection, row, several=False))
        return {memory: tuple(of) for memory, of in found.items()}


def said(marks: Iterable[Mark]) -> str:
    """Marks as words beside what they mark, each after a semicolon."""
    return "".join(f"; {_words(mark)}" for mark in marks)


def _words(mark: Mark) -> str:
    by = _short(mark.by)
    what = f"“{_short(mark.text)}” " if mark.text else ""
    if mark.status == "conflict":
        return f"{what}contradicted on {mark.day}: {by}" if by else f"{what}contradicted"
    if mark.status == "current":
        return f"{what}so until {mark.day}"
    return f"{what}no longer so since {mark.day}" + (f": {by}" if by else "")


def _short(text: str) -> str:
    text = text.removesuffix(".")
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " …"


def _mark(connection: Connection, row: FactRow, several: bool) -> Mark:
    place = row.source_turn or row.memory_id or row.id
    text = row.text if several else ""
    if row.status == "conflict":
        against = of(connection, row.id)
        by = "; ".join(one.text for one in against)
        day = max((one.learned_at[:10] for one in against), default=row.learned_at[:10])
        return Mark(place, row.status, text, by, day)
    by = ""
    if row.superseded_by is not None:
        successors = facts.by_ids(connection, [row.superseded_by])
        by = successors[0].text if successors else ""
    return Mark(place, row.status, text, by, (row.valid_to or row.closed_at or "")[:10])


def _told(connection: Connection, turns: Sequence[str]) -> dict[str, list[FactRow]]:
    """The facts each of these turns states, for the first time or again, by id."""
    wanted = [number(turn, "t") for turn in turns]
    rows = connection.execute(
        "select turn_id, fact_id from sightings where how = 'said' and turn_id in "
        f"({', '.join('?' * len(wanted))}) order by turn_id, fact_id",
        wanted,
    ).fetchall()
    held = {row.id: row for row in facts.by_ids(connection, {f"f{fact}" for _, fact in rows})}
    found: dict[str, list[FactRow]] = {}
    for turn, fact in rows:
        found.setdefault(f"t{turn}", []).append(held[f"f{fact}"])
    return found

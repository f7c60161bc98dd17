"""Which facts go with what is forgotten, and what of a memory lives on."""

from __future__ import annotations

from collections.abc import Sequence

from lila_app.storage import changes, events, facts, memories, traces, turns
from lila_app.storage.changes import steps
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.memories import MemoryKind
from lila_app.storage.terms import quoted
from lila_app.storage.values import number

LEAST_WORDS = 3
"""Words a fact must have been said in to be known by them elsewhere: "Yes, Luna" says nothing."""


def told_by(connection: Connection, memories_: Sequence[str]) -> list[FactRow]:
    """The facts some memories tell, with all that say the same elsewhere."""
    return whole(connection, facts.of_memories(connection, memories_))


def whole(connection: Connection, rows: Sequence[FactRow]) -> list[FactRow]:
    """Facts with all that say the same, and what was only said to tell what they name.

    "My cat Luna" says that somebody has Luna, and that Luna is a cat: the second has no other words
    than those that go, and is about nothing else. What became a memory, or was said again
    elsewhere, stays.
    """
    gone = same(connection, rows)
    said = said_in(connection, [row.id for row in gone])
    about = {row.value_key for row in gone}
    beside = [
        one
        for one in facts.of_turns(connection, said)
        if one.stage == "candidate"
        and one.subject_key in about
        and {seen.turn_id for seen in facts.sightings(connection, [one.id])} <= set(said)
    ]
    found = {row.id: row for row in (*gone, *beside)}
    return [found[id] for id in sorted(found, key=lambda id: int(id[1:]))]


def same(connection: Connection, rows: Sequence[FactRow]) -> list[FactRow]:
    """Facts with those of the same subject, predicate and value, held or over, by id."""
    found = {row.id: row for row in rows}
    for row in rows:
        for one in facts.in_slot(connection, [row.subject_key], row.predicate):
            if one.value_key == row.value_key:
                found[one.id] = one
    return [found[id] for id in sorted(found, key=lambda id: int(id[1:]))]


def said_in(connection: Connection, ids: Sequence[str]) -> list[str]:
    """The turns in which these facts were said."""
    if not ids:
        return []
    found = [row.source_turn for row in facts.by_ids(connection, ids)]
    found += [one.turn_id for one in facts.sightings(connection, ids) if one.how == "said"]
    return list(dict.fromkeys(turn for turn in found if turn is not None))


def said_again(connection: Connection, rows: Sequence[FactRow]) -> list[str]:
    """The turns that hold the words one of these facts was said in, word for word.

    What is said while a memory is in view is nothing new and has no sighting.
    """
    told = turns.by_ids(connection, sorted({row.source_turn for row in rows if row.source_turn}))
    words = {turn.id: turn.user for turn in told}
    found: dict[str, None] = {}
    for row in rows:
        quote = words.get(row.source_turn or "", "")[slice(*row.span)] if row.span else ""
        if len(traces.words(quote)) < LEAST_WORDS:
            continue
        looked_for = traces.of(quote, (), lambda _: True)
        others = connection.execute(
            "select id, user from turns where user_erased = 0 and id in "
            "(select rowid from turns_fts where turns_fts match ?) order by id",
            (quoted(quote),),
        )
        found |= {f"t{id}": None for id, user in others if looked_for.whole_in(user)}
    return list(found)


def part(connection: Connection, homes: Sequence[str], gone: Sequence[FactRow]) -> list[str]:
    """Give the other facts of these memories memories of their own; the texts of those."""
    ids = {row.id for row in gone}
    texts: list[str] = []
    for fact in facts.of_memories(connection, homes):
        if fact.id in ids or fact.memory_id is None:
            continue
        home = memories.get(connection, fact.memory_id)
        kind: MemoryKind = "core" if home.kind == "core" else "fact"
        own = memories.add(connection, fact.text, kind=kind, pinned=home.pinned, at=home.at)
        made = steps(connection, fact.id, memory_id=own.id)
        changes.make(connection, "parted", "forgotten", made, at=home.at)
        texts.append(fact.text)
    return texts


def readings(connection: Connection, turn: str) -> list[tuple[int, str | None, str | None]]:
    """(sequence, words, reply) of the events before a turn's final words that are not erased yet.

    None of a turn that was never revised.
    """
    revised = events.of_subject(connection, turn, ("turn_revised",))
    return connection.execute(
        "select e.sequence, json_extract(p.body, '$.text'), json_extract(p.body, '$.reply') "
        "from events e join payloads p using (sequence) where e.subject = ? and e.sequence < ? "
        "and e.kind in ('turn_began', 'turn_revised', 'turn_finished', 'turn_heard', "
        "'turn_retried') order by e.sequence",
        (turn, revised[-1] if revised else 0),
    ).fetchall()


def earlier_records(connection: Connection, turn: str) -> set[int]:
    """Rows of the records made for a turn but the one of its reply.

    Each reading had a prompt of its own; that of the final words holds none of the others.
    """
    made = connection.execute(
        "select r.id from records r join turns t on t.id = r.turn_id "
        "where t.id = ? and r.id is not t.record_id",
        (number(turn, "t"),),
    )
    return {record for (record,) in made}

"""Forgetting: a thing goes with every trace of it that LILA made.

What goes with a memory: its row, index entries and vectors; payload and salt in the event log;
other memories that say the same, word for word; goals, notes, titles and turns of the person that
say the whole of it; replies made with it in view that repeat a telling part (see `traces`), and so
on for replies made with those in view; the sentences of summaries that tell it; the inputs and
plain hashes of every context record that held any of this. What other things say of their own
accord (another memory, a document) stays and is named in the report. Then the file is rewritten,
so that no old page, free page or log frame keeps a copy.

Backups are files of their own: they are named, not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lila_app.storage import backup, documents, lineage, memories, records, relations, traces
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.sweep import Sweep
from lila_app.storage.terms import quoted
from lila_app.storage.traces import Traces
from lila_app.storage.values import instant, number, sort_key

CHUNK_RUN = 6
"""Words in a row that a reply must share with a document's chunk to count as repeating it."""


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What a forgetting erased, by id.

    `erased` are memories, relations, entities, goals, notes, documents, sessions, and cuts whose
    summary was rewritten; `records` lost inputs and hashes; `turns` lost words or reply;
    `backups` are files that still hold it; `remaining` are things that say the same on their own.
    """

    erased: tuple[str, ...]
    records: tuple[str, ...]
    turns: tuple[str, ...]
    backups: tuple[Path, ...]
    remaining: tuple[str, ...]


def forget_memory(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a memory and every trace of it."""
    with store.write() as connection:
        sweep = Sweep(connection, instant(at))
        memory = memories.get(connection, id)
        everything = memories.list_memories(connection)
        said = " ".join(traces.words(memory.text))
        same = [one for one in everything if " ".join(traces.words(one.text)) == said]
        same_ids = {memory.id, *(one.id for one in same)}
        others = [one.text for one in everything if one.id not in same_ids]
        telling = traces.of(memory.text, others, sweep.common)
        told = [one.source_turn for one in same if one.source_turn]
        for one in [memory, *(one for one in same if one.id != id)]:
            sweep.memory(one.id, one.text, one.kind)
        _spread(sweep, telling, told)
        done = _close(store, sweep, telling)
    return _scrubbed(store, done)


def forget_relation(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a relation, its entities where nothing else is about them, and every trace."""
    with store.write() as connection:
        sweep = Sweep(connection, instant(at))
        relation = relations.get(connection, id)
        text = f"{relation.subject} {relation.predicate} {relation.object}"
        others = [
            f"{one.subject} {one.predicate} {one.object}"
            for one in relations.all_relations(connection)
            if one.id != id
        ]
        others += [one.text for one in memories.list_memories(connection)]
        telling = traces.of(text, others, sweep.common)
        sweep.relation(id)
        _spread(sweep, telling, [])
        done = _close(store, sweep, telling)
    return _scrubbed(store, done)


def forget_document(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a document with its chunks, replies that repeat it, and records that held it."""
    with store.write() as connection:
        sweep = Sweep(connection, instant(at))
        document = documents.get_document(connection, id)
        chunks = documents.list_chunks(connection, id)
        sweep.chunks(number(document.id, "d"))
        # Of former chunks only the ids are left; records know them.
        shown = connection.execute(
            "select distinct item_id from record_items where item_id glob ?", (f"{id}.*",)
        ).fetchall()
        ids = {chunk.id for chunk in chunks} | {row[0] for row in shown}
        for chunk in chunks:
            if not records.holding(connection, chunk.id, included_only=True):
                continue
            telling = traces.of(chunk.text, (), lambda _: True, length=CHUNK_RUN)
            _follow(sweep, telling, [chunk.id])
        sweep.erased |= dict.fromkeys(sorted(ids))
        done = _close(store, sweep, None)
    done = ForgetReport((id,), done.records, done.turns, done.backups, ())
    return _scrubbed(store, done)


def forget_session(store: Store, id: str, *, at: str) -> ForgetReport:
    """Delete a session: everything of it that no fork shows, and records that held any of that.

    Ancestors deleted earlier that only this session kept alive go too. Memories that were made
    from it stay: they are things of their own.
    """
    with store.write() as connection:
        sweep = Sweep(connection, instant(at))
        sweep.session_rows(lineage.require(connection, id))
        ended = _ended(connection)
        marks = ", ".join("?" * len(ended))
        living = _living_turns(connection)
        rows = connection.execute(
            f"select id, user, reply from turns where session_id in ({marks})", ended
        ).fetchall()
        sweep.turn_rows([row for row in rows if row[0] not in living])
        held = connection.execute(
            "select id from records where session_id = ?", (number(id, "s"),)
        ).fetchall()
        own = records.erase(connection, [row[0] for row in held])
        done = _close(store, sweep, None)
    done = ForgetReport(
        done.erased, (*(f"c{row}" for row in own), *done.records), done.turns, done.backups, ()
    )
    return _scrubbed(store, done)


def _spread(sweep: Sweep, telling: Traces, told: Sequence[str]) -> None:
    """From the thing itself to everything that says it or was made from it."""
    connection = sweep.connection
    sweep.state(telling)
    for id, user, replies in _turns(connection):
        if telling.whole_in(user):
            sweep.words_of(id)
        if any(telling.whole_in(reply) for reply in replies):
            sweep.reply_of(id)
    for id, user, _ in _turns(connection, told):
        if telling.any_in(user):
            sweep.words_of(id)
    _follow(sweep, telling, [*sweep.erased, *sweep.turns])
    sweep.summaries(telling)


def _follow(sweep: Sweep, telling: Traces, ids: Sequence[str]) -> None:
    """Erase replies made with one of these in view that tell it, then those made with them."""
    waiting, seen = list(ids), set(ids)
    for id in sweep.turns:  # a turn's own reply was made with its words in view
        for turn, _, replies in _turns(sweep.connection, [id]):
            if any(telling.any_in(reply) for reply in replies):
                sweep.reply_of(turn)
    while waiting:
        made = _made_with(sweep.connection, waiting.pop())
        for turn, _, replies in _turns(sweep.connection, made):
            if any(telling.any_in(reply) for reply in replies):
                sweep.reply_of(turn)
                if turn not in seen:
                    seen.add(turn)
                    waiting.append(turn)


def _made_with(connection: Connection, item: str) -> list[str]:
    rows = connection.execute(
        "select t.id from record_items i join records r on r.id = i.record_id "
        "join turns t on t.id = r.turn_id or t.record_id = r.id "
        "where i.item_id = ? and i.included = 1 group by t.id",
        (item,),
    )
    return [f"t{row[0]}" for row in rows]


def _turns(
    connection: Connection, ids: Sequence[str] | None = None
) -> list[tuple[str, str, list[str]]]:
    """(id, words, replies) of turns; where a reply was shortened to what was heard, both."""
    only = "" if ids is None else f"where t.id in ({', '.join('?' * len(ids))})"
    rows = connection.execute(
        f"select t.id, t.user, t.reply from turns t {only} order by t.id",
        [] if ids is None else [number(id, "t") for id in ids],
    ).fetchall()
    heard = connection.execute(
        "select e.subject, json_extract(p.body, '$.reply') from events e "
        "join payloads p using (sequence) where e.kind = 'turn_finished' and e.subject in "
        "(select subject from events where kind = 'turn_heard')"
    )
    whole: dict[str, str] = {row[0]: row[1] for row in heard}
    return [
        (f"t{row}", user, [one for one in (reply, whole.get(f"t{row}")) if one])
        for row, user, reply in rows
    ]


def _ended(connection: Connection) -> list[int]:
    rows = connection.execute("select id from sessions where deleted = 1")
    return [row[0] for row in rows]


def _living_turns(connection: Connection) -> set[int]:
    """Turns that a session which was not deleted shows but did not speak."""
    living: set[int] = set()
    forks = connection.execute(
        "select id from sessions where deleted = 0 and forked_from is not null"
    ).fetchall()
    for (session,) in forks:
        condition, values = lineage.visible(connection, session)
        found = connection.execute(f"select id from turns where {condition}", values)
        living |= {row[0] for row in found}
    return living


def _close(store: Store, sweep: Sweep, telling: Traces | None) -> ForgetReport:
    connection = sweep.connection
    held = sweep.records([*sweep.erased, *sweep.turns])
    sweep.finish()
    connection.execute("update counters set value = 1 where name = 'scrub_due'")
    return ForgetReport(
        erased=tuple(sweep.erased),
        records=tuple(held),
        turns=tuple(sweep.turns),
        backups=tuple(backup.known(connection, store.path)),
        remaining=() if telling is None else tuple(_remaining(connection, telling)),
    )


def _remaining(connection: Connection, telling: Traces) -> list[str]:
    phrase = quoted(telling.whole)
    rows = connection.execute(
        "select 'm' || id, text from memories where id in "
        "(select rowid from memories_fts where memories_fts match ?1) union all "
        "select 'd' || document_id || '.' || number, text from chunks where id in "
        "(select rowid from chunks_fts where chunks_fts match ?1)",
        (phrase,),
    )
    found = [id for id, text in rows if telling.whole_in(text)]
    return sorted(found, key=sort_key)


def _scrubbed(store: Store, report: ForgetReport) -> ForgetReport:
    store.scrub()
    return report

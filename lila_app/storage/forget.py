"""Forgetting: a thing goes with every trace of it that LILA made.

What goes with a memory: its row, index entries and vectors; payload and salt in the event log;
other memories that say the same, word for word; the facts it tells, those of the same subject,
predicate and value, the relations made of them, the words they were said in, and the same words in
other turns; goals, notes, titles and turns of the person that say the whole of it; what tools
returned of it, and calls that tell it; replies made with it in view that repeat a telling part (see
`traces`), and so on for replies made with those in view; the sentences of summaries that tell it;
the inputs and plain hashes of every context record that held any of this. What other things say of
their own accord (another memory, a document) stays and is named in the report. Then the file is
rewritten, so that no old page, free page or log frame keeps a copy.

Where only an earlier reading of a spoken turn tells it, the readings before the final words go with
what was answered to them, and the final words stay.

Backups are files of their own: they are named, not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lila_app.storage import (
    backup,
    documents,
    facts,
    forgetting,
    lineage,
    memories,
    records,
    relations,
    traces,
    vault,
)
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.memories import MemoryRow
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
    summary was rewritten; `records` lost inputs and hashes; `turns` lost words, reply or earlier
    readings;
    `backups` are files that still hold it; `remaining` are things that say the same on
    their own, and turns in which the person's own words still touch on it.
    """

    erased: tuple[str, ...]
    records: tuple[str, ...]
    turns: tuple[str, ...]
    backups: tuple[Path, ...]
    remaining: tuple[str, ...]


def forget_memory(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a memory and every trace of it."""
    return _forget(store, at, lambda sweep: _memory(sweep, id))


def forget_fact(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a fact, the memory that tells it, and every trace of it."""
    return _forget(store, at, lambda sweep: _fact(sweep, id))


def forget_relation(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a relation, its entities where nothing else is about them, and every trace."""
    return _forget(store, at, lambda sweep: _relation(sweep, id))


def forget_document(store: Store, id: str, *, at: str) -> ForgetReport:
    """Forget a document with its chunks, replies that repeat it, and records that held it."""
    return _forget(store, at, lambda sweep: _document(sweep, id))


def forget_session(store: Store, id: str, *, at: str) -> ForgetReport:
    """Delete a session: everything of it that no fork shows, and records that held any of that.

    Ancestors deleted earlier that only this session kept alive go too. Facts from it that wait for
    their promotion go: they are nothing but its words. Memories that were made from it stay, and so
    do replies elsewhere: they are things of their own, listed, and can be forgotten.
    """
    return _forget(store, at, lambda sweep: _session(sweep, id))


def _forget(store: Store, at: str, work: Callable[[Sweep], Traces | None]) -> ForgetReport:
    """Do the work in one transaction, then clean the file.

    Looking through every record for a text takes up to a millisecond a record, so it is done
    before, while others may write: the work is rehearsed to learn the texts, and in the end only
    records that are newer are looked through again.
    """
    at = instant(at)
    texts = _rehearse(store, at, work)
    with store.read() as connection:
        newest = records.newest(connection)
        suspects = records.containing(connection, texts)
    with store.write() as connection:
        sweep = Sweep(connection, at)
        telling = work(sweep)
        sweep.suspects |= set(suspects)
        sweep.suspects |= set(records.containing(connection, sweep.texts, newer_than=newest))
        unrehearsed = set(sweep.texts) - set(texts)
        sweep.suspects |= set(records.containing(connection, unrehearsed))
        held = sweep.records()
        sweep.finish()
        vault.sweep(connection)
        report = ForgetReport(
            erased=tuple(sweep.erased),
            records=tuple(held),
            turns=tuple(dict.fromkeys((*sweep.turns, *sweep.revised))),
            backups=tuple(backup.known(connection, store.path)),
            remaining=() if telling is None else tuple(_remaining(connection, telling)),
        )
    store.scrub()
    return report


class _RehearsedError(Exception):
    """Takes a rehearsal back."""


def _rehearse(store: Store, at: str, work: Callable[[Sweep], object]) -> list[str]:
    texts: list[str] = []
    try:
        with store.write() as connection:
            sweep = Sweep(connection, at)
            work(sweep)
            texts = sweep.texts
            raise _RehearsedError
    except _RehearsedError:
        return texts


def _memory(sweep: Sweep, id: str) -> Traces:
    connection = sweep.connection
    memory = memories.get(connection, id)
    same, others = [memory], list[str]()
    for one in memories.list_memories(connection):
        if one.id != id and traces.folded(one.text) == traces.folded(memory.text):
            same.append(one)
        elif one.id != id:
            others.append(one.text)
    stated = forgetting.told_by(connection, [one.id for one in same])
    return _stated(sweep, memory.text, same, stated, others)


def _fact(sweep: Sweep, id: str) -> Traces:
    connection = sweep.connection
    fact = facts.get(connection, id)
    stated = forgetting.whole(connection, [fact])
    homes = {one.memory_id for one in stated}
    told, others = list[MemoryRow](), list[str]()
    for memory in memories.list_memories(connection):
        if memory.id in homes:
            told.append(memory)
        else:
            others.append(memory.text)
    # What a memory tells beside it lives on in memories of its own.
    others += forgetting.part(connection, [memory.id for memory in told], stated)
    return _stated(sweep, fact.text, told, stated, others)


def _stated(
    sweep: Sweep,
    text: str,
    told: Sequence[MemoryRow],
    stated: Sequence[FactRow],
    others: Sequence[str],
) -> Traces:
    """Erase memories with the facts they tell, and what tells either."""
    connection = sweep.connection
    ids = {fact.id for fact in stated}
    others = [*others, *(one.text for one in facts.listed(connection) if one.id not in ids)]
    telling = traces.of(text, others, sweep.common)
    turns = [one.source_turn for one in told if one.source_turn]
    said = forgetting.said_in(connection, sorted(ids))
    again = forgetting.said_again(connection, stated)
    for fact in stated:
        sweep.fact(fact)
    for memory in told:
        sweep.memory(memory.id, memory.text, memory.kind)
    for turn in (*said, *again):  # that it was said there is known, in whatever words
        sweep.words_of(turn)
    _spread(sweep, telling, [*turns, *said])
    return telling


def _relation(sweep: Sweep, id: str) -> Traces:
    relation = relations.get(sweep.connection, id)
    others = [
        relations.sentence(one) for one in relations.all_relations(sweep.connection) if one.id != id
    ]
    others += [one.text for one in memories.list_memories(sweep.connection)]
    telling = traces.of(relations.sentence(relation), others, sweep.common)
    sweep.relation(id)
    _spread(sweep, telling, [])
    return telling


def _document(sweep: Sweep, id: str) -> None:
    connection = sweep.connection
    documents.get_document(connection, id)
    chunks = documents.list_chunks(connection, id)
    sweep.document(number(id, "d"))
    for chunk in chunks:
        if records.holding(connection, chunk.id, included_only=True):
            telling = traces.of(chunk.text, (), lambda _: True, length=CHUNK_RUN)
            _follow(sweep, telling, [chunk.id])
            sweep.tool_calls(telling, _made_with(connection, chunk.id))


def _session(sweep: Sweep, id: str) -> None:
    connection = sweep.connection
    sweep.end_session(lineage.require(connection, id))
    ended = [row[0] for row in connection.execute("select id from sessions where deleted = 1")]
    living = lineage.inherited_turns(connection)
    for session in ended:
        rows = connection.execute(
            "select id, user, reply from turns where session_id = ?", (session,)
        ).fetchall()
        sweep.turn_rows([row for row in rows if row[0] not in living])
        sweep.cuts_of(session, lineage.inherited_cuts(connection))


def _spread(sweep: Sweep, telling: Traces, told: Sequence[str]) -> None:
    """From the thing itself to everything that says it or was made from it."""
    connection = sweep.connection
    sweep.state(telling)
    for turn in _turns(connection):
        if any(telling.whole_in(said) for said in turn.words):
            sweep.words_of(turn.id)
        elif any(telling.whole_in(said) for said in turn.before):
            # Of what they said first, the person may have kept a part.
            kept = any(telling.mostly_in(said) for said in turn.words)
            (sweep.words_of if kept else sweep.readings_of)(turn.id)
        if any(telling.whole_in(reply) for reply in turn.replies):
            sweep.reply_of(turn.id)
        if any(telling.whole_in(reply) for reply in turn.answers):
            sweep.readings_of(turn.id)
    for turn in _turns(connection, told):
        if any(telling.any_in(said) for said in turn.words):
            sweep.words_of(turn.id)
        elif any(telling.any_in(said) for said in turn.before):
            sweep.readings_of(turn.id)
    _follow(sweep, telling, [*sweep.erased, *sweep.turns])
    sweep.summaries(telling)
    made_with = {turn for id in sweep.erased for turn in _made_with(connection, id)}
    sweep.tool_calls(telling, made_with | sweep.revised.keys(), everywhere=True)


def _follow(sweep: Sweep, telling: Traces, ids: Sequence[str]) -> None:
    """Erase replies made with one of these in view that tell it, then those made with them."""
    waiting, seen = list(ids), set(ids)
    # A turn's own reply was made with its words in view.
    for turn in _turns(sweep.connection, [*sweep.turns, *sweep.revised]):
        _unsay(sweep, telling, turn)
    while waiting:
        made = _made_with(sweep.connection, waiting.pop())
        for turn in _turns(sweep.connection, made):
            if _unsay(sweep, telling, turn) and turn.id not in seen:
                seen.add(turn.id)
                waiting.append(turn.id)


def _unsay(sweep: Sweep, telling: Traces, turn: _Told) -> bool:
    """Erase what a turn's replies tell of it; whether any did."""
    now = any(telling.any_in(reply) for reply in turn.replies)
    before = any(telling.any_in(reply) for reply in turn.answers)
    if now:
        sweep.reply_of(turn.id)
    if before:
        sweep.readings_of(turn.id)
    return now or before


def _made_with(connection: Connection, item: str) -> list[str]:
    rows = connection.execute(
        "select t.id from record_items i join records r on r.id = i.record_id "
        "join turns t on t.id = r.turn_id or t.record_id = r.id "
        "where i.item_id = ? and i.included = 1 group by t.id",
        (item,),
    )
    return [f"t{row[0]}" for row in rows]


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn: its words and replies (also those that were shortened or asked for again), and the
    readings `before` these words with the `answers` to them."""

    id: str
    words: list[str]
    replies: list[str]
    before: list[str]
    answers: list[str]


def _turns(connection: Connection, ids: Sequence[str] | None = None) -> list[_Told]:
    """Turns with all there was of them, by id."""
    marks = "" if ids is None else ", ".join("?" * len(ids))
    rows = connection.execute(
        f"select id, user, reply from turns{'' if ids is None else f' where id in ({marks})'} "
        "order by id",
        [] if ids is None else [number(id, "t") for id in ids],
    ).fetchall()
    before: dict[str, list[str]] = {}
    answers: dict[str, list[str]] = {}
    replies: dict[str, list[str]] = {}
    for subject, kind, text, reply in connection.execute(
        "select e.subject, e.kind, json_extract(p.body, '$.text'), "
        "json_extract(p.body, '$.reply') "
        "from events e join payloads p using (sequence) where e.kind in ('turn_began', "
        "'turn_revised', 'turn_finished', 'turn_retried') and e.subject in (select subject from "
        "events where kind in ('turn_heard', 'turn_retried', 'turn_revised')"
        f"{'' if ids is None else f' and subject in ({marks})'}) order by e.sequence",
        ids or [],
    ):
        if kind == "turn_revised":
            answers.setdefault(subject, []).extend(replies.pop(subject, ()))
        before.setdefault(subject, []).append(text or "")
        replies.setdefault(subject, []).append(reply or "")
    return [
        _Told(
            id,
            _some(user, ()),
            _some(reply, replies.get(id, ())),
            [said for said in _some(None, before.get(id, ())) if said != user],
            _some(None, answers.get(id, ())),
        )
        for id, user, reply in ((f"t{row}", user, reply) for row, user, reply in rows)
    ]


def _some(last: str | None, earlier: Sequence[str]) -> list[str]:
    return [one for one in dict.fromkeys((last, *earlier)) if one]


def _remaining(connection: Connection, telling: Traces) -> list[str]:
    rows = connection.execute(
        "select 'm' || id, text from memories where instr(text, ?2) or id in "
        "(select rowid from memories_fts where memories_fts match ?1) union all "
        "select 'd' || document_id || '.' || number, text from chunks where instr(text, ?2) or "
        "id in (select rowid from chunks_fts where chunks_fts match ?1)",
        (quoted(telling.whole or telling.text), telling.text),
    )
    found = [id for id, text in rows if telling.whole_in(text)]
    if telling.terms:
        # The person's own words that touch on it stay: they are theirs, and they are named.
        rows = connection.execute(
            "select 't' || id, user from turns where user_erased = 0 and id in "
            "(select rowid from turns_fts where turns_fts match ?)",
            (" OR ".join(quoted(term) for term in sorted(telling.terms)),),
        )
        found += [id for id, user in rows if telling.any_in(user)]
    return sorted(found, key=sort_key)

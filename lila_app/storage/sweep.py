"""The erasing itself, row by row, inside one transaction: what `forget` is made of.

A `Sweep` collects what it erased, so that each further step (records, summaries, prefixes) knows
what it follows from.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from lila_app.storage import (
    calls,
    changes,
    contents,
    entities,
    erasure,
    events,
    facts,
    forgetting,
    lineage,
    records,
    relations,
    sessions,
    traces,
    vectors,
)
from lila_app.storage.cuts import EXTRACTIVE
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.terms import quoted
from lila_app.storage.traces import Traces
from lila_app.storage.values import number

COMMON_TURNS = 3
"""A word in more turns than this, and in more than 1 % of them, gives nothing away by itself."""

WORDS = ("turn_began", "turn_revised")
"""Events that hold what the person said in a turn; the last of them holds."""

REPLIES = ("turn_finished", "turn_heard", "turn_retried")
"""Events that hold a reply, or a part of one."""

LONG_TEXT = 40
"""Characters from which a turn of a deleted session is looked for in other sessions' records:
shorter ones ("yes, please") stand in records they have nothing to do with."""


class Sweep:
    """One forgetting under way."""

    def __init__(self, connection: Connection, at: str) -> None:
        self.connection = connection
        self.at = at
        self.erased: dict[str, None] = {}
        """Ids of what is gone, in the order it went."""
        self.turns: dict[str, None] = {}
        """Turns of which the words or the reply are gone."""
        self.revised: dict[str, None] = {}
        """Turns of which only readings before their words are gone, with the answers to those."""
        self.texts: list[str] = []
        """Texts that may stand in records word for word."""
        self.sessions: set[int] = set()
        """Sessions whose prefix changes."""
        self.everywhere = False
        """Whether every session's prefix may change (the profile pack, a goal of all)."""
        self.suspects: set[int] = set()
        """Records to erase, whatever they hold."""
        self._sequences: list[int] = []
        self._changed: list[str] = []
        """Memories and facts whose changes go too; the log is read for all of them once."""

    def memory(self, id: str, text: str, kind: str) -> None:
        """Erase a memory."""
        row = number(id, "m")
        self._payloads(id, ("memory_added",))
        vectors.delete_rows(self.connection, "memories", [row])
        self.connection.execute("delete from memories where id = ?", (row,))
        self._note(id, text)
        self.everywhere |= kind == "core"
        found = self.connection.execute("select id from relations where source = ?", (id,))
        for (relation,) in found.fetchall():
            self.relation(f"r{relation}")
        self._changed.append(id)

    def fact(self, fact: FactRow) -> None:
        """Erase a fact, with the relations made of it, and what was noted of where it came up."""
        for relation in facts.relations_of(self.connection, [fact.id]):
            self.relation(relation)
        self._payloads(fact.id, ("fact_learned",))
        self._changed.append(fact.id)
        self.connection.execute("delete from facts where id = ?", (number(fact.id, "f"),))
        self._note(fact.id, fact.text)

    def relation(self, id: str) -> None:
        """Erase a relation, and each of its entities that no other relation is about."""
        relation = relations.get(self.connection, id)
        self._payloads(id, relations.EVENTS)
        self.connection.execute("delete from relations where id = ?", (number(id, "r"),))
        self._note(id, relations.sentence(relation))
        for entity in sorted({relation.subject_id, relation.object_id}):
            if entity not in self.erased and not relations.of_entity(self.connection, entity):
                for gone in entities.erase(self.connection, entity):
                    self._payloads(gone, entities.EVENTS)
                    self.erased[gone] = None
        relations.bump(self.connection)

    def document(self, document: int) -> None:
        """Erase a document with its chunks and vectors; of former chunks only records know."""
        found = self.connection.execute(
            "select id from chunks where document_id = ?", (document,)
        ).fetchall()
        vectors.delete_rows(self.connection, "chunks", [row for (row,) in found])
        self.connection.execute("delete from chunks where document_id = ?", (document,))
        self.connection.execute("delete from documents where id = ?", (document,))
        self._payloads(f"d{document}", ("document_ingested",))
        self.erased[f"d{document}"] = None
        held = self.connection.execute(
            "select distinct record_id from record_items where item_id glob ?",
            (f"d{document}.*",),
        )
        self.suspects |= {row[0] for row in held}

    def turn_rows(self, rows: Sequence[tuple[int, str, str | None]]) -> None:
        """Erase whole turns, rows and all: (row number, words, reply)."""
        vectors.delete_rows(self.connection, "turns", [row for row, _, _ in rows])
        for fact in facts.of_turns(self.connection, [f"t{row}" for row, _, _ in rows]):
            # What never became a memory is nothing but the turn's words; a memory stays.
            if fact.memory_id is None:
                self.fact(fact)
        for row, user, reply in rows:
            self._payloads(f"t{row}", (*WORDS, *REPLIES, *calls.KINDS))
            self.connection.execute("delete from turns where id = ?", (row,))
            self.turns[f"t{row}"] = None
            self.texts += [text for text in (user, reply or "") if len(text) >= LONG_TEXT]

    def end_session(self, session: int) -> None:
        """Erase what a session holds besides turns and cuts; its bare row stays for the forks."""
        for table, letter, kind in (("goals", "g", "goal_set"), ("notes", "n", "note_added")):
            found = self.connection.execute(
                f"select id from {table} where session_id = ?", (session,)
            ).fetchall()
            for (row,) in found:
                self._payloads(f"{letter}{row}", (kind,))
            self.connection.execute(f"delete from {table} where session_id = ?", (session,))
        self._payloads(f"s{session}", sessions.NAMINGS)
        self.connection.execute("delete from epochs where session_id = ?", (session,))
        self.connection.execute(
            "update sessions set title = '', deleted = 1 where id = ?", (session,)
        )
        held = self.connection.execute("select id from records where session_id = ?", (session,))
        self.suspects |= {row[0] for row in held}
        self.erased[f"s{session}"] = None

    def cuts_of(self, session: int, kept: Container[int]) -> None:
        """Erase a session's cuts but for some."""
        found = self.connection.execute(
            "select id, sequence from cuts where session_id = ?", (session,)
        ).fetchall()
        for row, sequence in found:
            if row not in kept:
                self._sequences.append(sequence)
                self._payloads(f"k{row}", ("summary_rewritten",))
                self.connection.execute("delete from cuts where id = ?", (row,))

    def words_of(self, id: str) -> None:
        """Erase what the person said in a turn; the turn stays, its words do not."""
        row = self.connection.execute(
            "select user, session_id from turns where id = ? and user_erased = 0",
            (number(id, "t"),),
        ).fetchone()
        if row is None:
            return
        self._turn(id, row[1], "user", WORDS)
        # Nothing is left to learn from it, and what its times meant goes with them.
        self.connection.execute("update turns set learned = 1 where id = ?", (number(id, "t"),))
        self.connection.execute("delete from episodes where turn_id = ?", (number(id, "t"),))
        self.connection.execute(
            "update facts set span_start = null, span_end = null where source_turn = ?",
            (number(id, "t"),),
        )
        self.texts.append(row[0])
        self._title(row[1], row[0])

    def readings_of(self, id: str) -> None:
        """Erase what a turn was read as before its words, and what was answered to that."""
        found = forgetting.readings(self.connection, id)
        if not found:
            return
        session: int = self.connection.execute(
            "select session_id from turns where id = ?", (number(id, "t"),)
        ).fetchone()[0]
        for sequence, text, reply in found:
            self._sequences.append(sequence)
            self.texts += [said for said in (text, reply) if said]
            if text:
                self._title(session, text)
        self.suspects |= forgetting.earlier_records(self.connection, id)
        self.revised[id] = None

    def reply_of(self, id: str) -> None:
        """Erase the reply of a turn."""
        row = self.connection.execute(
            "select reply, session_id from turns where id = ? and reply is not null "
            "and reply_erased = 0",
            (number(id, "t"),),
        ).fetchone()
        if row is None:
            return
        self._turn(id, row[1], "reply", REPLIES)
        self.texts.append(row[0])

    def tool_calls(
        self, traces_: Traces, made_with: Iterable[str], *, everywhere: bool = False
    ) -> None:
        """Erase calls of tools and their returns that tell it.

        `made_with` are turns that had it in view: there a telling part is enough, and in turns
        that lost words of their own. `everywhere` looks for the whole of it in all others too.
        """
        near = {*made_with, *self.turns}
        for sequence, turn, said in calls.texts(
            self.connection, None if everywhere else sorted(near)
        ):
            told = traces_.any_in if turn in near else traces_.whole_in
            if any(told(text) for text in said):
                self._sequences.append(sequence)

    def state(self, traces_: Traces) -> None:
        """Erase goals, notes and titles that say the whole of it."""
        for session, title in self.connection.execute("select id, title from sessions").fetchall():
            if traces_.whole_in(title):
                self._untitle(session)
        for table, letter, kind in (("goals", "g", "goal_set"), ("notes", "n", "note_added")):
            found = self.connection.execute(f"select id, text, session_id from {table}").fetchall()
            for row, text, session in found:
                if not traces_.whole_in(text):
                    continue
                self._payloads(f"{letter}{row}", (kind,))
                self.connection.execute(f"delete from {table} where id = ?", (row,))
                self._note(f"{letter}{row}", text)
                if table == "goals":
                    self.everywhere |= session is None
                    self.sessions |= {session} if session else set()

    def summaries(self, traces_: Traces) -> None:
        """Take the sentences that tell it out of every summary of a cut.

        What a model wrote may tell it in words nobody said: a summary made with a turn that lost
        words goes as a whole.
        """
        found = self.connection.execute(
            "select id, session_id, sequence, summary, made_by, upto_sequence from cuts"
        )
        for row, session, sequence, summary, made_by, upto in found.fetchall():
            left, gone = traces.without(summary, traces_)
            if made_by != EXTRACTIVE and summary and self._told_turns(session, upto):
                left, gone = "", [summary]
            if not gone:
                continue
            digest = self._rewrite_summary(row, session, sequence, left)
            self.connection.execute(
                "update cuts set summary = ?, digest = ? where id = ?", (left, digest, row)
            )
            self.texts += [summary, *gone]
            self.erased[f"k{row}"] = None
            self.sessions.add(session)

    def records(self) -> list[str]:
        """Erase inputs and hashes of records that hold something erased, and of the suspects."""
        for id in (*self.erased, *self.turns):
            self.suspects |= set(records.holding(self.connection, id))
        return [f"c{row}" for row in records.erase(self.connection, self.suspects)]

    def title_from(self, session_id: str, text: str) -> None:
        """Take a session's name away, and its forks', where it has it from these words."""
        self._title(number(session_id, "s"), text)

    def finish(self, *, scrub: bool = True) -> None:
        """Erase the payloads, log what prefixes changed, move the generation that guards work.

        Whatever a tool showed of what is gone goes too. With `scrub` the file is due to be
        rewritten, by the caller or at the next opening.
        """
        self._made_titles()
        self._sequences += changes.payloads(self.connection, self._changed)
        self._sequences += calls.showing(self.connection, [*self.erased, *self.turns])
        events.erase(self.connection, self._sequences, at=self.at)
        affected = sorted(self._with_forks(self.sessions))
        for session in [None] if self.everywhere else [f"s{row}" for row in affected]:
            events.append(
                self.connection,
                "prefix_break",
                subject="",
                session_id=session,
                at=self.at,
                body={"reason": "forgotten"},
            )
        contents.disown(self.connection)
        erasure.bump(self.connection)
        if scrub:
            self.connection.execute("update counters set value = 1 where name = 'scrub_due'")

    def common(self, word: str) -> bool:
        """Whether a word is in so many turns that it gives nothing away."""
        turns = self.connection.execute("select count(*) from turns").fetchone()[0]
        limit = max(COMMON_TURNS, turns // 100)
        found: int = self.connection.execute(
            "select count(*) from (select 1 from turns_fts where turns_fts match ? limit ?)",
            (quoted(word), limit + 1),
        ).fetchone()[0]
        return found > limit

    def _turn(self, id: str, session: int, part: str, kinds: Sequence[str]) -> None:
        row = number(id, "t")
        self._payloads(id, kinds)
        vectors.delete_rows(self.connection, "turns", [row])
        digest: str = self.connection.execute(
            "select digest from turns where id = ?", (row,)
        ).fetchone()[0]
        self.connection.execute(
            f"update turns set {part} = '', {part}_erased = 1, external_ids = '[]', digest = ? "
            "where id = ?",
            (events.combine(digest, f"{part} erased"), row),
        )
        self.turns[id] = None
        self.sessions.add(session)

    def _title(self, session: int, text: str) -> None:
        """A session and its forks are named after its first words; such a name goes with them."""
        said = " ".join(traces.words(text))
        for row in sorted(self._with_forks({session})):
            title = self._title_of(row)
            named = " ".join(traces.words(title))
            if named and named in said:
                self._untitle(row)

    def _title_of(self, session: int) -> str:
        title: str = self.connection.execute(
            "select title from sessions where id = ?", (session,)
        ).fetchone()[0]
        return title

    def _untitle(self, session: int) -> None:
        self.connection.execute("update sessions set title = '' where id = ?", (session,))
        self._payloads(f"s{session}", sessions.NAMINGS)

    def _made_titles(self) -> None:
        """Take away titles a model made of turns that lost something.

        They may tell it in words nobody said, as a summary may.
        """
        for sequence, id, naming in sessions.named_by_models(self.connection):
            if (self.turns.keys() | self.revised.keys()).isdisjoint(naming.turns):
                continue
            self._sequences.append(sequence)
            session = number(id, "s")
            if self._title_of(session) == naming.title:
                self._untitle(session)

    def _told_turns(self, session: int, upto: int) -> bool:
        """Whether one of the turns that lost words is told by a cut of a session."""
        condition, values = lineage.visible(self.connection, session)
        rows = self.connection.execute(
            f"select id from turns where {condition} and sequence <= ?", (*values, upto)
        )
        return any(f"t{row[0]}" in self.turns for row in rows)

    def _rewrite_summary(self, row: int, session: int, sequence: int, left: str) -> str:
        self._sequences.append(sequence)
        self._payloads(f"k{row}", ("summary_rewritten",))
        return events.append(
            self.connection,
            "summary_rewritten",
            subject=f"k{row}",
            session_id=f"s{session}",
            at=self.at,
            body={"summary": left},
        ).digest

    def _with_forks(self, sessions: set[int]) -> set[int]:
        found = set(sessions)
        waiting = list(sessions)
        while waiting:
            rows = self.connection.execute(
                "select id from sessions where forked_from = ?", (waiting.pop(),)
            )
            fresh = {row[0] for row in rows} - found
            found |= fresh
            waiting += fresh
        return found

    def _payloads(self, subject: str, kinds: Sequence[str]) -> None:
        self._sequences += events.of_subject(self.connection, subject, kinds)

    def _note(self, id: str, text: str) -> None:
        self.erased[id] = None
        self.texts.append(text)

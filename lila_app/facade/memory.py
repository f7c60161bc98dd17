"""`lila.memory`: what LILA keeps about the person, how it came, what became of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING

from lila_app import moments
from lila_app.composing import usable
from lila_app.errors import UsageError
from lila_app.facade import convert
from lila_app.facade.asking import plain_question
from lila_app.resources import Resources
from lila_app.storage import changes, episodes, facts, forget, memories
from lila_app.storage.memories import MemoryKind, MemoryRow
from lila_app.views import ForgetReport, MemoryHit, MemoryInfo, Progress
from lila_app.views.memory import (
    CandidateInfo,
    ChangeInfo,
    ConflictInfo,
    FactInfo,
    KeptInfo,
    LearnInfo,
    UndoInfo,
    WhyInfo,
)

if TYPE_CHECKING:
    from lila_app.memory.learning import Kept
    from lila_app.memory.taking import Taking
    from lila_app.storage.driver import Connection

KINDS = ("fact", "core")


class Memory:
    """Memories of one profile. Ids are m12 for memories and f12 for facts."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def add(
        self,
        text: str,
        *,
        kind: str = "fact",
        pinned: bool = False,
        now: datetime | str | None = None,
        external_ids: Sequence[str] = (),
        source_turn: str | None = None,
    ) -> MemoryInfo:
        """Keep a memory, as `keep` does; the memory that holds it."""
        return self.keep(
            text,
            kind=kind,
            pinned=pinned,
            now=now,
            external_ids=external_ids,
            source_turn=source_turn,
        ).memory

    def keep(
        self,
        text: str,
        *,
        kind: str = "fact",
        pinned: bool = False,
        now: datetime | str | None = None,
        external_ids: Sequence[str] = (),
        source_turn: str | None = None,
    ) -> KeptInfo:
        """Keep a memory: a "fact" is recalled when it fits, a "core" one opens every prompt.

        What is held already, in these words or others, stays as it is and is named. What it states
        takes the place of what it contradicts (`undo` takes that back). `source_turn` is where it
        was said; forgetting the memory then takes it from there too.
        """
        from lila_app.memory.learning import Kept

        words = " ".join(usable(text).split())
        kept = Kept(words, _kind(kind), pinned, self._at(now), tuple(external_ids), source_turn)
        before = self._newest()
        if self._resources.learns:
            # A model's tool has five seconds, and a parser takes three to load.
            cold = source_turn is not None and not self._resources.looking.parses
            learner = self._resources.learner
            row = learner.keep(kept, later=cold)
            if cold:
                self._resources.later(partial(learner.understand, row.id))
        else:
            row = memories.add(
                self._store,
                kept.text,
                kind=kept.kind,
                pinned=pinned,
                at=kept.at,
                external_ids=external_ids,
                source_turn=source_turn,
            )
        already = int(row.id[1:]) <= before
        if already:
            row = self._as_wanted(row, kept)
        self._resources.learn()
        return KeptInfo(convert.memory(row), already)

    def _as_wanted(self, row: MemoryRow, kept: Kept) -> MemoryRow:
        """A memory that is kept already, made core or pinned where that is asked for."""
        from lila_app.facade import believing

        at = datetime.fromisoformat(kept.at).astimezone(self._resources.settings.zone)
        with self._store.write() as connection:
            if kept.kind == "core" and row.kind != "core":
                believing.promote(self._taking(connection), connection, row.id, True, at)
            if kept.pinned and not row.pinned:
                believing.pin(connection, row.id, True, kept.at)
            return memories.get(connection, row.id)

    def _newest(self) -> int:
        found = memories.list_memories(self._store, limit=1)
        return int(found[0].id[1:]) if found else 0

    def show(self, id: str) -> MemoryInfo:
        """One memory. Raises NotFoundError."""
        return convert.memory(memories.get(self._store, id))

    def list(
        self,
        kind: str | None = None,
        limit: int | None = None,
        as_of: date | datetime | str | None = None,
    ) -> tuple[MemoryInfo, ...]:
        """Memories by id, the newest `limit` of them; with `as_of` what LILA believed then.

        A day stands for its end, where the person lives.
        """
        chosen = _kind(kind) if kind is not None else None
        if as_of is None:
            rows = memories.list_memories(self._store, kind=chosen, limit=limit)
        else:
            rows = memories.as_of(self._store, self._moment(as_of))
            rows = [row for row in rows if chosen is None or row.kind == chosen]
            rows = rows[-limit:] if limit is not None else rows
        return tuple(convert.memory(row) for row in rows)

    def search(
        self,
        query: str,
        limit: int = 10,
        now: datetime | str | None = None,
        as_of: date | datetime | str | None = None,
    ) -> tuple[MemoryHit, ...]:
        """Memories that answer a query, best first, scored as the memory layer scores them.

        With `as_of` only those that LILA believed then.
        """
        from lila_app.layers.search import Finder

        resources = self._resources
        finder = Finder(self._store, resources.embedder.model_id)
        most = limit if as_of is None else max(limit, MOST_LOOKED_AT)
        question = plain_question(resources, usable(query), now=self._at(now))
        relevant = dict(finder.memories(question, resources.scales().memories, k=most))
        if as_of is None:
            rows = memories.by_ids(self._store, relevant)
        else:
            rows = memories.as_of(self._store, self._moment(as_of))
        hits = [
            MemoryHit(convert.memory(row), relevant[row.id]) for row in rows if row.id in relevant
        ]
        hits = [hit for hit in hits if hit.score > 0]
        best = sorted(hits, key=lambda hit: (-hit.score, int(hit.memory.id[1:])))
        return tuple(best[:limit])

    def why(self, id: str) -> WhyInfo:
        """Where a memory or fact is from, what was done to it, what it helped and replaced."""
        from lila_app.facade import explaining

        with self._store.read() as connection:
            return explaining.why(connection, id)

    def conflicts(self) -> tuple[ConflictInfo, ...]:
        """What contradicts each other and was not decided; both sides are offered, with dates."""
        from lila_app.facade import explaining

        with self._store.read() as connection:
            return explaining.all_conflicts(connection)

    def candidates(self, limit: int | None = None) -> tuple[CandidateInfo, ...]:
        """Facts that have not earned a place as a memory yet, and what they lack."""
        from lila_app.facade import explaining

        with self._store.read() as connection:
            taking = self._taking(connection)
            return explaining.waiting(connection, taking, taking.rules, limit)

    def facts(self, limit: int | None = None) -> tuple[FactInfo, ...]:
        """Every fact by id, whatever became of it, the newest `limit` of them."""
        from lila_app.facade import explaining

        rows = facts.listed(self._store, limit=limit)
        return tuple(explaining.fact_info(row) for row in rows)

    def confirm(self, id: str, now: datetime | str | None = None) -> tuple[str, ...]:
        """Say that a memory or fact is right; what contradicts it is closed, and named by id."""
        from lila_app.facade import believing

        at = self._here(now)
        with self._changing() as connection:
            return tuple(believing.settle(self._taking(connection), connection, id, at))

    def edit(
        self, id: str, text: str, now: datetime | str | None = None, *, later: bool = False
    ) -> MemoryInfo:
        """Put other words in a memory's place; the old ones are kept as superseded.

        With `later` what they state may be taken in after this returns: loading a parser takes 3 s.
        """
        from lila_app.facade import believing

        words = " ".join(usable(text).split())
        row = believing.edit(self._resources, id, words, self._here(now), later=later)
        self._resources.learn()
        return convert.memory(row)

    def pin(self, id: str, pinned: bool = True, now: datetime | str | None = None) -> MemoryInfo:
        """Never let a memory be crowded out, or no longer."""
        from lila_app.facade import believing

        with self._changing() as connection:
            return convert.memory(believing.pin(connection, id, pinned, self._at(now)))

    def promote(self, id: str, core: bool = False, now: datetime | str | None = None) -> MemoryInfo:
        """Make a memory of a fact that waits; with `core` a part of every conversation to come."""
        from lila_app.facade import believing

        at = self._here(now)
        with self._changing() as connection:
            memory = believing.promote(self._taking(connection), connection, id, core, at)
            return convert.memory(memories.get(connection, memory))

    def demote(self, id: str, now: datetime | str | None = None) -> MemoryInfo:
        """Take a core memory out of every conversation; stop offering any other."""
        from lila_app.facade import believing

        with self._changing() as connection:
            return convert.memory(believing.demote(connection, id, self._at(now)))

    def undo(self, id: str | None = None, now: datetime | str | None = None) -> UndoInfo:
        """Take back the last change, or the last one of a memory or fact, with all it did."""
        from lila_app.facade import believing, explaining

        with self._changing() as connection:
            change = believing.undo(connection, id, self._at(now))
            return explaining.undone(connection, change)

    def history(self, limit: int = 20) -> tuple[ChangeInfo, ...]:
        """What was done lately to any memory or fact, the newest last."""
        from lila_app.facade import explaining

        with self._store.read() as connection:
            found = changes.recent(connection)
            undone = {one.undoes for one in found}
            return tuple(
                explaining.change_info(one, one.sequence in undone) for one in found[-limit:]
            )

    def learn(
        self, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None
    ) -> LearnInfo:
        """Look through what was said and not looked through yet, now. Blocking."""
        done = self._resources.learner.run(progress=progress, cancelled=cancelled)
        self._resources.learn()  # what was promoted is searched for like the rest
        return LearnInfo(done.turns, done.facts, episodes.waiting_count(self._store))

    @contextmanager
    def as_given(self) -> Generator[None]:
        """What is said and added within is kept as it is: no facts are looked for in it, ever."""
        resources = self._resources
        before, resources.learns = resources.learns, False
        try:
            yield
        finally:
            with self._store.write() as connection:
                episodes.skip(connection)
            resources.learns = before

    def forget(self, id: str) -> ForgetReport:
        """Erase a memory or fact and every trace of it, in files and in what was made from it."""
        at = self._at(None)
        if id[:1] == "f":
            return convert.forgotten(forget.forget_fact(self._store, id, at=at))
        return convert.forgotten(forget.forget_memory(self._store, id, at=at))

    @contextmanager
    def _changing(self) -> Generator[Connection]:
        with self._store.write() as connection:
            yield connection
        self._resources.learn()

    def _taking(self, connection: Connection) -> Taking:
        from lila_app.memory.taking import Taking

        return Taking(connection, self._resources.promotion, self._resources.settings.zone)

    def _at(self, now: datetime | str | None) -> str:
        return moments.stored(moments.resolve(now, self._resources.clock))

    def _here(self, now: datetime | str | None) -> datetime:
        time_ = moments.resolve(now, self._resources.clock).replace(microsecond=0)
        return time_.astimezone(self._resources.settings.zone)

    def _moment(self, when: date | datetime | str) -> str:
        """An instant; a day without a time is its last moment where the person lives."""
        if isinstance(when, str):
            try:
                when = date.fromisoformat(when)
            except ValueError:
                when = moments.in_zone(str(when), self._resources.settings.zone)
        if isinstance(when, datetime):
            return moments.stored(moments.resolve(when, self._resources.clock))
        zone = self._resources.settings.zone
        try:
            end = datetime.combine(when + timedelta(days=1), time(), zone)
        except OverflowError:
            raise UsageError(f"{when} is out of range", hint="take an earlier day") from None
        return moments.stored(end - timedelta(seconds=1))


MOST_LOOKED_AT = 200
"""Hits looked at where only some of them were believed at the time that is asked about."""


def _kind(kind: str) -> MemoryKind:
    if kind == "core":
        return "core"
    if kind == "fact":
        return "fact"
    raise UsageError(f"{kind!r} is not a kind of memory", hint="use fact or core")

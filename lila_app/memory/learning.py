"""From turns to facts: each turn is looked at once, in the background, after its reply.

The person's own words make facts about the person, a named speaker's words facts about that
speaker, LILA's own words none. What a reply really repeats of a memory is noted as a use of it.
Nothing LILA itself had put before the model is evidence again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from lila_app.memory import already, by_model, restating, revision, using
from lila_app.memory.completer import Completer
from lila_app.memory.model import ME, Candidate, Extracted, ResolvedDate, Utterance
from lila_app.memory.predicates import Predicates
from lila_app.memory.promotion import Rules
from lila_app.memory.retention import expires
from lila_app.memory.revising import revise
from lila_app.memory.taking import Heard, Taken, Taking
from lila_app.storage import changes, episodes, erasure, facts, memories, turns
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.episodes import Episode
from lila_app.storage.erasure import OvertakenError
from lila_app.storage.memories import Holds, MemoryKind, MemoryRow
from lila_app.storage.turns import TurnRow

Progress = Callable[[int, int, str], None]

BATCH = 16
"""Turns looked through and stored at once: a second or so, which is how long stopping takes."""


class Reader(Protocol):
    """Finds what is stated; `extraction.Extractor` is one."""

    def extract(self, utterance: Utterance, known: Mapping[str, str]) -> Extracted:
        """What an utterance states; `known` leads spoken names to entities' names."""
        ...


@dataclass(frozen=True, slots=True)
class Learnt:
    """How many turns were looked through, and how many facts are new."""

    turns: int
    facts: int


@dataclass(frozen=True, slots=True)
class Means:
    """What learning works with. `known` are the names the graph knows, as the reader wants them."""

    store: Store
    extractor: Reader
    predicates: Predicates
    rules: Rules
    zone: ZoneInfo
    known: Callable[[], Mapping[str, str]]
    completer: Completer | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as the person gives it."""

    text: str
    kind: MemoryKind
    pinned: bool
    at: str
    external_ids: tuple[str, ...] = ()
    source_turn: str | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    turn: TurnRow
    utterance: Utterance
    extracted: Extracted
    shown: Mapping[str, str]


class Learner:
    """Looks through turns and memories; one at a time, whichever thread asks."""

    def __init__(self, means: Means, lock: threading.Lock | None = None) -> None:
        self._means = means
        self._lock = lock or threading.Lock()

    def run(
        self,
        *,
        live: bool = False,
        after: str | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Learnt:
        """Look through every turn that waits; what is stored when it is cancelled stays.

        Only what was said to LILA itself with `live`, and of that only what came after a turn with
        `after`. Blocking, for a worker thread; safe in several processes at once.
        """
        stopped = cancelled or (lambda: False)
        report = progress or _silent
        turns = found = 0
        with self._lock:
            total = episodes.waiting_count(self._means.store)
            while not stopped():
                generation = erasure.generation(self._means.store)
                batch = episodes.waiting(self._means.store, BATCH, live=live, after=after)
                if not batch:
                    break
                report(turns, max(total, turns), "learning")
                try:
                    read = self._read(batch, stopped)
                    found += self._store(read, generation)
                except OvertakenError:
                    continue  # something was forgotten meanwhile: read again what is left
                turns += len(read)
            report(turns, max(total, turns), "learning")
        return Learnt(turns, found)

    def prepare(self, turn: str) -> None:
        """Load what reading a turn takes, by reading it once; nothing is kept.

        Most questions state nothing and take no parser.
        """
        found = turns.by_ids(self._means.store, [turn])
        self._read(found, lambda: False)

    def keep(self, kept: Kept, *, instead_of: str | None = None, later: bool = False) -> MemoryRow:
        """Keep a memory as it is given, with the facts it states and what they replace.

        `instead_of` is a memory it takes the place of, with all that one stated. With `later` what
        it states is left to `understand`, for who cannot wait until a parser is loaded (3 s).
        What is kept already is returned as it is, confirmed.
        """
        means = self._means
        at = datetime.fromisoformat(kept.at).astimezone(means.zone)
        old = [] if instead_of is None else [instead_of]
        extracted = Extracted((), (), ()) if later else self._stated_in(kept.text, at, old)
        with means.store.write() as connection:
            if instead_of is None and not kept.external_ids:
                same = already.held(connection, kept.text, extracted.candidates, kept.at)
                if same is not None:
                    return already.confirmed(connection, *same, kept.source_turn, kept.at)
            row = memories.add(
                connection,
                kept.text,
                kind=kept.kind,
                pinned=kept.pinned,
                at=kept.at,
                source_turn=kept.source_turn,
                external_ids=kept.external_ids,
                holds=self._holds(extracted.candidates),
            )
            taking = Taking(connection, means.rules, means.zone)
            taking.kept(row.id, kept.at)
            if instead_of is not None:
                taking.replace(instead_of, row.id, kept.at)
            words = restating.first_person(kept.text)
            heard = Heard(at, "", words, kept.source_turn, row.id)
            self._take_given(taking, heard, extracted, revising=instead_of is None)
            return memories.get(connection, row.id)

    def understand(self, id: str) -> None:
        """Take in what a memory states that was kept with `later`."""
        means = self._means
        generation = erasure.generation(means.store)
        row = memories.get(means.store, id)
        at = datetime.fromisoformat(row.at).astimezone(means.zone)
        old = memories.replaced_by(means.store, id)
        extracted = self._stated_in(row.text, at, old)
        with means.store.write() as connection:
            erasure.require(connection, generation)
            if row.status == "current" and not facts.of_memories(connection, [id]):
                taking = Taking(connection, means.rules, means.zone)
                # It is taken back together with the memory, and with what that took the place of.
                taking.root = next((one.root for one in changes.of(connection, [id])), None)
                heard = Heard(at, "", restating.first_person(row.text), row.source_turn, id)
                self._take_given(taking, heard, extracted, revising=not old)

    def _stated_in(self, text: str, at: datetime, before: Sequence[str] = ()) -> Extracted:
        """What the person states by giving a text; that it is to be kept is no fact of its own.

        `before` are the memories it takes the place of, whose facts say what it is about.
        """
        means = self._means
        words = restating.first_person(text)
        found = means.extractor.extract(Utterance(words, ME, at), means.known())
        stated = [
            replace(one, explicit=True)
            for one in found.candidates
            or restating.restated(means.store, text, means.predicates, before)
            if one.predicate != "note"
        ]
        # What is over is taken in last: it closes what the same text may just have said.
        stated.sort(key=lambda one: one.cue == "ended")
        return replace(found, candidates=tuple(stated))

    def _take_given(
        self, taking: Taking, heard: Heard, extracted: Extracted, *, revising: bool
    ) -> None:
        taken = [taking.take(one, heard) for one in extracted.candidates]
        if revising:
            self._revise(taking, heard, extracted, taken)

    def _holds(self, stated: Sequence[Candidate]) -> Holds:
        """A plan that has a date is over after it; anything else the person gives stays."""
        if len(stated) != 1 or stated[0].kind != "plan":
            return Holds()
        last = stated[0].valid_to or stated[0].valid_from
        over = expires("plan", last, self._means.rules)
        return Holds() if over is None else Holds(retention="plan", expires_at=over)

    # --- reading, outside any transaction --------------------------------------------------------

    def _read(self, batch: Sequence[TurnRow], stopped: Callable[[], bool]) -> list[_Read]:
        known = self._means.known()
        read: list[_Read] = []
        for turn in batch:
            if stopped() and read:
                break
            read.append(self._read_turn(turn, known))
        return read

    def _read_turn(self, turn: TurnRow, known: Mapping[str, str]) -> _Read:
        means = self._means
        # A record holds the turn it answers too; what was just said is nothing recalled.
        items = [id for id in episodes.shown(means.store, turn.id) if id != turn.id]
        shown = episodes.texts_of(means.store, items)
        utterance = Utterance(
            "" if turn.erased else turn.user,
            turn.speaker or ME,
            datetime.fromisoformat(turn.at).astimezone(means.zone),
            tuple(shown[id] for id in sorted(shown)),
        )
        nothing = Extracted((), (), ())
        said = utterance.text.strip()
        extracted = means.extractor.extract(utterance, known) if said else nothing
        return _Read(turn, utterance, extracted, shown)

    # --- storing, in one transaction -------------------------------------------------------------

    def _store(self, read: Sequence[_Read], generation: int) -> int:
        with self._means.store.write() as connection:
            erasure.require(connection, generation)
            before = _newest(connection)
            for one in read:
                if episodes.learned(connection, one.turn.id):
                    self._take(connection, one)
            return _newest(connection) - before

    def _take(self, connection: Connection, read: _Read) -> None:
        means, turn = self._means, read.turn
        episodes.add(connection, [_episode(turn.id, date) for date in read.extracted.dates])
        heard = Heard(read.utterance.at, turn.speaker, read.utterance.text, turn.id)
        taking = Taking(connection, means.rules, means.zone)
        # What the model kept by a tool, because the person asked for it, is not noted once more.
        kept = memories.kept_in(connection, turn.id)
        taken = [
            taking.take(one, heard)
            for one in read.extracted.candidates
            if not (kept and one.predicate == "note")
        ]
        self._revise(taking, heard, read.extracted, taken)
        using.note(taking, turn, read.shown, read.utterance.at)
        if self._model and not turn.source and not turn.erased:
            episodes.ask_later(connection, turn.id)

    # --- what a model adds -----------------------------------------------------------------------

    @property
    def _model(self) -> str:
        completer = self._means.completer
        return completer.of("extraction") if completer is not None else ""

    def ask(self, *, cancelled: Callable[[], bool] | None = None) -> int:
        """Ask a model about turns the rules have been through, several at once; new facts.

        Each is asked about once, whatever comes of it. Blocking, for a worker thread.
        """
        stopped = cancelled or (lambda: False)
        found = 0
        with self._lock:
            while self._model and not stopped():
                generation = erasure.generation(self._means.store)
                batch = episodes.to_ask(self._means.store, by_model.MOST_TURNS)
                if len(batch) < by_model.LEAST_TURNS:
                    break
                try:
                    found += self._ask(batch, generation)
                except OvertakenError:
                    continue
        return found

    def _ask(self, batch: Sequence[TurnRow], generation: int) -> int:
        means, model = self._means, self._model
        known = means.known()
        read = [self._read_turn(turn, known) for turn in batch]
        told = [by_model.Told(one.turn.id, one.utterance) for one in read]
        found: Mapping[str, tuple[Candidate, ...]] = {}
        if means.completer is not None:
            found = by_model.candidates(means.completer, told, means.predicates)
        with means.store.write() as connection:
            erasure.require(connection, generation)
            before = _newest(connection)
            for one in read:
                if not episodes.asked(connection, one.turn.id):
                    continue
                heard = Heard(
                    one.utterance.at, one.turn.speaker, one.utterance.text, one.turn.id,
                    extractor=model,
                )  # fmt: skip
                taking = Taking(connection, means.rules, means.zone)
                for new in by_model.added(one.extracted, found.get(one.turn.id, ())):
                    taking.take(new, heard)
            return _newest(connection) - before

    def _revise(
        self, taking: Taking, heard: Heard, extracted: Extracted, taken: Sequence[Taken]
    ) -> None:
        """What says that something changed and closed nothing is held against earlier words."""
        if any(one.closed or one.conflicts or one.ending for one in taken):
            return
        doubted = [(one.start, one.end) for one in extracted.refused]
        for sentence in revision.changing(heard.words, self._means.rules.revision):
            if not any(start < sentence.end and sentence.start < end for start, end in doubted):
                revise(taking, heard, sentence)


def _episode(turn: str, date: ResolvedDate) -> Episode:
    return Episode(turn, date.start, date.end, date.first.isoformat(), date.last.isoformat())


def _newest(connection: Connection) -> int:
    row = connection.execute("select seq from sqlite_sequence where name = 'facts'").fetchone()
    return row[0] if row else 0


def _silent(_done: int, _total: int, _label: str) -> None:
    """For callers that do not watch."""

"""What is done after replies: vectors, facts and a name of what was said, and of what was imported.

All of it waits in one queue of the background, gives way to a turn and to a person who leaves, and
is caught up later where it was left.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.looking import Looking
from lila_app.storage.connection import Store

if TYPE_CHECKING:
    from lila_app.embedding.port import Embedder
    from lila_app.memory.learning import Learner

_log = logging.getLogger(__name__)

SLICE_SECONDS = 20.0
"""How long the background computes vectors, or looks through turns, before it does the other: after
an import of a million messages either takes hours, and what was just said must wait for neither."""
GRACE_SECONDS = 1.5
"""How long closing waits for vectors of what was just said, and for a session's name."""
LEARNING_SECONDS = 4.0
"""How long closing waits for facts in what was said since LILA was opened: the parser takes 3 s to
load, and a model may have answered sooner. What was said before, or elsewhere, waits."""


@dataclass(frozen=True, slots=True)
class Means:
    """What it works with; `later` puts work into the queue, `closing` says that LILA closes."""

    store: Store
    looking: Looking
    embedder: Callable[[], Embedder]
    learner: Callable[[], Learner]
    later: Callable[[Callable[[], object]], None]
    closing: threading.Event


class Afterwards:
    """The backlog of one open LILA."""

    def __init__(self, means: Means, *, learns: bool) -> None:
        self.learns = learns
        """Whether what is said is looked through for facts."""
        self._means = means
        self._lock = threading.Lock()
        self._queued = False
        self._answering = self._speaking = 0
        self._put_off = False
        self._turn = ""
        """The turn that is being answered, until it is prepared for."""
        self._before: int | None = None
        """The turn before the first one that was said since LILA was opened."""
        self._patience = self._last = math.inf
        self._unnamed: dict[str, Callable[[], bool]] = {}
        """Sessions that wait for a name, with what makes it."""
        self._asked: set[str] = set()
        """Sessions somebody was asked about."""
        self._naming: threading.Thread | None = None

    def learn(self) -> None:
        """Embed what has no vector yet, and look through what was not; asked twice, done once."""
        self._begin_naming()
        with self._lock:
            if self._queued:
                return
            self._queued = True
        self._means.later(self.catch_up)
        self.look_back()

    def name(self, session: str, make: Callable[[], bool]) -> None:
        """Have a session named with the next `learn`, unless that was tried since LILA was opened.

        `make` says whether it is through with it; if not, it is called again after the next turn.
        """
        with self._lock:
            if session not in self._asked:
                self._unnamed[session] = make

    def catch_up(self) -> None:
        """Embed what has no vector yet, now; a closing LILA gives it a moment and no more.

        Without the moment, one question after the other on the command line would never be
        embedded at all; with no end to it, closing after a large import would take minutes.
        """
        with self._lock:
            self._queued = False
        over = self._for_a_while()
        self._embed(lambda: over() or self._gives_way())
        if over():
            self.learn()  # behind whatever waits: after a large import, it may take hours

    def look_back(self) -> None:
        """Look through what was said before, in the background."""
        if self.learns:
            self._means.later(self._look_through)

    @contextlib.contextmanager
    def answering(self, turn: str) -> Generator[None]:
        """While a turn is answered: the parser is loaded if it takes one, and little else done.

        Neither vectors nor facts of an import take the processor from a model that answers; they
        go on when it has.
        """
        with self._lock:
            self._answering += 1
            self._turn = turn
            self._first(turn)
        self.look_back()
        try:
            yield
        finally:
            self._answered()

    @contextlib.contextmanager
    def speaking(self, turn: str = "") -> Generator[None]:
        """While somebody speaks, or a turn is answered by voice: nothing here takes the processor.

        A parser that loads would be heard as a pause.
        """
        with self._lock:
            self._answering += 1
            self._speaking += 1
            self._first(turn)
        try:
            yield
        finally:
            with self._lock:
                self._speaking -= 1
            self._answered()

    def _first(self, turn: str) -> None:
        if turn and self._before is None:
            self._before = int(turn[1:]) - 1

    def _answered(self) -> None:
        with self._lock:
            self._answering -= 1
            again = self._put_off and not self._answering
            self._put_off = self._put_off and not again
        if again:
            self.learn()

    def close(self) -> None:
        """Begin to count what may still be done, and wait a moment for a name that is under way."""
        now = time.monotonic()
        with self._lock:
            self._patience = min(self._patience, now + GRACE_SECONDS)
            self._last = min(self._last, now + LEARNING_SECONDS)
            naming = self._naming
        if naming is not None:
            naming.join()

    def _look_through(self) -> None:
        looking, closing = self._means.looking, self._means.closing
        if not self.learns or not (self._answering or looking.waits()) or self._hushed():
            return
        looking.give_way(closing)
        if not closing.is_set():
            self._look_while_open()
        # A command that asks one thing lives as long as its answer takes, and closes right after.
        if closing.is_set() and self._said():
            self._means.learner().run(after=f"t{self._before}", cancelled=self._overdue)
            self._embed(self.hurried)

    def _look_while_open(self) -> None:
        learner, closing = self._means.learner(), self._means.closing
        turn, self._turn = self._turn, ""
        if turn and self._answering:
            learner.prepare(turn)
        over = self._for_a_while()
        found = learner.run(
            live=True, cancelled=lambda: over() or closing.is_set() or self._hushed()
        ).facts
        found += learner.run(
            cancelled=lambda: over() or closing.is_set() or self._gives_way()
        ).facts
        if closing.is_set():
            return
        if found + learner.ask(cancelled=self.hurried) or over():
            self.learn()  # what was promoted has no vector yet, or some turns still wait

    def _embed(self, cancelled: Callable[[], bool]) -> None:
        from lila_app.documents.pending import embed_pending

        embed_pending(self._means.store, self._means.embedder(), cancelled=cancelled)

    def _begin_naming(self) -> None:
        """Name what waits for it, in a thread of its own.

        It waits for a network and takes no processor; behind a parser that loads for 3 s, a command
        that asks one thing would be over before its turn came.
        """
        with self._lock:
            closed = math.isfinite(self._patience)
            if closed or self._naming is not None or not self._unnamed:
                return
            self._naming = threading.Thread(target=self._name, name="lila-naming")
            self._naming.start()

    def _name(self) -> None:
        tried: set[str] = set()
        while (found := self._next_unnamed(tried)) is not None:
            session, make = found
            tried.add(session)
            try:
                through = make()
            except Exception as error:
                _log.warning("naming failed: %s", type(error).__name__)
                through = True
            if not through:
                with self._lock:
                    self._asked.discard(session)
                    self._unnamed.setdefault(session, make)

    def _next_unnamed(self, tried: set[str]) -> tuple[str, Callable[[], bool]] | None:
        """The next session to name; without one the thread is over, and another may begin."""
        # Not while a turn is answered: a model on this machine would be asked two things together.
        stop = self.hurried() or self._gives_way()
        with self._lock:
            session = next((one for one in self._unnamed if one not in tried), None)
            if stop or session is None:
                self._naming = None
                return None
            self._asked.add(session)
            return session, self._unnamed.pop(session)

    def _said(self) -> bool:
        return self._before is not None and self._means.looking.waits(after=f"t{self._before}")

    def _gives_way(self) -> bool:
        """Whether a turn is being answered; what is put off for it goes on afterwards."""
        with self._lock:
            self._put_off = self._put_off or self._answering > 0
            return self._answering > 0

    def _hushed(self) -> bool:
        """Whether somebody speaks, or is answered by voice; what is put off goes on afterwards."""
        with self._lock:
            self._put_off = self._put_off or self._speaking > 0
            return self._speaking > 0

    def hurried(self) -> bool:
        """Whether LILA closes and has waited its moment."""
        return time.monotonic() > self._patience

    def _overdue(self) -> bool:
        return time.monotonic() > self._last

    def _for_a_while(self) -> Callable[[], bool]:
        """Whether work that may be endless should let others in the queue have their turn."""
        until = time.monotonic() + SLICE_SECONDS
        return lambda: time.monotonic() > min(until, self._patience)

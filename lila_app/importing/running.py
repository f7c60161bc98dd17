"""An import from beginning to end: read, put in, go on where it was."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from lila_app.errors import Cancelled, StorageError
from lila_app.importing import chatgpt, claude, jsonl, markdown
from lila_app.importing.json_stream import elements
from lila_app.importing.model import Format, Record, Skip
from lila_app.importing.sources import Counted, Found, found
from lila_app.importing.writing import BATCH, Kept, Writer, Written
from lila_app.storage import imports
from lila_app.storage.connection import Store
from lila_app.views import Progress

NAMED = 1000
"""Skipped records kept for the report in memory; all go to the report's file."""

NAMED_BESIDES = 100
"""Of those, what is no message: an export has thousands of images, and they are all alike."""

BATCH_CHARACTERS = 8_000_000
"""Characters after which a batch is written however few messages it has."""

BATCH_RECORDS = 5_000
"""Records after which a batch is written even if nothing in them is to be: lines left out."""

_APPOSITION = re.compile(r", (?:'.*'|\".*\"|-?\d\S*),(?= (?:is|has) )")
_PARTICULAR = re.compile(r"'.*'|(?<!UTF-)(?<!ISO )\bt?\d[\d,.]*|(?<=the tool )\S+")

Named = Callable[[Skip], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chose; `zone` is that of times without one, `own_zone` the person's.

    `name` tells sources apart whose ids are not the only ones in the world (JSONL, Markdown): the
    path's last part where it is "".
    """

    own_zone: tzinfo
    kind: Format | None = None
    name: str = ""
    zone: tzinfo | None = None
    learn: bool = True
    dry: bool = False
    kept: Kept | None = None


@dataclass(slots=True)
class Outcome:
    """What an import did; counts are messages but for `sessions` (new ones).

    `known` were here before; `skipped` were left out, `reasons` says how many for which: they add
    up. `besides` counts what is no message and was not read: files, parts of what was taken.
    """

    path: str
    kind: str
    sessions: int = 0
    messages: int = 0
    known: int = 0
    skipped: int = 0
    resumed_at: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter[str])
    besides: Counter[str] = field(default_factory=Counter[str])
    named: list[Skip] = field(default_factory=list[Skip])

    def leave(self, skip: Skip) -> None:
        """Count something left out, and keep it while there are few."""
        # Without what is each record's own there are few; a million must not be kept.
        reason = _PARTICULAR.sub("…", _APPOSITION.sub("", skip.reason))
        if skip.count:
            self.skipped += skip.count
            self.reasons[reason] += skip.count
        else:
            self.besides[reason] += 1
        if len(self.named) < NAMED and (skip.count or self.besides.total() <= NAMED_BESIDES):
            self.named.append(skip)


@dataclass(slots=True)
class Watch:
    """Who looks on: a bar, a report, and whether to stop."""

    progress: Progress
    named: Named
    stopped: Callable[[], bool]
    clock: Callable[[], str]
    """The time now, as the store keeps it."""


def run(store: Store | None, path: Path, choice: Choice, watch: Watch) -> Outcome:
    """Import a path, or (`choice.dry`) count what would be. Raises `LilaError`, `Cancelled`.

    A dry run needs no store; with one it knows what is here already.
    """
    path = path.expanduser().resolve()
    with found(path, choice.kind) as source:
        outcome = Outcome(str(path), source.kind)
        work = _Work(store, source, choice, watch, outcome)
        began = time.perf_counter()
        try:
            work.whole()
        finally:
            outcome.seconds = time.perf_counter() - began
        return outcome


class _Work:
    def __init__(
        self, store: Store | None, source: Found, choice: Choice, watch: Watch, outcome: Outcome
    ) -> None:
        self._store = store
        self._source = source
        self._choice = choice
        self._watch = watch
        self._outcome = outcome
        self._done_bytes = 0
        self._open: Counted | None = None
        self._began = time.perf_counter()

    def whole(self) -> None:
        row = self._row()
        # Ids of the two services are the only ones in the world; a second export of the same
        # account, under whatever name, has the same. Elsewhere "1" is only the file's own.
        shared = self._source.kind in ("chatgpt", "claude") and not self._choice.name
        namespace = "" if shared else row.name
        writer = Writer(row, namespace, self._choice.learn, self._choice.kept)
        self._outcome.resumed_at = row.position
        for skip in self._source.left:
            self._leave(skip)
        try:
            self._batches(writer, row.position)
        except BaseException:
            with contextlib.suppress(StorageError):  # which may be what ended it
                self._finish(row, "stopped")
            raise
        self._finish(row, "done")

    def _row(self) -> imports.ImportRow:
        source, choice = self._source, self._choice
        path = str(source.path).encode("utf-8", "replace").decode()
        name = (choice.name or source.name).encode("utf-8", "replace").decode()
        at = self._watch.clock()
        if choice.dry or self._store is None:
            return imports.ImportRow(
                0, path, name, source.kind, "", 0, 0, 0, 0, choice.learn, "done", at, at
            )
        return imports.start(
            self._store,
            path,
            name=name,
            kind=source.kind,
            fingerprint=source.fingerprint,
            learn=choice.learn,
            at=at,
        )

    def _finish(self, row: imports.ImportRow, state: imports.State) -> None:
        if not self._choice.dry and self._store is not None:
            imports.finish(self._store, row.id, state, at=self._watch.clock())

    def _batches(self, writer: Writer, done: int) -> None:
        batch: list[Record] = []
        size = messages = 0
        position = 0
        for record in self._records():
            position += 1
            if self._watch.stopped():
                raise Cancelled("stopped")
            if position <= done:
                if position % BATCH == 0:
                    self._report()
                continue
            for piece in _pieces(record):
                batch.append(piece)
                messages += len(piece.messages)
                size += sum(len(message.text) for message in piece.messages)
                if messages >= BATCH or size > BATCH_CHARACTERS or len(batch) > BATCH_RECORDS:
                    # Of a record that is not whole yet, nothing is said to be done.
                    whole = piece is record or not piece.messages
                    self._write(writer, batch, position if whole else position - 1)
                    batch, size, messages = [], 0, 0
        self._write(writer, batch, max(position, done))

    def _write(self, writer: Writer, batch: Sequence[Record], position: int) -> None:
        written = self._stored(writer, batch, position)
        self._outcome.sessions += written.sessions
        self._outcome.messages += written.messages
        self._outcome.known += written.known
        for skip in [*(skip for record in batch for skip in record.skips), *written.skips]:
            self._leave(skip)
        self._report()

    def _stored(self, writer: Writer, batch: Sequence[Record], position: int) -> Written:
        if not self._choice.dry and self._store is not None:
            return writer.write(self._store, batch, position=position, at=self._watch.clock())
        messages = [message for record in batch for message in record.messages]
        if self._store is None:
            return Written(messages=len(messages))
        with self._store.read() as connection:
            done = writer.judge(connection, messages)
        done.messages = len(messages) - done.known - len(done.skips)
        return done

    def _records(self) -> Iterator[Record]:
        if self._source.kind == "markdown":
            yield from markdown.records(self._files(), self._choice.own_zone)
            return
        for part in self._source.parts:
            with part.open() as stream:
                self._open = Counted(part.name, stream)
                yield from self._of_part(self._open, part.name)
                self._done_bytes += self._open.read_bytes
                self._open = None

    def _of_part(self, stream: Counted, name: str) -> Iterator[Record]:
        if self._source.kind == "jsonl":
            many = name != self._source.path.name
            return jsonl.records(stream, name, self._choice.zone, one_of_many=many)
        if self._source.kind == "claude":
            return claude.records(elements(stream, name), name, self._choice.zone)
        return chatgpt.records(elements(stream, name), name)

    def _files(self) -> Iterator[markdown.File]:
        for part in self._source.parts:
            with part.open() as stream:
                content = Counted(part.name, stream).read(markdown.LARGEST_FILE + 1)
            self._done_bytes += len(content)
            yield markdown.File(part.name, content, part.written)

    def _leave(self, skip: Skip) -> None:
        self._outcome.leave(skip)
        self._watch.named(skip)

    def _report(self) -> None:
        done = self._done_bytes + (self._open.read_bytes if self._open else 0)
        seconds = time.perf_counter() - self._began
        count = self._outcome.messages
        label = f"{count:,} {'message' if count == 1 else 'messages'}"
        if count and seconds >= 1:  # before, it says nothing
            label += f", {count / seconds:,.0f} a second"
        self._watch.progress(min(done, self._source.size), self._source.size, label)


def _pieces(record: Record) -> Iterator[Record]:
    """A record in parts of a batch's size: conversations may have any number of messages."""
    if len(record.messages) <= BATCH:
        yield record
        return
    for start in range(0, len(record.messages), BATCH):
        yield Record(record.messages[start : start + BATCH])
    yield Record(skips=record.skips)

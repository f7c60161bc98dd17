"""Files taken into the store and kept in step with what is on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lila_app.documents.chunk import SEPARATOR, chunk
from lila_app.documents.load import LARGEST, load, sha256
from lila_app.documents.model import Loaded
from lila_app.documents.pending import embed_pending
from lila_app.documents.walk import Found, find, said
from lila_app.embedding.port import Embedder
from lila_app.embedding.tokens import Counter
from lila_app.errors import Cancelled, DocumentError
from lila_app.storage import documents, erasure
from lila_app.storage.connection import Store
from lila_app.storage.documents import DocumentRow, NewChunk
from lila_app.storage.erasure import OvertakenError
from lila_app.views import DocumentProblem, IngestReport, Progress


def ingest(
    store: Store,
    embedder: Embedder,
    count: Counter,
    paths: Iterable[Path],
    *,
    now: str,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    kept: Callable[[str], str] | None = None,
) -> IngestReport:
    """Take in the files, and the files of the folders, and drop what is gone from those folders.

    A file is read again only if its size or time changed, and stored again only if its SHA-256
    did. Each document is one transaction, so a crash leaves whole documents; vectors follow in
    batches and are caught up by the next run. What cannot be read is in the report's problems,
    and so is what could only be read in part. Progress is (files done, files, path), then
    (vectors done, vectors, "embedding"). Blocking. Raises `Cancelled` when `cancelled` says so
    (what is done stays), `StorageError` and `WeightsError`. `kept` is how a text may be stored.
    """

    def stop() -> None:
        if cancelled is not None and cancelled():
            raise Cancelled(
                "stopped; what was taken in so far stays",
                hint="run the same `lila ingest` again to go on where it stopped",
            )

    found = find(paths, stop=stop)
    known = {row.path: row for row in documents.list_documents(store)}
    run = _Run(store, count, now, stop, known, kept)
    for done, path in enumerate(found.files):
        stop()
        if progress is not None:
            progress(done, len(found.files), str(path))
        run.take(path)
    if progress is not None and found.files:
        progress(len(found.files), len(found.files), "")
    run.drop_gone(found)
    run.problems += [
        DocumentProblem(_shown(path), reason)
        for path, reason in found.problems
        if str(path) not in run.dropped
    ]
    embed_pending(store, embedder, tables=("chunks",), progress=progress, cancelled=cancelled)
    stop()
    return run.report()


@dataclass(slots=True)
class _Run:
    """One ingest under way: what it works with, and its tally."""

    store: Store
    count: Counter
    now: str
    stop: Callable[[], None]
    known: dict[str, DocumentRow]
    kept: Callable[[str], str] | None = None
    problems: list[DocumentProblem] = field(default_factory=list[DocumentProblem])
    dropped: set[str] = field(default_factory=set[str])
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    chunks: int = 0

    def take(self, path: Path) -> None:
        """Bring the store in step with one file, or note why that cannot be."""
        before = self.known.get(str(path))
        try:
            row = self._unchanged(path, before) or self._read(path, before)
        except DocumentError as problem:
            # What the file holds now is nothing LILA reads, so what it held must not be quoted.
            self._problem(path, str(problem))
            if before is not None:
                self._drop(before)
            return
        except OSError as problem:
            self._problem(path, said(problem))
            return
        if row.problem:
            self._problem(path, row.problem)

    def drop_gone(self, found: Found) -> None:
        """Remove the documents whose file would have been found if it still existed."""
        present = {str(path) for path in found.files}
        for row in self.known.values():
            if row.path not in present and found.covers(Path(row.path)):
                self._drop(row)

    def report(self) -> IngestReport:
        return IngestReport(
            added=self.added,
            changed=self.changed,
            unchanged=self.unchanged,
            removed=len(self.dropped),
            chunks=self.chunks,
            problems=tuple(sorted(self.problems, key=lambda problem: problem.path)),
        )

    def _unchanged(self, path: Path, before: DocumentRow | None) -> DocumentRow | None:
        if before is None:
            return None
        state = path.stat()
        if (state.st_size, state.st_mtime_ns) != (before.size, before.mtime):
            if state.st_size != before.size or sha256(path, stop=self.stop) != before.sha256:
                return None
            documents.touch(self.store, before.id, size=state.st_size, mtime=state.st_mtime_ns)
        self.unchanged += 1
        return before

    def _read(self, path: Path, before: DocumentRow | None) -> DocumentRow:
        while True:
            generation = erasure.generation(self.store)
            # Taken before the content, so that a change while reading is seen the next time.
            state = path.stat()
            if state.st_size > LARGEST:
                raise DocumentError(f"larger than {LARGEST >> 30} GiB")
            digest = sha256(path, stop=self.stop)
            loaded = load(path, stop=self.stop)
            chunks = _chunks(loaded, self.count)
            if self.kept is not None:
                loaded = replace(loaded, title=self.kept(loaded.title))
                chunks = [_redacted(one, self.kept, self.count) for one in chunks]
            self.stop()
            try:
                row = documents.upsert_document(
                    self.store,
                    path=str(path),
                    title=loaded.title,
                    kind=loaded.kind,
                    sha256=digest,
                    size=state.st_size,
                    mtime=state.st_mtime_ns,
                    chunks=chunks,
                    at=self.now,
                    problem=loaded.notice,
                    generation=generation,
                )
            except OvertakenError:
                if before and documents.find_document(self.store, before.path) is None:
                    raise DocumentError("forgotten while it was being read") from None
                continue
            break
        self.added += before is None
        self.changed += before is not None
        self.chunks += row.chunks
        return row

    def _drop(self, row: DocumentRow) -> None:
        if documents.find_document(self.store, row.path) is not None:
            documents.remove(self.store, row.id, at=self.now)
        self.dropped.add(row.path)

    def _problem(self, path: Path, reason: str) -> None:
        self.problems.append(DocumentProblem(_shown(path), reason))


def _chunks(loaded: Loaded, count: Counter) -> Sequence[NewChunk]:
    """Chunks whose path of headings starts with the title, so that a search can find it."""
    return [
        NewChunk(_under(loaded.title, one.heading), one.text, one.tokens, one.first_line, one.page)
        for one in chunk(loaded.parts, count)
    ]


def _redacted(one: NewChunk, kept: Callable[[str], str], count: Counter) -> NewChunk:
    """A chunk as it may be stored; its title is redacted like any text."""
    text = kept(one.text)
    return replace(one, heading=kept(one.heading), text=text, tokens=count(text))


def _under(title: str, heading: str) -> str:
    if not heading or heading == title:
        return title
    if heading.startswith(title + SEPARATOR):
        return heading
    return title + SEPARATOR + heading


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "replace")

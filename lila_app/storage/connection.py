"""The store: one SQLite file, read by many connections and written by one at a time.

A `Store` is used from any thread. `read()` lends a connection with one consistent snapshot;
`write()` lends the only writing connection inside BEGIN IMMEDIATE, so that what is read there is
still true when it is committed. Other processes may write the same file; they take turns through
SQLite's own lock.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from lila_app.errors import ReadOnlyStoreError, StorageError, StoreBusyError
from lila_app.storage import driver, files, migrations
from lila_app.storage.driver import Connection, DatabaseError

IDLE_READERS = 8
"""Reading connections kept open, one for each thread that usually reads; a burst closes more."""


class Store:
    """One profile's file. Close it, or use it as a context manager."""

    def __init__(self, path: Path, writer: Connection | None, mode: str) -> None:
        self.path = path
        self.read_only = writer is None
        self.attachments: dict[str, object] = {}
        """What other modules keep beside the open file (the vector matrix), by name."""
        self.attachment_lock = threading.Lock()
        self._writer = writer
        self._mode = mode
        self._write_lock = threading.RLock()
        self._writing = False
        self._idle: list[Connection] = []
        self._idle_lock = threading.Lock()
        self._shared = threading.local()
        self._closed = False

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Store:
        """Open the file, creating or migrating it first unless `read_only`.

        Raises `NewerStoreError` (the file is left untouched), `ReadOnlyStoreError`,
        `DiskFullError`, `StoreBusyError`, `DamagedStoreError`, and `NotFoundError` for a
        `read_only` file that does not exist.
        """
        path = Path(path)
        migrations.refuse_unusable(path)
        try:
            if read_only:
                mode = files.reading_mode(path)
                store = cls(path, None, mode)
                with store.read() as connection:
                    migrations.refuse_other_versions(connection, path)
                return store
            files.create(path)
            writer = driver.connect(path, "rw")
            try:
                migrations.migrate(writer, path)
            except BaseException:
                writer.close()
                raise
            # How long a file has been lying here influences no content.
            files.prune(path, time.time())
            store = cls(path, writer, "ro")
            store._finish_scrub()
            return store
        except DatabaseError as error:
            raise driver.translate(error, path) from error

    @contextmanager
    def read(self) -> Generator[Connection]:
        """A connection that cannot write, in one snapshot of the committed state."""
        shared: Connection | None = getattr(self._shared, "connection", None)
        connection = shared or self._take()
        try:
            if shared is None:
                connection.execute("begin")
            yield connection
        except DatabaseError as error:
            raise driver.translate(error, self.path) from error
        finally:
            if shared is None:
                self._give_back(connection)

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Within it every `read` of this thread sees one and the same state, on one connection.

        For a search, which reads some twenty times: it sees nothing change between two steps, and
        to begin and end each of them took 1 ms of 20. What the thread itself writes meanwhile it
        does not see either.
        """
        with self.read() as connection:
            outer = getattr(self._shared, "connection", None)
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = outer

    @contextmanager
    def write(self) -> Generator[Connection]:
        """The writing connection in BEGIN IMMEDIATE; commits at the end, rolls back on any error.

        A write inside a write of the same thread is a mistake (pass the connection on instead).
        """
        if self._writer is None:
            raise ReadOnlyStoreError(
                f"{self.path} was opened for reading only",
                hint="check the folder's permissions, or set LILA_HOME",
            )
        if not self._write_lock.acquire(timeout=driver.BUSY_SECONDS):
            raise StoreBusyError(
                f"{self.path} has been written for more than {driver.BUSY_SECONDS:.0f} seconds",
                hint="wait until that is done, then do it again",
            )
        try:
            if self._writing:
                raise RuntimeError("store.write() inside store.write(): pass the connection on")
            self._writing = True
            try:
                yield from self._transaction(self._writer)
            finally:
                self._writing = False
        finally:
            self._write_lock.release()

    def _transaction(self, connection: Connection) -> Generator[Connection]:
        try:
            connection.execute("begin immediate")
            yield connection
            connection.execute("commit")
        except DatabaseError as error:
            _roll_back(connection)
            raise driver.translate(error, self.path) from error
        except BaseException:
            _roll_back(connection)
            raise

    @contextmanager
    def exclusive(self) -> Generator[Connection]:
        """The writing connection outside any transaction, for VACUUM, checkpoints and checks."""
        if self._writer is None:
            raise ReadOnlyStoreError(
                f"{self.path} was opened for reading only",
                hint="check the folder's permissions, or set LILA_HOME",
            )
        with self._write_lock:
            self._drop_idle()
            try:
                yield self._writer
            except DatabaseError as error:
                raise driver.translate(error, self.path) from error

    def scrub(self) -> None:
        """Rewrite the file so that nothing erased is left in it or in its write-ahead log.

        Due after a forgetting; where a crash or another process prevents it, the next opening
        does it. What was forgotten is gone from every table before this begins.
        """
        try:
            with self.exclusive() as connection:
                connection.execute("vacuum")
                connection.execute("update counters set value = 0 where name = 'scrub_due'")
                blocked = connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
                if blocked:
                    connection.execute("update counters set value = 1 where name = 'scrub_due'")
                    raise StoreBusyError("another process still reads an older state of it")
        except StorageError as error:
            raise type(error)(
                f"it is forgotten, but {self.path} keeps traces for now: {error.message}",
                hint="close other processes, see that there is space, and start LILA again: "
                "the file is then cleaned",
            ) from error

    def _finish_scrub(self) -> None:
        with self.read() as connection:
            due = connection.execute(
                "select value from counters where name = 'scrub_due'"
            ).fetchone()[0]
        if due:
            with contextlib.suppress(StorageError):  # the mark stays for the next time
                self.scrub()

    def close(self) -> None:
        """Close every connection; safe to call twice."""
        self._closed = True
        self._drop_idle()
        self.attachments.clear()
        with self._write_lock:
            if self._writer is not None:
                self._writer.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _take(self) -> Connection:
        with self._idle_lock:
            if self._idle:
                return self._idle.pop()
        try:
            connection = driver.connect(self.path, self._mode)
            connection.execute("pragma query_only = on")
        except DatabaseError as error:
            raise driver.translate(error, self.path) from error
        return connection

    def _give_back(self, connection: Connection) -> None:
        _roll_back(connection)
        with self._idle_lock:
            if len(self._idle) < IDLE_READERS and not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _drop_idle(self) -> None:
        with self._idle_lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


Source = Store | Connection
"""What every function of this room takes: the store, or a connection inside its transaction."""


@contextmanager
def reading(source: Source) -> Generator[Connection]:
    """A connection to read from: a given one as it is, or a snapshot of the store."""
    if isinstance(source, Store):
        with source.read() as connection:
            yield connection
    else:
        yield source


@contextmanager
def writing(source: Source) -> Generator[Connection]:
    """A connection to write with: a given one as it is, or a transaction of its own."""
    if isinstance(source, Store):
        with source.write() as connection:
            yield connection
    elif source.in_transaction:
        yield source
    else:
        raise RuntimeError("writing needs a connection inside a transaction: use store.write()")


def _roll_back(connection: Connection) -> None:
    if connection.in_transaction:
        connection.execute("rollback")

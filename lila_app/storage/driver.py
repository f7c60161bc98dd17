"""The SQLite driver: one way to connect, and driver errors turned into sentences.

`pysqlite3` instead of the standard library's module, because the interpreters of macOS and many
builds of Python cannot load extensions, and the vector index is one.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from lila_app.errors import (
    DamagedStoreError,
    DiskFullError,
    ReadOnlyStoreError,
    StorageError,
    StoreBusyError,
)

if TYPE_CHECKING:
    # pysqlite3 ships no types; its interface is the standard library's.
    import sqlite3 as sqlite
else:
    import pysqlite3 as sqlite

Connection = sqlite.Connection
Row = sqlite.Row
DatabaseError = sqlite.DatabaseError

BUSY_SECONDS = 10.0
"""How long a writer waits for another process before it gives up."""

_FULL, _READONLY, _IOERR, _CORRUPT, _CANTOPEN, _NOTADB = 13, 8, 10, 11, 14, 26
_BUSY, _LOCKED = 5, 6
DAMAGE = frozenset({_CORRUPT, _NOTADB})
_NEARLY_FULL = 1_000_000
"""An I/O error with less than this many bytes free is a full disk that SQLite could not name."""


def connect(path: Path, mode: str) -> Connection:
    """A connection in autocommit mode with LILA's settings and the vector extension.

    `mode` is SQLite's URI mode: "ro", "rw", or "immutable" for a file nobody can be writing.
    Raises the driver's own error; callers translate it.
    """
    suffix = "immutable=1" if mode == "immutable" else f"mode={mode}"
    connection = sqlite.connect(
        f"file:{quote(str(path))}?{suffix}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_SECONDS,
    )
    try:
        # The path is found without importing the package, which would import NumPy.
        connection.enable_load_extension(True)
        connection.load_extension(_extension())
        connection.enable_load_extension(False)
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma secure_delete = on")
        # FULL, not NORMAL: a committed turn survives a power cut (the person's words never go).
        connection.execute("pragma synchronous = full")
        connection.execute("pragma temp_store = memory")
        connection.execute("pragma cache_size = -16000")
    except BaseException:
        connection.close()
        raise
    return connection


def memory() -> Connection:
    """An in-memory database, for work that must leave no trace in the file."""
    return sqlite.connect(":memory:", isolation_level=None, check_same_thread=False)


class Blob(Protocol):
    """An open value, read from its beginning on."""

    def read(self, length: int) -> bytes:
        """The next so many bytes, fewer at the end."""
        ...

    def close(self) -> None:
        """Let go of the value."""
        ...


@contextmanager
def open_blob(connection: Connection, table: str, column: str, row: int) -> Generator[Blob]:
    """A value of a table opened for reading piece by piece, without holding it whole."""
    # The standard library names it differently, and pysqlite3 is typed as the standard library.
    opened: Blob = getattr(connection, "open_blob")(table, column, row, True)  # noqa: B009
    try:
        yield opened
    finally:
        opened.close()


def _extension() -> str:
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise StorageError(
            "the vector index sqlite-vec is not installed", hint="install LILA again, whole"
        )
    return str(Path(spec.origin).with_name("vec0"))


def code(error: BaseException) -> int:
    """SQLite's primary result code of a driver error, 0 when it carries none."""
    value: object = getattr(error, "sqlite_errorcode", 0)
    return value & 0xFF if isinstance(value, int) else 0


def translate(error: DatabaseError, path: Path) -> Exception:
    """The driver's error as a `StorageError` with a hint; anything unexpected stays as it is."""
    kind = code(error)
    if kind == _FULL or (kind == _IOERR and _free(path) < _NEARLY_FULL):
        return DiskFullError(
            f"there is no space left for {path}; nothing was written",
            hint="free some space, then do it again",
        )
    if kind in (_READONLY, _CANTOPEN):
        return ReadOnlyStoreError(
            f"{path} cannot be written", hint="check the folder's permissions, or set LILA_HOME"
        )
    if kind in (_BUSY, _LOCKED):
        return StoreBusyError(
            f"another process has been writing {path} for more than {BUSY_SECONDS:.0f} seconds",
            hint="wait until it is done, then do it again",
        )
    if kind in DAMAGE:
        return DamagedStoreError(
            f"{path} is damaged or is not a LILA store ({error})",
            hint="a backup can be put back with `lila db restore`; the damaged file is kept",
        )
    if kind == _IOERR:
        return StorageError(f"{path} could not be read or written ({error})", hint="check the disk")
    return error


def _free(path: Path) -> int:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return _NEARLY_FULL

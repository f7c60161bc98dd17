"""Versions of the store: an ordered list of functions, each run once in one transaction.

The file's version is SQLite's `user_version`. A file of a newer version is refused before a
byte of it is changed. Before an older file is migrated it is copied beside itself, 0600, as
`NAME.before-v2.backup`; such copies age out (see `files.prune`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from lila_app.errors import DamagedStoreError, NewerStoreError, StorageError, StoreBusyError
from lila_app.storage import driver, schema, schema_v2, schema_v3
from lila_app.storage.driver import Connection, DatabaseError

APPLICATION_ID = 0x4C494C41
"""`LILA` in ASCII, in the file's header: what tells a store from any other SQLite file."""

MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    schema.create,
    schema_v2.widen,
    schema_v3.widen,
)
"""Function n brings a file from version n to n + 1."""


def refuse_unusable(path: Path) -> None:
    """Refuse a newer file, or one that is no store, from its header alone, opening nothing."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError:
        return
    if len(header) < 100:
        if header:
            raise _foreign(path)
        return
    version = int.from_bytes(header[60:64], "big")
    if not header.startswith(b"SQLite format 3\0"):
        raise _foreign(path)
    if int.from_bytes(header[68:72], "big") not in (0, APPLICATION_ID):
        raise _foreign(path)
    if version > len(MIGRATIONS):
        raise _newer(path, version)


def refuse_other_versions(connection: Connection, path: Path) -> None:
    """For reading only: the file must be of exactly this version."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise _newer(path, version)
    if version < len(MIGRATIONS):
        raise StorageError(
            f"{path} was written by an older LILA and has to be brought up to date first",
            hint="start LILA once where the file can be written",
        )


def require_store(connection: Connection, path: Path) -> None:
    """Refuse a file that is no store of this version or an older one."""
    application = connection.execute("pragma application_id").fetchone()[0]
    version = _version(connection)
    if application != APPLICATION_ID or version == 0:
        raise _foreign(path)
    if version > len(MIGRATIONS):
        raise _newer(path, version)


def migrate(connection: Connection, path: Path) -> None:
    """Bring the file to the current version; two processes may try at once."""
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise _newer(path, version)
    if version == len(MIGRATIONS):
        _use_wal(connection)
        return
    if version == 0 and connection.execute("select count(*) from sqlite_master").fetchone()[0]:
        raise _foreign(path)
    _use_wal(connection)
    if version > 0:
        _copy(connection, path, len(MIGRATIONS))
    connection.execute("begin immediate")
    try:
        for step in range(_version(connection), len(MIGRATIONS)):
            MIGRATIONS[step](connection)
            connection.execute(f"pragma user_version = {step + 1}")
        connection.execute(f"pragma application_id = {APPLICATION_ID}")
        connection.execute("commit")
        # The version is in the file itself at once, where `refuse_unusable` looks for it.
        connection.execute("pragma wal_checkpoint(truncate)")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _use_wal(connection: Connection) -> None:
    # SQLite does not wait for other processes here, whatever the busy timeout.
    deadline = time.monotonic() + driver.BUSY_SECONDS
    while True:
        try:
            connection.execute("pragma journal_mode = wal").fetchone()
            return
        except DatabaseError as error:
            waiting = driver.code(error) in (5, 6) and time.monotonic() < deadline
            if not waiting:
                raise
            time.sleep(0.01)


def _copy(connection: Connection, path: Path, version: int) -> None:
    from lila_app.storage import backup

    try:
        backup.copy(connection, path.with_name(f"{path.name}.before-v{version}.backup"))
    except StoreBusyError:
        raise
    except StorageError as error:
        raise StorageError(
            f"{path} was not brought up to date, because it could not be backed up first "
            f"({error.message})",
            hint=error.hint,
        ) from error


def _version(connection: Connection) -> int:
    version: int = connection.execute("pragma user_version").fetchone()[0]
    return version


def _newer(path: Path, version: int) -> NewerStoreError:
    return NewerStoreError(
        f"{path} was written by a newer LILA (version {version}; this one knows "
        f"{len(MIGRATIONS)}) and was not touched",
        hint="update LILA, or set LILA_HOME to another folder",
    )


def _foreign(path: Path) -> DamagedStoreError:
    return DamagedStoreError(
        f"{path} is not a LILA store and was not touched",
        hint="move it away, or set LILA_HOME to another folder",
    )

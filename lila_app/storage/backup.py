"""Copies of the store: made compact, put back only when they prove whole.

Copies LILA knows of are listed when something is forgotten, because they still hold it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path

from lila_app.errors import DamagedStoreError, NotFoundError, StorageError, UsageError
from lila_app.storage import driver, events, files, migrations
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection, DatabaseError
from lila_app.storage.values import instant


def backup(store: Store, path: Path, *, at: str) -> Path:
    """Copy the store to a file that does not exist yet, 0600; returns its absolute path."""
    path = Path(path).resolve()
    if path.exists():
        raise UsageError(f"{path} exists already", hint="name a file that does not exist yet")
    with _reader(store.path) as connection:
        copy(connection, path)
    if not store.read_only:
        with store.write() as connection:
            connection.execute(
                "insert or replace into backups values (?, ?)", (str(path), instant(at))
            )
    return path


def restore(path: Path, into: Path, *, at: str) -> Path:
    """Put a backup in place of a store; returns where the old one (if any) is kept, beside it.

    The backup is checked first (structure, chain, version) and left as it is. The pages are
    exchanged in one transaction of the store, so other processes see the old state or the new.
    Every store object of this process on that file must be closed.
    """
    path, into = Path(path).resolve(), Path(into).resolve()
    if not path.exists():
        raise NotFoundError(f"there is no file {path}", hint="name a file `lila db backup` made")
    if path == into:
        raise UsageError("a store cannot be restored from itself", hint="name a backup")
    files.make_folder(into.parent)
    fresh = into.with_name(f"{into.name}.restoring")
    kept = _free_name(into, instant(at))
    fresh.unlink(missing_ok=True)
    try:
        with _named(), _reader(path) as connection:
            _prove(connection, path)
            copy(connection, fresh)
        _exchange(fresh, into, kept)
    finally:
        fresh.unlink(missing_ok=True)
    return kept


def copy(connection: Connection, path: Path) -> None:
    """Write a compact copy, 0600; never half a one under that name. For this room only."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        connection.execute("vacuum into ?", (str(partial),))
        descriptor = os.open(partial, os.O_RDWR)
        os.fsync(descriptor)
        os.close(descriptor)
        partial.replace(path)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror})", hint="choose another place"
        ) from error
    except DatabaseError as error:
        raise driver.translate(error, path) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def known(connection: Connection, path: Path) -> list[Path]:
    """Backups that still exist: beside the store, and those made elsewhere by `backup`."""
    beside = set(files.backups_beside(path))
    rows = connection.execute("select path from backups")
    return sorted(beside | {Path(row[0]) for row in rows if Path(row[0]).exists()})


def _free_name(into: Path, at: str) -> Path:
    stamp = at[:19].replace(":", "").replace("-", "")
    for count in range(1, 1000):
        kept = into.with_name(f"{into.name}.replaced-{stamp}-{count}{files.BACKUP}")
        if not kept.exists():
            return kept
    raise StorageError(f"there are too many old stores beside {into}", hint="remove some")


@contextlib.contextmanager
def _reader(path: Path) -> Generator[Connection]:
    migrations.refuse_unusable(path)
    try:
        connection = driver.connect(path, files.reading_mode(path))
        try:
            yield connection
        finally:
            connection.close()
    except DatabaseError as error:
        raise driver.translate(error, path) from error


@contextlib.contextmanager
def _named() -> Generator[None]:
    """The person named this file: naming another one is the way out, not moving the store."""
    try:
        yield
    except DamagedStoreError as error:
        error.hint = "name a file `lila db backup` made"
        raise


def _prove(connection: Connection, path: Path) -> None:
    migrations.require_store(connection, path)
    found = [row[0] for row in connection.execute("pragma integrity_check(3)")]
    problems = [] if found == ["ok"] else found
    problems += [f"{one.where}: {one.detail}" for one in events.verify(connection)[:3]]
    if problems:
        raise DamagedStoreError(
            f"{path} is damaged and was not restored ({'; '.join(problems)})",
            hint="try another backup",
        )


def _exchange(fresh: Path, into: Path, kept: Path) -> None:
    before = _counters(into)
    with contextlib.closing(driver.connect(fresh, "rw")) as source:
        _renumber(source, before)
        if into.exists() and _keep(into, kept):
            _fill(source, into)
            return
    if into.exists():
        _move_away(into, kept)
    fresh.replace(into)


def _renumber(source: Connection, before: dict[str, int]) -> None:
    """Whoever holds something in memory by these numbers must see that all has changed."""
    for name in ("erasures", "relations", "vault"):
        source.execute(
            "update counters set value = max(value, ?) + 1 where name = ?",
            (before.get(name, 0), name),
        )
    source.execute(
        "update counters set value = ? where name = 'incarnation'", (secrets.randbits(62),)
    )


def _keep(into: Path, kept: Path) -> bool:
    """Copy the old store; False when it is too damaged to be copied or written."""
    try:
        with contextlib.closing(driver.connect(into, "rw")) as old:
            copy(old, kept)
    except (DatabaseError, DamagedStoreError):
        return False
    return True


def _fill(source: Connection, into: Path) -> None:
    try:
        with contextlib.closing(driver.connect(into, "rw")) as target:
            source.backup(target)
            target.execute("pragma wal_checkpoint(truncate)")
    except DatabaseError as error:
        raise driver.translate(error, into) from error


def _move_away(into: Path, kept: Path) -> None:
    """A file nobody can use is moved whole, with its log: the log must not meet the new file."""
    for suffix in ("-wal", "-shm"):
        log = into.with_name(into.name + suffix)
        if log.exists():
            log.replace(kept.with_name(kept.name + suffix))
    into.replace(kept)


def _counters(path: Path) -> dict[str, int]:
    try:
        with contextlib.closing(driver.connect(path, "rw")) as connection:
            return dict(connection.execute("select name, value from counters").fetchall())
    except DatabaseError:
        return {}

"""The store's files: created private, and opened for reading where nothing can be written."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lila_app.errors import NotFoundError, ReadOnlyStoreError

BACKUP = ".backup"
KEEP_DAYS = 30
"""Days a backup made before a migration stays beside the store."""


def create(path: Path) -> None:
    """Make sure the file and its folder exist, readable by this person alone (0600, 0700)."""
    try:
        make_folder(path.parent)
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        os.close(descriptor)
        make_private(path)
    except OSError as error:
        raise ReadOnlyStoreError(
            f"{path} cannot be written ({error.strerror})",
            hint="check the folder's permissions, or set LILA_HOME to a folder of your own",
        ) from error


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents with 0700; existing ones are left as they are."""
    missing = [folder, *folder.parents]
    for one in reversed([one for one in missing if not one.exists()]):
        one.mkdir(mode=0o700, exist_ok=True)


def make_private(path: Path) -> None:
    """Take everyone else's permissions off a file that has them."""
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def reading_mode(path: Path) -> str:
    """How to open an existing file for reading only.

    SQLite needs to write `-shm` even to read a WAL file. Where the folder cannot be written and
    no WAL holds newer pages, nobody can be writing either, and the file is read as it stands.
    """
    if not path.exists():
        raise NotFoundError(f"there is no store at {path}", hint="start LILA once to make one")
    wal = path.with_name(path.name + "-wal")
    if os.access(path.parent, os.W_OK) or (wal.exists() and wal.stat().st_size > 0):
        return "ro"
    return "immutable"


def backups_beside(path: Path) -> list[Path]:
    """Copies of a store that lie in its folder."""
    return sorted(path.parent.glob(f"{path.name}.*{BACKUP}"))


def prune(path: Path, now: float) -> None:
    """Remove migration backups older than 30 days; `now` is in seconds since the epoch."""
    for old in path.parent.glob(f"{path.name}.before-v*{BACKUP}"):
        with contextlib.suppress(OSError):
            if now - old.stat().st_mtime > KEEP_DAYS * 86_400:
                old.unlink()

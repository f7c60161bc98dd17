"""Files in a models folder: a lock between processes, room on the disk, a hashed copy."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lila_app.errors import WeightsError
from lila_app.locks import taken

Tick = Callable[[int], None]
"""Called with the bytes done so far; may raise to stop."""

_CHUNK = 1 << 20
_POLL_SECONDS = 0.2


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex (0.1 to 0.3 s for 98 MB)."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_hashed(source: IO[bytes], target: Path, tick: Tick) -> str:
    """Write `source` to `target`, 0600 and synced; returns the SHA-256 of what was written."""
    digest, done = hashlib.sha256(), 0
    with opened_private(target) as file:
        for chunk in chunks(source):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            tick(done)
    return digest.hexdigest()


def chunks(source: IO[bytes]) -> Iterator[bytes]:
    """What is left of a file, a megabyte at a time."""
    while chunk := source.read(_CHUNK):
        yield chunk


@contextmanager
def opened_private(target: Path, *, append: bool = False) -> Generator[IO[bytes]]:
    """Open a file for writing, 0600, and sync it at the end."""
    how = os.O_APPEND if append else os.O_TRUNC
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def check_room(folder: Path, needed: int) -> None:
    """Refuse before the first byte when `folder` has less than `needed` bytes free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise WeightsError(
            f"{folder} has {free // 1_000_000} MB free and the model needs {_mb(needed)} MB",
            hint="free some space, or point LILA_HOME at a larger disk",
        )


def refused(error: OSError, path: Path) -> WeightsError:
    """The sentence for what the system refused while a model file was written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return WeightsError(
            f"there is no space left for the model in {path}",
            hint="free some space and run the same command again",
        )
    return WeightsError(
        f"the model cannot be written to {path}: {error.strerror or error}",
        hint="make the folder writable for you, or point LILA_HOME at one that is",
    )


@contextmanager
def locked(folder: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Hold the folder's lock, so that two LILAs do not fetch at once; it goes with the process.

    While another holds it, `waiting` is called five times a second; it may raise to stop.
    """
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        while not taken(file):
            waiting()
            time.sleep(_POLL_SECONDS)
        yield


def remove(path: Path) -> None:
    """Remove a file or folder of LILA's own, if it is there and can be."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def remove_empty(*folders: Path) -> None:
    """Remove these folders, in this order, as far as there is nothing in them."""
    for folder in folders:
        with contextlib.suppress(OSError):  # there is something in it
            folder.rmdir()


def _mb(size: int) -> int:
    return -(-size // 1_000_000)

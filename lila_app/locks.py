"""A lock of the system's on an open file; it ends at the latest with the process that holds it."""

from __future__ import annotations

import errno
import sys
from typing import IO

_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""What a system says of a lock that another holds; anything else is about the file."""

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes], at: int) -> None:
        file.seek(at)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes], at: int) -> None:
        del at
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def taken(file: IO[bytes], *, at: int = 0) -> bool:
    """Take the lock without waiting, until the file is closed; False where another has it.

    `at` is the byte that is locked on Windows, which lets nobody else read it. Raises OSError where
    the file cannot be locked at all.
    """
    try:
        _take(file, at)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        return False
    return True

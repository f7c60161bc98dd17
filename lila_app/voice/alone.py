"""One spoken conversation at a time: two would both hear you, and both answer.

It is one for each home, whatever the profile: profiles share one home's microphone and speaker. Two
homes are two LILAs, with settings and so with devices of their own, and whoever made a second one
may want both to listen; nothing of one is looked for in the other. A recording that is answered
with `--input` needs no microphone and is never in the way, nor is a chat that nobody talks to.

What says so is a lock of the system's on a file in the state folder, which ends with the process
that holds it, however that ends. What the file says is read only while somebody holds the lock.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import IO, Literal, cast

from lila_app.errors import SoundError
from lila_app.locks import taken
from lila_app.paths import Home, explained, make_private
from lila_app.voice.trace import folder

Front = Literal["lila voice", "lila voice test", "lila chat"]
"""What holds the conversation, as a person knows it."""

_END: dict[str, str] = {
    "lila voice": "talk to that one, or press q there to end it",
    "lila voice test": "it is over in a few seconds; then try again",
    "lila chat": "talk to that one, or press F4 there to end talking",
}
_ELSEWHERE = "talk to that one, or end it there"
_FAR = 1 << 20
"""Where the locked byte lies: Windows lets nobody read what is locked."""

_LOOKS, _LOOK_SECONDS = 10, 0.02
"""Who has just taken the lock writes their name at once: it is waited for so often and so long."""


@contextmanager
def alone(home: Home, front: Front) -> Generator[None]:
    """Hold the spoken conversation of a home while the block runs.

    Raises `SoundError` where another process has it, and says which; `StorageError` where the state
    folder cannot be used.
    """
    path = folder(home) / "listening.lock"
    try:
        make_private(path.parent)
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
    except OSError as error:
        raise explained(error, path) from error
    with file:
        try:
            if not taken(file, at=_FAR):
                raise _refusal(file)
            _write(file, json.dumps({"pid": os.getpid(), "front": front}))
        except OSError as error:
            raise explained(error, path) from error
        try:
            yield
        finally:
            with suppress(OSError):  # the lock ends all the same
                _write(file, "")


def _write(file: IO[bytes], text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text.encode())


def _refusal(file: IO[bytes]) -> SoundError:
    """Who has it."""
    for _ in range(_LOOKS):
        file.seek(0)
        try:
            found = cast("dict[str, object]", json.loads(file.read(1_000)))
            pid, front = int(str(found["pid"])), str(found["front"])
        except (ValueError, KeyError, TypeError):
            time.sleep(_LOOK_SECONDS)
            continue
        said = f"LILA listens to you already: `{front}`, process {pid}"
        return SoundError(said, hint=_END.get(front, _ELSEWHERE))
    return SoundError("LILA listens to you already, in another process", hint=_ELSEWHERE)

"""Starting and stopping the process of the embedded model, and knowing where it listens."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lila_app.errors import UnavailableError
from lila_app.gateway.chat.neutral import Neutraliser
from lila_app.gateway.embedded.gguf import read_header

SLOTS = {"chat": 0, "voice": 1, "background": 2}
"""One prefix cache each, so that a spoken question never pushes a chat's prefix out."""

BATCH = 64
"""Tokens evaluated at a stretch, which is how long a stop may take. Throughput is the same as with
128 or 512 (90, 92 and 82 tokens a second on one thread, 2026-11-30), and a stop twice as quick."""

_START_SECONDS = 180.0
_STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Served:
    """A running server: where it is, its key, and what makes contents harmless to its model."""

    address: str
    key: str
    neutral: Neutraliser


class EmbeddedServer:
    """The embedded model's process, started when first needed and again if it has died.

    `check` is called before each start and raises a `WeightsError` when the file is not what it
    should be. Every method blocks and may be called from any thread.
    """

    def __init__(self, model: Path, *, alias: str, window: int, check: Callable[[], None]) -> None:
        self._model = model
        self._alias = alias
        self._window = window
        self._check = check
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._served: Served | None = None
        self._stopped = False

    def ensure(self) -> Served:
        """The running server, started now if need be (about a second).

        Raises `MissingWeightsError`, `ChecksumError` or `WeightsError` for the file and
        `UnavailableError` where the model does not start.
        """
        with self._lock:
            if self._stopped:
                raise UnavailableError("the embedded model was closed", hint="start LILA again")
            if self._served is not None and self._alive():
                return self._served
            self._end()
            self._check()
            neutral = Neutraliser(read_header(self._model).control_tokens)
            key = secrets.token_urlsafe(32)
            self._served = Served(self._start(key), key, neutral)
            return self._served

    def discard(self, served: Served) -> None:
        """End the process that was `served`, if it is still the one; the next call starts anew."""
        with self._lock:
            if self._served is served:
                self._end()

    def stop(self) -> None:
        """End the process; safe to call twice. The server cannot be started again."""
        self._stopped = True
        process = self._process
        if process is not None:  # also ends a start that is under way in another thread
            with contextlib.suppress(OSError):
                process.kill()
        with self._lock:
            self._end()

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _start(self, key: str) -> str:
        options = {
            "model": str(self._model),
            "alias": self._alias,
            "window": self._window,
            "slots": len(SLOTS),
            "batch": BATCH,
            "key": key,
        }
        try:
            process = self._process = _spawn()
        except OSError as error:
            raise UnavailableError(
                f"the embedded model's process could not be started: {error.strerror}",
                hint="see `lila doctor`",
            ) from error
        assert process.stdin is not None and process.stdout is not None
        too_long = threading.Timer(_START_SECONDS, process.kill)
        too_long.daemon = True
        too_long.start()
        try:
            # The key goes through the pipe: a command line can be read by everybody.
            process.stdin.write(json.dumps(options).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = b""
        finally:
            too_long.cancel()
        return self._address(answer)

    def _address(self, answer: bytes) -> str:
        try:
            said = cast(dict[str, str], json.loads(answer))
        except ValueError:
            said = {}
        if "address" in said:
            return said["address"]
        self._end()
        reason = said.get("error") or "its process ended while it loaded"
        raise UnavailableError(
            f"the embedded model {self._model.name} did not start: {reason}",
            hint="choose another with `lila models default NAME`; `lila doctor` says what is here",
        )

    def _end(self) -> None:
        process, self._process, self._served = self._process, None, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)


def _spawn() -> subprocess.Popen[bytes]:
    """The child, in a session of its own so that Ctrl-C in the terminal does not reach it."""
    script = Path(__file__).with_name("child.py")
    # -P: the script's folder is a package of ours, whose names must not hide the library's.
    command = [sys.executable, "-P", str(script)]
    # Threads that wait by spinning fight each other as soon as anything else runs: on two cores
    # under a load of 10, reading a prompt took 23 CPU-seconds instead of 4, at 5 tokens a second
    # instead of 37 (2026-11-30). libgomp reads this when it is loaded, so only a child can be told.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=sys.platform != "win32",
        creationflags=flags,
    )

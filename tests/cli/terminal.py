"""A terminal to run the command line in: what a person sees, and the keys they press."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cli.lila import environment
from tests.waiting import PATIENCE

CTRL_C, CTRL_D, CTRL_Q = "\x03", "\x04", "\x11"


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes], keyboard: int) -> None:
        self._process = process
        self._keyboard = keyboard
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._keyboard, text.encode())

    def wait_for(self, text: str, *, seconds: float = PATIENCE) -> str:
        """Everything shown up to `text`, which is taken off what is still to be seen."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} did not come; there is {self.seen!r}"
            if not self._read(0.1) and self._process.poll() is not None:
                assert text in self.seen, f"it ended before {text!r}; there is {self.seen!r}"
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def interrupt(self, text: str) -> None:
        """Press Ctrl-C until `text` is shown.

        CPython drops one that comes between drawing the prompt and waiting for a key (the flag is
        looked at after the next interrupt), which a person never hits and a busy machine does.
        """
        for _ in range(10):
            self.type(CTRL_C)
            with contextlib.suppress(AssertionError):
                self.wait_for(text, seconds=2)
                return
        raise AssertionError(f"{text!r} did not come; there is {self.seen!r}")

    def leave(self, *, seconds: float = PATIENCE) -> int:
        """The exit code, once the process has ended by itself."""
        end = time.monotonic() + seconds
        while self._process.poll() is None:
            assert time.monotonic() < end, f"it did not end; there is {self.seen!r}"
            self._read(0.1)
        while self._read(0.05):
            pass
        return self._process.returncode

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._keyboard], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._keyboard, 65536)
        except OSError:  # how Linux says that the other side of a terminal is gone
            return False
        self.seen += self._decoder.decode(data).replace("\r\n", "\n")
        return bool(data)


@contextmanager
def terminal(home: Path, command: Sequence[str], **env: str) -> Iterator[Terminal]:
    keyboard, screen = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *command],
        stdin=screen,
        stdout=screen,
        stderr=screen,
        start_new_session=True,
        preexec_fn=_take_terminal,
        env=environment(home, TERM="xterm", **env),
    )
    os.close(screen)
    try:
        yield Terminal(process, keyboard)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(keyboard)


def _take_terminal() -> None:
    """Make it the controlling terminal, so that Ctrl-C is a signal and not a letter."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

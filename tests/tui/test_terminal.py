"""The chat in a pseudo terminal: the driver, keys as bytes, native noise, a killed process."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lila_app.tui.native_output import quiet_native_stderr
from tests.waiting import PATIENCE

_PROGRAM = """
import os, sys
from collections.abc import AsyncGenerator
from pathlib import Path
from lila_app.tui import run
from tests.tui.fake_lila import FakeLila

class Noisy(FakeLila):
    async def turn(self, text, **more):
        with Path(sys.argv[1], "said").open("a") as file:
            file.write(repr(text) + "\\n")
        os.write(2, b"NATIVE NOISE")
        async for event in super().turn(text, **more):
            yield event

sys.exit(run(Noisy(Path(sys.argv[1]))))
"""

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07]*\x07|[=>])")


class Terminal:
    """One program in a terminal of 80 × 24."""

    def __init__(self, folder: Path) -> None:
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.master = master
        self.output = ""
        root = str(Path(__file__).parents[2])
        environ = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": root}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(folder)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environ,
            start_new_session=True,
        )
        os.close(slave)

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"it never came to pass: {self.text[-2000:]}"
            self._read()

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.output)

    def _read(self) -> None:
        ready, _, _ = select.select([self.master], [], [], 0.05)
        if ready:
            try:
                self.output += os.read(self.master, 65536).decode("utf-8", "replace")
            except OSError:  # the other end is closed
                time.sleep(0.05)


@contextmanager
def terminal(folder: Path) -> Generator[Terminal]:
    opened = Terminal(folder)
    try:
        opened.until(lambda: "Write to LILA" in opened.text or "back in the prompt" in opened.text)
        opened.until(lambda: "F1 help" in opened.text)
        yield opened
    finally:
        if opened.process.poll() is None:
            opened.process.kill()
        opened.process.wait()
        os.close(opened.master)


def said(folder: Path) -> list[str]:
    log = folder / "said"
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.slow
def test_bytes_of_a_fast_typist_are_sent_whole_and_noise_stays_off_the_screen(
    tmp_path: Path,
) -> None:
    with terminal(tmp_path) as shown:
        shown.type("one two\x1b\rthree\\\rfour\nfive\r")
        shown.until(lambda: said(tmp_path) == [repr("one two\nthree\nfour\nfive")])
        shown.until(lambda: "yes" in shown.text)
        shown.type("\x04")
        shown.until(lambda: shown.process.poll() is not None)
        assert shown.process.returncode == 0
        assert "NATIVE NOISE" not in shown.output


@pytest.mark.slow
def test_what_was_typed_survives_a_kill(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.type("unsent [/words]")
        kept = tmp_path / "drafts" / "default-1.json"
        shown.until(lambda: kept.exists() and "unsent [/words]" in kept.read_text())
        shown.process.send_signal(signal.SIGKILL)
        shown.until(lambda: shown.process.poll() is not None)
    with terminal(tmp_path) as again:
        again.until(lambda: "unsent [/words]" in again.text)
        again.type("\r")
        again.until(lambda: said(tmp_path) == [repr("unsent [/words]")])
        again.until(lambda: not kept.exists())


def test_native_noise_is_dropped_and_python_still_reaches_the_terminal() -> None:
    program = (
        "import os, sys\n"
        "from lila_app.tui.native_output import quiet_native_stderr\n"
        "with quiet_native_stderr():\n"
        "    os.write(2, b'noise')\n"
        "    print('python', file=sys.stderr, flush=True)\n"
        "    print('driver', file=sys.__stderr__, flush=True)\n"
        "os.write(2, b'after')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr == b"python\ndriver\nafter"


def test_without_a_real_stderr_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__stderr__", None)
    with quiet_native_stderr():
        assert sys.__stderr__ is None

"""Single keys from a terminal while LILA listens; without a terminal there are none."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

END = "\x04"
"""Ctrl-D, or a terminal that is no longer there."""

_POLL = 0.05
"""Seconds between two looks at the keyboard where it cannot be waited for (Windows)."""


@asynccontextmanager
async def keys(pressed: Callable[[str], None]) -> AsyncGenerator[bool]:
    """Hand on every key, in lower case, while the block runs; whether there is a keyboard.

    Ctrl-C stays what it is. The terminal is put back as it was, whatever happens in the block.
    """
    if not sys.stdin.isatty():
        yield False
        return
    if sys.platform == "win32":
        polling = asyncio.create_task(_poll(pressed))
        try:
            yield True
        finally:
            polling.cancel()
        return
    with _single_keys():
        loop, reads = asyncio.get_running_loop(), sys.stdin.fileno()

        def read() -> None:
            import os

            try:
                typed = os.read(reads, 64)
            except OSError:
                typed = b""
            if not typed:  # the terminal is gone, and would be readable for ever
                loop.remove_reader(reads)
                pressed(END)
            for key in typed.decode("utf-8", "ignore"):
                pressed(key.lower())

        loop.add_reader(reads, read)
        try:
            yield True
        finally:
            loop.remove_reader(reads)


if sys.platform != "win32":

    @contextmanager
    def _single_keys() -> Generator[None]:
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal)
            yield
        finally:
            with suppress(termios.error):  # a terminal that is gone is as it was
                # What was typed in the last moment is not a command for the shell.
                termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


async def _poll(pressed: Callable[[str], None]) -> None:
    if sys.platform == "win32":
        import msvcrt

        while True:
            while msvcrt.kbhit():
                pressed(msvcrt.getwch().lower())
            await asyncio.sleep(_POLL)

"""Asking the person before a tool changes something."""

from __future__ import annotations

import signal
import sys

import click

from lila_app.cli.output import note, one_line
from lila_app.events import Confirm, Confirmation


def at_terminal() -> Confirm | None:
    """How the person is asked; None where nobody sits at a terminal."""
    return _ask if sys.stdin.isatty() and sys.stderr.isatty() else None


async def _ask(question: Confirmation) -> bool:
    # In the event loop's own thread: nothing else goes on meanwhile, and a prompt in another thread
    # could not be left with Ctrl-C. The loop would only note the key and go on waiting for a line.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        note("")
        return click.confirm(one_line(question.question), default=False, err=True)
    except click.Abort:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)

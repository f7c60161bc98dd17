"""Keeps what native libraries print away from the screen they would garble."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Generator
from typing import TextIO


@contextlib.contextmanager
def quiet_native_stderr() -> Generator[None]:
    """Send file descriptor 2 nowhere while Python's own stderr still reaches the terminal.

    Textual draws through `sys.__stderr__`, and the embedded model's native code prints to
    descriptor 2. What is dropped is not logged: it may hold content. Where stderr is no real
    descriptor (under a test runner) this does nothing.
    """
    original = sys.__stderr__
    if original is None:
        yield
        return
    try:
        number = original.fileno()
    except (OSError, ValueError, io.UnsupportedOperation):
        yield
        return
    original.flush()
    kept = os.dup(number)
    terminal: TextIO = os.fdopen(os.dup(number), "w", encoding=original.encoding, errors="replace")
    outer = sys.stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, number)
        # Textual reads this name when it starts; there is no parameter for it.
        sys.__stderr__ = terminal  # pyright: ignore[reportAttributeAccessIssue, reportConstantRedefinition]
        if outer is original:
            sys.stderr = terminal
        yield
    finally:
        terminal.flush()
        os.dup2(kept, number)
        sys.__stderr__ = original  # pyright: ignore[reportAttributeAccessIssue, reportConstantRedefinition]
        sys.stderr = outer
        terminal.close()
        os.close(kept)
        os.close(nowhere)

"""A key that Textual cannot tell apart in terminals of the older kind."""

from __future__ import annotations

from typing import cast

from textual import _ansi_sequences as sequences  # pyright: ignore[reportPrivateUsage] (no other way)
from textual.keys import Keys


def accept_alt_enter() -> None:
    """Let Alt+Enter start a new line where it arrives as ESC CR.

    Terminals without the kitty protocol send ESC CR, and Textual 8.2.8 drops the ESC and reports
    Enter, which would send half a message. Its table of sequences is the only place to say so.
    """
    table = cast("dict[str, tuple[Keys, ...]]", sequences.ANSI_SEQUENCES_KEYS)
    table.setdefault("\x1b\r", (Keys.ControlJ,))

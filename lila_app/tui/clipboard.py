"""Copying: what a terminal is told, directly, through tmux and through GNU screen.

A terminal takes text for the clipboard in the sequence OSC 52, also from another machine. Between
it and LILA may stand one that keeps the sequence for itself:

- tmux drops it unless `set-clipboard` is `on`, which it is not by default, and lets a wrapped one
  through only with `allow-passthrough`, which is off by default since 3.3. Its own command for it
  works under every setting (tried 2026-12-01 with tmux 3.3a: `on`, `external` and `off`, with and
  without passthrough) and also makes the text its newest buffer. `-w` came with 3.2; where the
  command fails, both sequences are sent: a tmux takes the one it allows and drops the other.
- GNU screen hands the inside of a device control string to the terminal, and holds no more than
  768 bytes of one (MAXSTR in its source), so the sequence goes through in pieces.

Nothing answers, so nobody can tell whether a terminal took it.
"""

from __future__ import annotations

import base64
import logging
import subprocess
from collections.abc import Callable, Mapping

_log = logging.getLogger(__name__)

PIECE = 512
"""Characters of one piece for GNU screen, well under what it holds."""

TMUX_SECONDS = 2.0
"""How long tmux may take; it takes 5 ms, and a tmux that hangs shows nothing either."""

_START, _END = "\x1bP", "\x1b\\"


def copy(text: str, write: Callable[[str], object], environ: Mapping[str, str]) -> None:
    """Put text on the person's clipboard; `write` sends characters to the terminal."""
    if environ.get("TMUX"):
        if not _by_tmux(text, environ):
            write(direct(text) + through_tmux(text))
    elif environ.get("STY"):
        write(through_screen(text))
    else:
        write(direct(text))


def direct(text: str) -> str:
    """What a terminal itself is told."""
    # Half a character, which cannot be sent, must not keep the rest from being copied.
    data = base64.b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    return f"\x1b]52;c;{data}\x07"


def through_tmux(text: str) -> str:
    """The same, for the terminal around a tmux that lets it through."""
    return f"{_START}tmux;{direct(text).replace(chr(0x1B), chr(0x1B) * 2)}{_END}"


def through_screen(text: str) -> str:
    """The same, for the terminal around GNU screen."""
    whole = direct(text)
    pieces = [whole[at : at + PIECE] for at in range(0, len(whole), PIECE)]
    return "".join(f"{_START}{piece}{_END}" for piece in pieces)


def _by_tmux(text: str, environ: Mapping[str, str]) -> bool:
    """Give tmux the text, for its buffer and for the clipboard of the terminal around it."""
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", "-w", "-"],
            input=text.encode("utf-8", errors="replace"),
            env=dict(environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TMUX_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        _log.info("tmux did not take what was copied: %s", type(error).__name__)
        return False
    return done.returncode == 0

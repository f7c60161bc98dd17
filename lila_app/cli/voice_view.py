"""A spoken conversation in lines of text: the words on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial

import click

from lila_app.cli.output import answer, note, shown
from lila_app.voice.model import Phase
from lila_app.voice.readable import Readable, Run, Style, plain
from lila_app.voice.view import status

_BAR = 10
"""Characters of the level meter."""

_REDRAW = 0.1
"""Seconds between two drawings of the level: more often is only flicker."""


_LOADING = "getting ready"
"""Before the microphone is open: the model reads what comes before the first words."""

_LOOKS: dict[Style, Callable[[str], str]] = {
    "bold": partial(click.style, bold=True),
    "italic": partial(click.style, italic=True),
    "struck": partial(click.style, strikethrough=True),
    "code": partial(click.style, fg="cyan"),
    "link": partial(click.style, underline=True),
}


def _wants_styles() -> bool:
    """Whether stdout is a terminal that shows emphasis, and nobody said no (https://no-color.org).

    Elsewhere words are words: a pipe and a screen reader get no marks either.
    """
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "", "dumb")
    return sys.stdout.isatty() and not refused


class Lines:
    """Prints what was heard and said (`words`), and shows at a terminal what goes on.

    On a terminal the last line says the phase and the level and is redrawn in place; in a pipe or a
    file nothing is drawn, and the words alone go to stdout.
    """

    def __init__(self, *, words: bool, listens: Callable[[], None] | None = None) -> None:
        """`listens` is called once, when somebody is listened to for the first time."""
        self._words = words
        self._listens = listens
        self._draws = sys.stderr.isatty()
        self._styles = _wants_styles()
        self._reply = Readable()
        self._phase: Phase | None = None
        self._muted = False
        self._drawn = ""
        self._level = 0
        self._drawn_at = 0.0
        self._open = False
        """Whether a line of LILA's is being written."""
        self._begun = 0
        """The turn whose reply has begun."""

    def wait(self) -> None:
        """Show that nobody is listened to yet."""
        self._draw()

    def phase(self, phase: Phase, muted: bool) -> None:
        """Show what goes on."""
        listens, self._listens = self._listens, None
        if listens is not None and phase is not Phase.ENDED:
            self._clear()
            listens()
        self._phase, self._muted = phase, muted
        self._draw()

    @property
    def listening(self) -> bool:
        """Whether a turn of the person's is being taken in."""
        return self._phase in (Phase.HEARING, Phase.MAYBE_END)

    def heard(self, turn: int, text: str, final: bool) -> None:
        """Print what was said once that is certain."""
        if not self._words:
            return
        if self._begun == turn:  # what LILA had begun to say to the first half of it is void
            self._close()
            self._begun = 0
        if final and text:
            self._line(f"You: {text}")

    def said(self, turn: int, text: str) -> None:
        """Print a piece of the reply as it is spoken."""
        if not self._words:
            return
        self._clear()
        if self._begun != turn:
            self._reply = Readable()
            answer("LILA: ", newline=False)
        self._open, self._begun = True, turn
        for run in self._reply.feed(text):
            self._write(run)

    def unspoken(self, turn: int, text: str) -> None:
        """Say on stderr what LILA cannot say aloud."""
        del turn
        self.told(plain(text), "")

    def interrupted(self, turn: int, heard: str) -> None:
        """Say where the reply was cut off."""
        del turn
        if not self._words:
            return
        self._close()
        last = " ".join(plain(heard).split()[-6:])
        self._line(f"[interrupted after: … {last}]" if last else "[interrupted before a word]")

    def answered(self, turn: int) -> None:
        """End the line."""
        del turn
        self._close()
        self._draw()

    def told(self, text: str, hint: str) -> None:
        """Say on stderr what nobody speaks."""
        self._close()
        self._clear()
        note(text)
        if hint:
            note(f"hint: {hint}")
        self._draw()

    def level(self, level: int) -> None:
        """Move the meter."""
        self._level = level
        now = time.monotonic()
        if now - self._drawn_at >= _REDRAW:
            self._drawn_at = now
            self._draw()

    def close(self) -> None:
        """Leave the terminal with a clean line."""
        self._close()
        self._clear()

    def _write(self, run: Run) -> None:
        """A model's words: they may be emphasised, and drive nothing."""
        if not self._styles:
            answer(run.text, newline=False)
            return
        text = shown(run.text, terminal=True)
        # Blank lines and their ends stay bare: a terminal may colour the rest of such a line.
        lines = text.split("\n") if run.styles else []
        for each in sorted(run.styles):
            lines = [_LOOKS[each](line) if line else "" for line in lines]
        click.echo("\n".join(lines) if lines else text, nl=False)

    def _line(self, text: str) -> None:
        self._clear()
        answer(text)

    def _close(self) -> None:
        if self._open:
            answer("")
            self._open = False
            self._reply.interrupted()

    def _draw(self) -> None:
        if not self._draws or self._open:
            return
        state = _LOADING if self._phase is None else status(self._phase, self._muted)
        deaf = self._muted or self._phase in (Phase.NO_MICROPHONE, Phase.DEAF)
        filled = 0 if deaf else min(_BAR, self._level * _BAR // 1_000 + (self._level > 5))
        line = f"[{'#' * filled}{' ' * (_BAR - filled)}] {state}"
        if line != self._drawn:
            self._clear()
            click.echo(shown(line, terminal=True), err=True, nl=False)
            self._drawn = line

    def _clear(self) -> None:
        if self._drawn:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._drawn = ""

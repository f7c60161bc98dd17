"""What a model thinks before it answers: one line, opened by a click or Enter."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Static

from lila_app.tui.plain import plain

_REPAINT = 0.25


class Thinking(Static, can_focus=True):
    """Collapsed thinking; it is never part of the reply."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "show", "Show or hide the thinking", id="thinking.toggle"),
    ]

    def __init__(self) -> None:
        super().__init__(plain("Thinking…"), classes="thinking")
        self._pieces: list[str] = []
        self._open = False
        self._dirty = False

    def on_mount(self) -> None:
        """Repaint at a bounded rate, however fast thoughts come."""
        self.set_interval(_REPAINT, self._repaint)

    def add(self, piece: str) -> None:
        """The next piece."""
        self._pieces.append(piece)
        self._dirty = True

    def on_click(self) -> None:
        """A click is Enter."""
        self.action_show()

    def action_show(self) -> None:
        """Show or hide it."""
        self._open = not self._open
        self._dirty = True
        self._repaint()

    def _repaint(self) -> None:
        if not self._dirty:
            return
        self._dirty = False
        text = "".join(self._pieces)
        if self._open:
            self.update(plain(f"Thinking\n{text.strip()}"))
        else:
            self.update(plain(f"Thinking ({len(text.split())} words, Enter or click shows them)"))

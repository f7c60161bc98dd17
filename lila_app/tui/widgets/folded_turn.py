"""An older exchange in one widget: its text as it was written, opened by a click or Enter."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from lila_app.tui.exchange import Exchange
from lila_app.tui.plain import plain

_SHOWN = 4_000
"""Characters of each side that are shown folded; the rest is a click away."""


class FoldedTurn(Static, can_focus=True):
    """An exchange that costs one widget instead of some 25 (a heading, a list, a table …)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Show this exchange in full", id="turn.open"),
    ]

    class Opened(Message):
        """The person wants to see it in full."""

        def __init__(self, turn: FoldedTurn) -> None:
            super().__init__()
            self.turn = turn

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(_folded(exchange), classes="turn -folded")
        self.exchange = exchange

    def on_click(self) -> None:
        """A click opens, unless it ended a selection of text."""
        if not self.screen.get_selected_text():
            self.action_open()

    def action_open(self) -> None:
        """Ask to be shown in full."""
        self.post_message(self.Opened(self))


def _folded(exchange: Exchange) -> Content:
    parts = [plain("You\n", "bold"), plain(_cut(exchange.user)), plain("\nLILA\n", "bold")]
    parts.append(plain(_cut(exchange.reply)))
    parts += [plain(f"\n{note.text}", "italic") for note in exchange.notes]
    if exchange.stopped:
        parts.append(plain("\nStopped: this reply is not whole", "italic"))
    return Content("").join(parts)


def _cut(text: str) -> str:
    shown = text.strip()
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "… (Enter or click shows the rest)"

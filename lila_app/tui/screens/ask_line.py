"""One line of text asked for, with what it is now to begin with."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from lila_app.tui.plain import plain, visible


class AskLineScreen(ModalScreen[str | None]):
    """The line, or None when the person thought better of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Leave it as it is", id="line.cancel"),
    ]

    def __init__(self, question: str, text: str) -> None:
        super().__init__(classes="small-dialog")
        self._question = question
        self._text = visible(text).replace("\n", " ")

    def compose(self) -> ComposeResult:
        """The question and the line."""
        with Vertical(classes="dialog"):
            yield Static(plain(self._question), classes="question")
            yield Input(self._text, id="line")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter takes it; an empty line is a change of mind."""
        event.stop()
        self.dismiss(event.value.strip() or None)

    def action_cancel(self) -> None:
        """Escape."""
        self.dismiss(None)

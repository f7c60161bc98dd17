"""A question with two answers; the safe one is ready under Enter."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from lila_app.tui.plain import plain


class ConfirmScreen(ModalScreen[bool]):
    """True when the person said yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="confirm.yes"),
        Binding("n,escape", "answer(False)", "No", id="confirm.no"),
        Binding("left,right", "other", "The other answer", id="confirm.other"),
    ]

    def __init__(self, question: str, *, yes: str, no: str = "Cancel") -> None:
        super().__init__(classes="small-dialog")
        self._question = question
        self._yes = yes
        self._no = no

    def compose(self) -> ComposeResult:
        """The question and its answers."""
        with Vertical(classes="dialog"):
            yield Static(plain(self._question), classes="question")
            with Horizontal(classes="buttons"):
                yield Button(plain(self._no), id="no")
                yield Button(plain(self._yes), id="yes", variant="warning")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A button is an answer."""
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Answer by a key."""
        self.dismiss(yes)

    def action_other(self) -> None:
        """Move between the two."""
        self.focus_next()

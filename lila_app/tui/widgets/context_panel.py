"""What the model saw on the last turn, beside the conversation."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from lila_app.tui.plain import plain
from lila_app.tui.record_text import record_content
from lila_app.tui.record_view import RecordView

_EMPTY = "After the first reply this says what the model saw, what it did not see, and why."


class ContextPanel(VerticalScroll):
    """The context record of the last turn, in one widget of text that can be selected."""

    def __init__(self) -> None:
        super().__init__(id="context", name="Context of the last turn")
        self._text = Static(plain(_EMPTY, "dim"))
        self._shown: RecordView | None = None

    def compose(self) -> ComposeResult:
        """A heading and the record."""
        yield Static(plain("What the model saw", "bold"), classes="panel-title")
        yield self._text

    def show(self, record: RecordView | None) -> None:
        """Show a record, or what will be here; asked often, painted only when it changed."""
        if record is self._shown:
            return
        self._shown = record
        self._text.update(plain(_EMPTY, "dim") if record is None else record_content(record))

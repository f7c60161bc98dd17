"""Where the person writes: several lines, history at the edges, never losing a word."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from lila_app.tui.history import PromptHistory
from lila_app.tui.plain import plain, visible

_PLACEHOLDER = "Write to LILA. Enter sends, Ctrl+J starts a new line."


class Prompt(TextArea):
    """A text area in which Enter sends.

    Shift+Enter and Alt+Enter only reach programs in some terminals; Ctrl+J and a backslash before
    Enter work in all of them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send the message", id="prompt.send"),
        Binding(
            "ctrl+j,shift+enter,alt+enter",
            "newline",
            "Start a new line (so does a backslash before Enter)",
            id="prompt.newline",
        ),
        Binding("up", "older", "On the first line: the message sent before", id="prompt.older"),
        Binding("down", "newer", "On the last line: the message sent after", id="prompt.newer"),
        Binding(
            "ctrl+g", "edit", "Write in your own editor ($VISUAL or $EDITOR)", id="prompt.edit"
        ),
        # TextArea has meanings of its own for these; the screen's come first.
        Binding("ctrl+c", "screen.copy_or_quit", show=False, id="prompt.interrupt"),
        Binding("ctrl+d", "screen.end", show=False, id="prompt.end"),
        Binding("pageup", "screen.page(-1)", show=False, id="prompt.page_up"),
        Binding("pagedown", "screen.page(1)", show=False, id="prompt.page_down"),
    ]

    class Sent(Message):
        """The person sent `text`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class EditorWanted(Message):
        """The person wants to write in their own editor."""

    def __init__(self) -> None:
        super().__init__(
            soft_wrap=True,
            highlight_cursor_line=False,
            placeholder=plain(_PLACEHOLDER),
            id="prompt",
            name="Message",
        )
        self.sent = PromptHistory()

    def put(self, text: str) -> None:
        """Hold `text` with the cursor at its end; undo brings back what was there."""
        self.replace(visible(text), (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        """Send, unless a backslash before the cursor asks for a new line, or there is nothing."""
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
            return
        text = self.text.strip("\n")
        if not text.strip():
            return
        self.sent.add(text)
        self.put("")
        self.post_message(self.Sent(text))

    def action_newline(self) -> None:
        """Break the line at the cursor."""
        self.insert("\n")

    def action_older(self) -> None:
        """Up: within the text, then through the history."""
        if self._cursor_row() > 0:
            self.action_cursor_up()
            return
        entry = self.sent.older(self.text)
        if entry is not None:
            self.put(entry)

    def action_newer(self) -> None:
        """Down: within the text, then back through the history."""
        if self._cursor_row() < self.wrapped_document.height - 1:
            self.action_cursor_down()
            return
        entry = self.sent.newer()
        if entry is not None:
            self.put(entry)

    def action_edit(self) -> None:
        """Ask for the external editor."""
        self.post_message(self.EditorWanted())

    async def _on_key(self, event: events.Key) -> None:
        """Obey a bound key here and now, in the order in which keys came.

        Textual runs a priority binding before keys still waiting for this widget, and others after
        keys that came later: text typed fast or sent by a program would be cut off at Enter.
        """
        if event.is_printable:
            return
        bound = self.screen.active_bindings.get(event.key)
        if bound is not None and bound.enabled and bound.node is self:
            event.stop()
            event.prevent_default()
            await self.run_action(bound.binding.action)

    async def _on_paste(self, event: events.Paste) -> None:
        """Paste what can be seen: control codes in it would reach the terminal."""
        event.prevent_default()
        await super()._on_paste(events.Paste(visible(event.text)))

    def _cursor_row(self) -> int:
        return self.wrapped_document.location_to_offset(self.cursor_location).y

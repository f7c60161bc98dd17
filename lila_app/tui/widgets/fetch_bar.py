"""The first start: what is being fetched, from where, and how far it is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import ProgressBar, Static

from lila_app.tui.plain import one_line, plain

_HINT = "You can write meanwhile. Esc stops; starting LILA again goes on."


class FetchBar(Vertical):
    """Hidden unless something is being fetched."""

    class Advanced(Message):
        """The fetch went on. A message, because waiting for the screen could hang a fetch."""

        def __init__(self, done: int, total: int, label: str) -> None:
            super().__init__()
            self.done = done
            self.total = total
            self.label = label

    def __init__(self) -> None:
        super().__init__(id="fetch", name="Fetching the model")
        self._notice = Static(plain(""))
        self._label = Static(plain(""), classes="fetch-label")
        self._bar = ProgressBar(show_eta=False)
        self.display = False

    def compose(self) -> ComposeResult:
        """The sentence, the bar, what it is at."""
        yield self._notice
        yield Static(plain(_HINT, "dim"))
        yield self._bar
        yield self._label

    def begin(self, notice: str) -> None:
        """Say what is fetched; the person may type meanwhile."""
        self._notice.update(plain(notice))
        self.display = True

    def advance(self, done: int, total: int, label: str) -> None:
        """How far it is, told from the thread that fetches; `total` 0 means nobody knows."""
        self.post_message(self.Advanced(done, total, label))

    def on_fetch_bar_advanced(self, message: FetchBar.Advanced) -> None:
        """Paint it."""
        message.stop()
        done, total, label = message.done, message.total, message.label
        self._bar.update(total=total or None, progress=done)
        if label:
            self._label.update(plain(one_line(label, 100)))

    def end(self) -> None:
        """It is there, or it will not be."""
        self.display = False

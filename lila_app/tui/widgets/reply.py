"""A reply while it is being written: Markdown that grows."""

from __future__ import annotations

from time import monotonic

from textual import work
from textual.timer import Timer
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownStream

from lila_app.tui.fences import FenceTracker
from lila_app.tui.host import host
from lila_app.tui.plain import visible
from lila_app.tui.screens.confirm import ConfirmScreen

FENCE_INTERVAL = 0.1
"""Seconds between two paints inside an open code fence.

Each append highlights and paints the whole fence again, which is super-linear: 200 lines cost
13.5 CPU-s unthrottled, 7.6 at 5 Hz (2 cores, Textual 8.2.8, 2026-11-30).
"""

_OPENABLE = ("http://", "https://", "mailto:")


class Reply(Markdown):
    """Markdown of a model: links are not opened by a click alone, and nothing in it is obeyed."""

    def __init__(self, text: str = "") -> None:
        super().__init__(visible(text), open_links=False)
        self._fence = FenceTracker()
        self._held: list[str] = []
        self._stream: MarkdownStream | None = None
        self._timer: Timer | None = None
        self._written_at = 0.0

    async def write(self, piece: str) -> None:
        """Add the next piece; inside a code fence pieces are gathered for `FENCE_INTERVAL`."""
        if self._stream is None:
            self._stream = Markdown.get_stream(self)
            self._timer = self.set_interval(FENCE_INTERVAL, self._flush)
        piece = visible(piece)
        was_open = self._fence.open
        self._fence.feed(piece)
        self._held.append(piece)
        inside = was_open and self._fence.open
        if not inside or monotonic() - self._written_at >= FENCE_INTERVAL:
            await self._flush()

    async def finish(self, text: str) -> None:
        """The reply is `text`; shown anew as a whole, whatever the stream made of its pieces."""
        self._held.clear()
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._stream is not None:
            stream, self._stream = self._stream, None
            await stream.stop()
        await self.update(visible(text))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """A model wrote this address: it is opened only after it was read."""
        event.stop()
        if event.href.lower().startswith(_OPENABLE):
            self._offer(event.href)
        else:
            self.notify(f"LILA does not open {event.href}", severity="warning")

    @work(group="link", exclusive=True, exit_on_error=False)
    async def _offer(self, address: str) -> None:
        question = f"Open this address in the browser?\n{address}"
        if await host(self).push_screen_wait(ConfirmScreen(question, yes="Open")):
            host(self).open_url(address)

    async def _flush(self) -> None:
        if not self._held or self._stream is None:
            return
        text = "".join(self._held)
        self._held.clear()
        self._written_at = monotonic()
        await self._stream.write(text)

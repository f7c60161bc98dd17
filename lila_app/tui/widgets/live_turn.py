"""One exchange in full: what the person said, and the reply as Markdown, also while it comes."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from lila_app.tui.exchange import Exchange, Kind
from lila_app.tui.plain import plain
from lila_app.tui.widgets.note import Note
from lila_app.tui.widgets.reply import Reply
from lila_app.tui.widgets.thinking import Thinking


class LiveTurn(Vertical):
    """An exchange that can still grow; `exchange` is always what it shows."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(classes="turn")
        self.exchange = exchange
        self._pieces: list[str] = [exchange.reply]
        self._thinking: Thinking | None = None
        self._reply = Reply(exchange.reply)
        self._waiting = Static(plain(""), classes="waiting")

    def compose(self) -> ComposeResult:
        """The person's words, the waiting line, the reply, then what there is to note."""
        yield Static(plain("You"), classes="speaker -you")
        yield Static(plain(self.exchange.user), classes="words")
        yield Static(plain("LILA"), classes="speaker -lila")
        self._waiting.display = False
        yield self._waiting
        yield self._reply
        for note in self.exchange.notes:
            yield Note(note.kind, note.text, note.hint)
        if self.exchange.stopped:
            yield Note("stopped", _stopped(self.exchange.reply))

    def wait(self, text: str) -> None:
        """Say in the reply's place what is being waited for."""
        self._waiting.update(plain(text))
        self._waiting.display = bool(text)

    async def write(self, piece: str) -> None:
        """The next piece of the reply."""
        if self._waiting.display:
            self._waiting.display = False
        self._pieces.append(piece)
        await self._reply.write(piece)

    async def think(self, piece: str) -> None:
        """The next piece of the model's thinking."""
        if self._thinking is None:
            self._thinking = Thinking()
            await self.mount(self._thinking, before=self._reply)
            self._waiting.display = False
        self._thinking.add(piece)

    async def note(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say below the reply."""
        self.exchange = self.exchange.noted(kind, text, hint)
        await self.mount(Note(kind, text, hint))

    async def cut(self, heard: str) -> None:
        """A spoken reply ends after what was heard of it."""
        self._pieces = [heard]
        await self.finish(stopped=True)

    async def finish(self, *, stopped: bool) -> None:
        """The turn is over; a stopped one keeps what came and says so."""
        self._waiting.display = False
        reply = "".join(self._pieces)
        self.exchange = self.exchange.ended(reply, stopped=stopped)
        await self._reply.finish(reply)
        if stopped:
            await self.mount(Note("stopped", _stopped(reply)))


def _stopped(reply: str) -> str:
    return "this reply is not whole" if reply else "before the first word"

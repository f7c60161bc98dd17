"""The conversation on the screen, kept small however long it is.

A turn in Markdown is some 25 widgets; 100 of them take 12.7 CPU-s to mount and make each resize
cost 5 (2 cores, Textual 8.2.8, 2026-11-30). So the newest turns are live, older ones are one
widget each, and the oldest are behind "load earlier".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from lila_app.tui.exchange import Exchange, Kind
from lila_app.tui.plain import plain
from lila_app.tui.widgets.folded_turn import FoldedTurn
from lila_app.tui.widgets.live_turn import LiveTurn
from lila_app.tui.widgets.note import Note
from lila_app.tui.widgets.welcome import Welcome

LIVE_LIMIT = 12
"""Turns in Markdown at most; twenty already make a stream three times as dear."""

LIVE_AT_OPENING = 6
"""Turns in Markdown when a session is opened: what fits a tall screen."""

LIVE_LENGTH = 20_000
"""A stored reply of more characters is folded from the start."""

PAGE = 30
"""Folded turns at opening, and for each "load earlier"."""

FOLDED_LIMIT = 90
"""Folded turns kept when a new turn begins."""


class LoadEarlier(Static, can_focus=True):
    """The way to turns that are not on the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "load", "Load earlier turns", id="transcript.earlier"),
    ]

    class Wanted(Message):
        """The person wants earlier turns."""

    def say(self, hidden: int) -> None:
        """Tell how many turns are hidden."""
        self.update(plain(f"Load earlier ({hidden} not shown; Enter or click)"))
        self.display = hidden > 0

    def on_click(self) -> None:
        """A click is Enter."""
        self.action_load()

    def action_load(self) -> None:
        """Ask for them."""
        self.post_message(self.Wanted())


class Transcript(VerticalScroll):
    """The turns of the open session, newest last."""

    def __init__(self) -> None:
        super().__init__(id="transcript", name="Conversation")
        self._hidden: list[Exchange] = []
        self._earlier = LoadEarlier(plain(""))

    def on_mount(self) -> None:
        """Stay at the newest words until the person scrolls away."""
        self.anchor()

    async def show(self, exchanges: Sequence[Exchange], welcome: Welcome | None = None) -> None:
        """Show another conversation."""
        await self.remove_children()
        split = max(len(exchanges) - LIVE_AT_OPENING - PAGE, 0)
        self._hidden = list(exchanges[:split])
        self._earlier = LoadEarlier(plain(""))
        self._earlier.say(len(self._hidden))
        shown = exchanges[split:]
        live_from = len(shown) - LIVE_AT_OPENING
        widgets: list[Widget] = [self._earlier]
        if welcome is not None:
            widgets.append(welcome)
        widgets += [
            LiveTurn(exchange)
            if at >= live_from and len(exchange.reply) <= LIVE_LENGTH
            else FoldedTurn(exchange)
            for at, exchange in enumerate(shown)
        ]
        await self.mount_all(widgets)
        self.anchor()

    async def begin(self, text: str) -> LiveTurn:
        """A new turn at the end."""
        await self.query(Welcome).remove()
        await self._make_room()
        turn = LiveTurn(Exchange(text))
        await self.mount(turn)
        self.anchor()
        return turn

    async def note(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say outside any turn."""
        await self.mount(Note(kind, text, hint))
        self.anchor()

    def last_reply(self) -> str:
        """The newest reply that has words in it, as it was written; empty when there is none."""
        for turn in reversed(self.children):
            if isinstance(turn, (LiveTurn, FoldedTurn)) and turn.exchange.reply:
                return turn.exchange.reply
        return ""

    async def on_load_earlier_wanted(self, message: LoadEarlier.Wanted) -> None:
        """Bring back the next page of older turns, folded, without moving what is read."""
        message.stop()
        if not self._hidden:
            return
        page = self._hidden[-PAGE:]
        del self._hidden[-PAGE:]
        first = self._first_after_earlier()
        await self.mount_all([FoldedTurn(exchange) for exchange in page], after=self._earlier)
        self._earlier.say(len(self._hidden))
        if first is not None:
            self.call_after_refresh(self.scroll_to_widget, first, animate=False, top=True)

    async def on_folded_turn_opened(self, message: FoldedTurn.Opened) -> None:
        """Show an older turn in full; another gives way when there are too many."""
        message.stop()
        turn = message.turn
        live = LiveTurn(turn.exchange)
        await self.mount(live, after=turn)
        await turn.remove()
        await self._fold_down_to(LIVE_LIMIT, keep=live)

    async def _make_room(self) -> None:
        await self._fold_down_to(LIVE_LIMIT - 1, keep=None)
        folded = list(self.query_children(FoldedTurn))
        surplus = folded[: max(len(folded) - FOLDED_LIMIT, 0)]
        if surplus and surplus[0] is self._first_after_earlier():
            self._hidden += [turn.exchange for turn in surplus]
            await self.remove_children(surplus)
            self._earlier.say(len(self._hidden))

    async def _fold_down_to(self, limit: int, keep: LiveTurn | None) -> None:
        live = [turn for turn in self.query_children(LiveTurn) if turn is not keep]
        surplus = len(live) + (keep is not None) - limit
        for turn in live[: max(surplus, 0)]:
            await self.mount(FoldedTurn(turn.exchange), after=turn)
            await turn.remove()

    def _first_after_earlier(self) -> Widget | None:
        at = self.children.index(self._earlier) + 1
        return self.children[at] if at < len(self.children) else None

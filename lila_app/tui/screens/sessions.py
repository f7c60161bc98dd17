"""Earlier conversations: found by title or by what was said, opened, renamed, forked, deleted."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from lila_app.errors import LilaError
from lila_app.tui.host import host
from lila_app.tui.plain import plain
from lila_app.tui.screens.ask_line import AskLineScreen
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.session_catalog import Entry, SessionCatalog

T = TypeVar("T")

_PAUSE = 0.2
"""Seconds without a key before a search is made."""

_KEYS = "Enter open · ^N new · ^R rename · ^F fork · ^X delete · Esc back"


@dataclass(slots=True)
class Picked:
    """What the person did: which session to open, or a new one, and what was changed meanwhile."""

    open: str | None = None
    new: bool = False
    deleted: set[str] = field(default_factory=set[str])
    titles: dict[str, str] = field(default_factory=dict[str, str])


class SessionsScreen(ModalScreen[Picked]):
    """A list with a search line; `busy` is the session that is being answered, if any."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back to the conversation", id="sessions.back"),
        Binding("down", "move(1)", "Next", id="sessions.down", priority=True),
        Binding("up", "move(-1)", "Previous", id="sessions.up", priority=True),
        Binding("enter", "open", "Open", id="sessions.open", priority=True),
        Binding("ctrl+n", "new", "New conversation", id="sessions.new", priority=True),
        Binding("ctrl+r", "rename", "Rename", id="sessions.rename", priority=True),
        Binding("ctrl+f", "fork", "Fork: go on from a copy", id="sessions.fork", priority=True),
        Binding("ctrl+x", "delete", "Delete", id="sessions.delete", priority=True),
    ]

    def __init__(self, catalog: SessionCatalog, *, current: str | None, busy: str | None) -> None:
        super().__init__()
        self._catalog = catalog
        self._current = current
        self._busy = busy
        self._picked = Picked()
        self._entries: tuple[Entry, ...] = ()
        self._pause: Timer | None = None

    def compose(self) -> ComposeResult:
        """Search line, list, keys."""
        with Vertical(classes="dialog"):
            yield Static(plain("Conversations", "bold"))
            yield Input(placeholder="Search titles and what was said", id="search")
            yield OptionList(id="list", markup=False)
            yield Static(plain(_KEYS, "dim"), id="keys")

    def on_mount(self) -> None:
        """Show the latest."""
        self.query_one("#list").can_focus = False
        self._load()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search when the person pauses."""
        event.stop()
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(_PAUSE, self._load)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click opens."""
        event.stop()
        self._go(event.option.id)

    @work(exclusive=True, group="load", exit_on_error=False)
    async def _load(self) -> None:
        query = self.query_one("#search", Input).value
        entries = await self._tried(self._catalog.entries(query))
        if entries is None:
            return
        self._entries = entries
        shown = self.query_one("#list", OptionList)
        keep = shown.highlighted
        shown.clear_options()
        shown.add_options([Option(_row(entry, self._current), id=entry.id) for entry in entries])
        if entries:
            shown.highlighted = min(keep or 0, len(entries) - 1)
        else:
            nothing = "Nothing found" if query.strip() else "No conversations yet"
            shown.add_option(Option(plain(nothing, "dim"), disabled=True))

    async def _tried(self, call: Awaitable[T]) -> T | None:
        """The result, or None after telling what went wrong."""
        try:
            return await call
        except LilaError as error:
            self.notify(f"{error}\n{error.hint}".strip(), severity="error")
            return None

    def _chosen(self) -> Entry | None:
        at = self.query_one("#list", OptionList).highlighted
        return self._entries[at] if at is not None and at < len(self._entries) else None

    def action_move(self, step: int) -> None:
        """Up and down in the list while the search line keeps the focus."""
        shown = self.query_one("#list", OptionList)
        if step > 0:
            shown.action_cursor_down()
        else:
            shown.action_cursor_up()

    def action_back(self) -> None:
        """Nothing to open."""
        self.dismiss(self._picked)

    def action_new(self) -> None:
        """Begin another conversation."""
        self._picked.new = True
        self.dismiss(self._picked)

    def action_open(self) -> None:
        """Open the highlighted one."""
        entry = self._chosen()
        self._go(entry.id if entry is not None else None)

    def _go(self, id: str | None) -> None:
        if id is not None:
            self._picked.open = id
            self.dismiss(self._picked)

    @work(exclusive=True, group="change", exit_on_error=False)
    async def action_rename(self) -> None:
        """Ask for another title."""
        entry = self._chosen()
        if entry is None:
            return
        title = await host(self).push_screen_wait(AskLineScreen("New title", entry.title))
        if title is None:
            return
        if await self._tried(_done(self._catalog.rename(entry.id, title))):
            self._picked.titles[entry.id] = title
            self._load()

    @work(exclusive=True, group="change", exit_on_error=False)
    async def action_fork(self) -> None:
        """Copy it and go on in the copy."""
        entry = self._chosen()
        if entry is not None:
            self._go(await self._tried(self._catalog.fork(entry.id)))

    @work(exclusive=True, group="change", exit_on_error=False)
    async def action_delete(self) -> None:
        """Delete after a question."""
        entry = self._chosen()
        if entry is None:
            return
        if entry.id == self._busy:
            self.notify("LILA is answering in this conversation: stop it first", severity="warning")
            return
        question = f"Delete “{entry.title}” ({entry.detail})? What was said in it is erased."
        if not await host(self).push_screen_wait(ConfirmScreen(question, yes="Delete")):
            return
        report = await self._tried(self._catalog.delete(entry.id))
        if report is None:
            return
        self._picked.deleted.add(entry.id)
        if report.backups:
            names = ", ".join(str(path) for path in report.backups)
            self.notify(f"It is still in these backups: {names}", severity="warning", timeout=15)
        self._load()


async def _done(call: Awaitable[None]) -> bool:
    await call
    return True


def _row(entry: Entry, current: str | None) -> Content:
    mark = "  (open)" if entry.id == current else ""
    lines = [plain(entry.title, "bold"), plain(mark, "dim"), plain(f"\n{entry.detail}", "dim")]
    if entry.snippet:
        lines.append(plain(f"\n“{entry.snippet}”", "italic"))
    return Content("").join(lines)

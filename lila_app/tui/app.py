"""The terminal app: screens, themes and the keys that work everywhere. It does no I/O itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from datetime import tzinfo
from typing import ClassVar, Literal

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from lila_app.tui import clipboard
from lila_app.tui.facade import Assistant
from lila_app.tui.plain import visible
from lila_app.tui.screens.chat import ChatScreen
from lila_app.tui.screens.help import HelpScreen, Section
from lila_app.tui.screens.sessions import SessionsScreen
from lila_app.tui.talking import Voice
from lila_app.tui.widgets.folded_turn import FoldedTurn
from lila_app.tui.widgets.prompt import Prompt
from lila_app.tui.widgets.thinking import Thinking
from lila_app.tui.widgets.transcript import LoadEarlier


class LilaApp(App[None]):
    """LILA in a terminal. `session` is opened at the start; None begins a new conversation.
    `model` answers instead of the default one; `voice` is how one talks with LILA (None: not).

    `monotonic` and `zone` are parameters so that tests can stop the clock and name the place.
    `broken` is what ended the app, if something nobody planned for did.
    """

    TITLE = "LILA"
    CSS_PATH = "lila.tcss"
    ENABLE_COMMAND_PALETTE = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", id="app.help"),
        Binding("ctrl+q", "quit", "Quit", id="app.quit", priority=True),
    ]

    def __init__(
        self,
        lila: Assistant,
        *,
        session: str | None = None,
        model: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        zone: tzinfo | None = None,
        voice: Voice | None = None,
    ) -> None:
        super().__init__()
        self.broken: Exception | None = None
        self._chat = ChatScreen(
            lila, session=session, model=model, monotonic=monotonic, zone=zone, voice=voice
        )

    def _handle_exception(self, error: Exception) -> None:
        self.broken = self.broken or error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """End without Textual's traceback: it shows variables, so what was said, and keys."""
        self.bell()
        self._close_messages_no_wait()

    def get_default_screen(self) -> Screen[None]:
        """The conversation."""
        return self._chat

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Literal["information", "warning", "error"] = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002 (the base class's signature)
    ) -> None:
        """A message in the corner; never read as markup, whoever asks."""
        super().notify(
            visible(message),
            title=visible(title),
            severity=severity,
            timeout=timeout,
            markup=False,
        )

    def copy_to_clipboard(self, text: str) -> None:
        """Put text on the clipboard, also from within tmux and GNU screen."""
        self._clipboard = text
        if self._driver is not None:
            clipboard.copy(text, self._driver.write, os.environ)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the command palette (Ctrl+P) offers."""
        if isinstance(screen, ChatScreen):
            chat = self._chat
            yield SystemCommand("New conversation", "Begin another one", chat.action_new)
            yield SystemCommand("Talk", "Talk with LILA aloud, and end it", chat.action_talk)
            yield SystemCommand("Conversations", "Open, fork, delete", chat.action_sessions)
            yield SystemCommand("Context", "What the model saw last time", chat.action_context)
            yield SystemCommand("Copy", "The last reply, as Markdown", chat.copy_last_reply)
            yield SystemCommand("Help", "All keys", self.action_help)
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)
        yield SystemCommand("Quit", "Leave LILA", self.action_quit)

    def action_help(self) -> None:
        """Show all keys."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(sections()))

    async def action_quit(self) -> None:
        """Stop the reply, keep its text and the draft, then end."""
        await self._chat.leave()
        self.exit()


def sections() -> tuple[Section, ...]:
    """Every key of LILA's own, by the place where it works."""
    return (
        ("Everywhere", LilaApp.BINDINGS),
        ("Message", Prompt.BINDINGS),
        ("Conversation", ChatScreen.BINDINGS),
        (
            "With the focus on it (Shift+Tab)",
            [*FoldedTurn.BINDINGS, *LoadEarlier.BINDINGS, *Thinking.BINDINGS],
        ),
        ("List of conversations", SessionsScreen.BINDINGS),
    )

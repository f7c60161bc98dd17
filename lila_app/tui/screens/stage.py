"""The chat's screen as its parts need it: where turns, questions and notes are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.widget import Widget

from lila_app.events import Confirmation
from lila_app.tui.answering import TurnView
from lila_app.tui.exchange import Exchange, Kind
from lila_app.tui.host import host
from lila_app.tui.outbox import Outbox
from lila_app.tui.screens.choose_model import ChooseModelScreen
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.session_model import SessionModel
from lila_app.tui.talking import SpokenTurn
from lila_app.tui.weights import Missing
from lila_app.tui.widgets.context_panel import ContextPanel
from lila_app.tui.widgets.live_turn import LiveTurn
from lila_app.tui.widgets.prompt import Prompt
from lila_app.tui.widgets.status_line import StatusLine
from lila_app.tui.widgets.title_bar import TitleBar
from lila_app.tui.widgets.transcript import Transcript
from lila_app.tui.widgets.waiting_list import WaitingList
from lila_app.tui.widgets.welcome import Welcome


@dataclass(frozen=True, slots=True)
class Parts:
    """The widgets of the screen."""

    transcript: Transcript
    prompt: Prompt
    panel: ContextPanel
    status: StatusLine
    title: TitleBar
    waiting: WaitingList


class Stage:
    """The view of what answers, prepares, opens and talks; `screen` is where it all is."""

    def __init__(
        self,
        screen: Widget,
        parts: Parts,
        model: SessionModel,
        outbox: Outbox,
        monotonic: Callable[[], float],
    ) -> None:
        self._screen = screen
        self._parts = parts
        self._model = model
        self._outbox = outbox
        self._monotonic = monotonic
        self._turn_began = 0.0

    async def begin_turn(self, text: str) -> LiveTurn:
        """Show a new turn."""
        self._turn_began = self._monotonic()
        return await self._parts.transcript.begin(text)

    async def drop_turn(self, turn: TurnView | SpokenTurn) -> None:
        """Take away a turn that never began, or is none after all."""
        if isinstance(turn, LiveTurn):
            await turn.remove()

    def give_back(self, text: str) -> None:
        """Put text before what is in the prompt."""
        if text.strip():
            prompt = self._parts.prompt
            rest = prompt.text
            prompt.put(f"{text}\n\n{rest}" if rest.strip() else text)
            self._outbox.type(prompt.text)

    def refresh_status(self) -> None:
        """Show the state as it is now."""
        parts, model = self._parts, self._model
        seconds = int(self._monotonic() - self._turn_began) if model.turn_active else None
        parts.status.seconds = seconds
        parts.status.status = model.status
        parts.title.conversation = model.title
        parts.waiting.say(self._outbox.waiting)
        parts.panel.show(model.record)

    async def choose(self, missing: Missing) -> str | None:
        """Ask which model to fetch or take."""
        return await host(self._screen).push_screen_wait(ChooseModelScreen(missing))

    async def consent(self, question: Confirmation) -> bool:
        """Ask whether a tool may change something."""
        asked = ConfirmScreen(question.question, yes="Yes")
        return await host(self._screen).push_screen_wait(asked)

    async def tell(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say in the transcript, outside any turn."""
        await self._parts.transcript.note(kind, text, hint)

    def warn(self, text: str) -> None:
        """Say in passing why something is not done."""
        self._screen.notify(text, severity="warning")

    async def show(self, exchanges: Sequence[Exchange], words: Sequence[str]) -> None:
        """Show a conversation; `words` can be recalled in the prompt."""
        self._parts.prompt.sent.replace(list(words))
        await self._parts.transcript.show(exchanges)

    async def show_welcome(self) -> None:
        """Show that nothing was said yet."""
        await self._parts.transcript.show([], Welcome(self._model.profile))

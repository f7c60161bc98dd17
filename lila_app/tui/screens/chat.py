"""The conversation: transcript, prompt, context beside it, state below."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from datetime import tzinfo
from typing import ClassVar, cast

from textual import events, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import TextArea
from textual.worker import Worker, WorkerError, WorkerState

from lila_app.errors import LilaError
from lila_app.events import Confirmation
from lila_app.tui.answering import Answering, TurnView
from lila_app.tui.editor import edit
from lila_app.tui.exchange import Kind, from_turn
from lila_app.tui.facade import Assistant
from lila_app.tui.host import host
from lila_app.tui.outbox import Outbox
from lila_app.tui.preparing import Preparing
from lila_app.tui.screens.choose_model import ChooseModelScreen
from lila_app.tui.screens.confirm import ConfirmScreen
from lila_app.tui.screens.sessions import Picked, SessionsScreen
from lila_app.tui.second_press import SecondPress
from lila_app.tui.session_catalog import SessionCatalog
from lila_app.tui.session_model import Phase, SessionModel
from lila_app.tui.weights import Missing
from lila_app.tui.widgets.context_panel import ContextPanel
from lila_app.tui.widgets.fetch_bar import FetchBar
from lila_app.tui.widgets.live_turn import LiveTurn
from lila_app.tui.widgets.prompt import Prompt
from lila_app.tui.widgets.status_line import StatusLine
from lila_app.tui.widgets.title_bar import TitleBar
from lila_app.tui.widgets.transcript import Transcript
from lila_app.tui.widgets.waiting_list import WaitingList
from lila_app.tui.widgets.welcome import Welcome
from lila_app.views import SessionDetail

WIDE = 120
"""Columns from which the context panel is open unless the person closed it."""

QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""

_DRAFT_PAUSE = 0.2
"""Seconds without a key before the draft is written."""

_PATIENCE = 3.0
"""Seconds a reply that is being stopped may take to be stored before the app ends anyway."""


class ChatScreen(Screen[None]):
    """One conversation at a time; also the `View` of `Answering` and `Preparing`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "Stop the reply and keep what is there", id="chat.stop"),
        Binding("f2,ctrl+o", "sessions", "Earlier conversations", id="chat.sessions"),
        Binding("f3,ctrl+t", "context", "What the model saw, on and off", id="chat.context"),
        Binding("f5", "retry", "Ask again what got no whole reply", id="chat.retry"),
        Binding("ctrl+n", "new", "New conversation", id="chat.new"),
        Binding("pageup", "page(-1)", "Scroll up", id="chat.page_up"),
        Binding("pagedown", "page(1)", "Scroll down", id="chat.page_down"),
        Binding("ctrl+c", "copy_or_quit",
                "Copy what is selected, else stop the reply, else clear the message, "
                "else (twice) quit", id="chat.interrupt"),
        Binding("ctrl+d", "end", "Quit when the message is empty", id="chat.end"),
    ]  # fmt: skip

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 (Textual declares it as an instance variable)
        (0, "-narrow"),
        (100, "-normal"),
        (WIDE, "-wide"),
    ]

    def __init__(
        self,
        lila: Assistant,
        *,
        session: str | None,
        model: str | None,
        monotonic: Callable[[], float],
        zone: tzinfo | None,
    ) -> None:
        super().__init__()
        self._lila = lila
        self._first_session = session
        self._monotonic = monotonic
        self._model = SessionModel(lila, model)
        self._catalog = SessionCatalog(lila, zone)
        self._fetch_bar = FetchBar()
        self._preparing = Preparing(lila, self._model, self, self._fetch_bar)
        self._outbox = Outbox(self._draft_problem)
        self._answering = Answering(self._model, self._outbox, self, lambda: self._preparing.over)
        self._turns: Worker[None] | None = None
        self._panel_wish: bool | None = None
        self._turn_began = 0.0
        self._quit_press = SecondPress(QUIT_WITHIN)
        self._transcript = Transcript()
        self._prompt = Prompt()
        self._panel = ContextPanel()
        self._status = StatusLine()
        self._title = TitleBar(lila.profile)
        self._waiting = WaitingList()

    def compose(self) -> ComposeResult:
        """Title, conversation beside context, status."""
        yield self._title
        with Horizontal(id="body"):
            with Vertical(id="conversation"):
                yield self._transcript
                yield self._fetch_bar
                yield self._waiting
                yield self._prompt
            yield self._panel
        yield self._status

    # -- start and end --------------------------------------------------------------------

    def on_mount(self) -> None:
        """Draft, session, model: in the background, so that the screen is there at once."""
        self._prompt.focus()
        self.set_interval(1.0, self._tick)
        self._begin()

    @work(group="begin", exit_on_error=False)
    async def _begin(self) -> None:
        left = await self._outbox.restore(self._lila.home.state_dir, self._lila.profile)
        if left:
            self.give_back(left)
            self.notify("This message was not sent; it is back in the prompt.")
        await self._show_empty()
        if self._first_session is not None:
            await self._open(self._first_session)
        await self._preparing.run()
        self._answer_waiting()

    def _tick(self) -> None:
        self.refresh_status()
        if self._model.awaits_record:
            self._peek()

    @work(group="peek", exclusive=True, exit_on_error=False)
    async def _peek(self) -> None:
        await self._model.refresh_record()
        self.refresh_status()

    async def leave(self) -> None:
        """Stop the reply, keep its text and the draft; the app may end afterwards."""
        self._preparing.stop()
        turns = self._turns
        if turns is not None and turns.is_running:
            turns.cancel()
            await asyncio.wait({asyncio.ensure_future(_settled(turns))}, timeout=_PATIENCE)
        self._outbox.type(self._prompt.text)

    async def on_unmount(self) -> None:
        """However the app ends, the draft is on disk."""
        self._preparing.stop()
        await self._outbox.keep()
        self._outbox.close()

    # -- what turns and the fetch need of the screen --------------------------------------

    async def begin_turn(self, text: str) -> LiveTurn:
        """Show a new turn."""
        self._turn_began = self._monotonic()
        return await self._transcript.begin(text)

    async def drop_turn(self, turn: TurnView) -> None:
        """Take away a turn that never began."""
        if isinstance(turn, LiveTurn):
            await turn.remove()

    def give_back(self, text: str) -> None:
        """Put text before what is in the prompt."""
        if text.strip():
            rest = self._prompt.text
            self._prompt.put(f"{text}\n\n{rest}" if rest.strip() else text)
            self._outbox.type(self._prompt.text)

    def refresh_status(self) -> None:
        """Show the state as it is now."""
        seconds = int(self._monotonic() - self._turn_began) if self._model.turn_active else None
        self._status.seconds = seconds
        self._status.status = self._model.status
        self._title.conversation = self._model.title
        self._waiting.say(self._outbox.waiting)
        self._panel.show(self._model.record)

    async def choose(self, missing: Missing) -> str | None:
        """Ask which model to fetch or take."""
        return await host(self).push_screen_wait(ChooseModelScreen(missing))

    async def consent(self, question: Confirmation) -> bool:
        """Ask whether a tool may change something."""
        return await host(self).push_screen_wait(ConfirmScreen(question.question, yes="Yes"))

    async def tell(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say in the transcript, outside any turn."""
        await self._transcript.note(kind, text, hint)

    def _draft_problem(self, error: LilaError) -> None:
        self.notify(f"Unsent text cannot be kept: {error}", severity="warning")

    # -- writing and answering ------------------------------------------------------------

    async def on_prompt_sent(self, message: Prompt.Sent) -> None:
        """A message is on its way; it waits while another is being answered."""
        message.stop()
        self._outbox.submit(message.text)
        self._transcript.anchor()
        self._answer_waiting()
        self.refresh_status()
        await self._outbox.keep()

    def _answer_waiting(self) -> None:
        if self._turns is None or self._turns.is_finished:
            self._turns = self._run_turns()

    @work(group="turns", exit_on_error=False)
    async def _run_turns(self) -> None:
        await self._answering.run()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What was sent while a turn was ending goes on; what broke in the background is told."""
        # Textual leaves the type parameter of the worker open.
        worker = cast("Worker[object]", event.worker)  # pyright: ignore[reportUnknownMemberType]
        if event.state is WorkerState.ERROR:
            kind = type(worker.error).__name__
            self.notify(f"Something in LILA broke ({kind})", severity="error")
        if worker is self._turns and worker.is_finished and self._outbox.waiting:
            self._answer_waiting()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Keep the draft when the person pauses."""
        event.stop()
        self._outbox.type(self._prompt.text)
        self._keep_draft()

    @work(exclusive=True, group="draft", exit_on_error=False)
    async def _keep_draft(self) -> None:
        await asyncio.sleep(_DRAFT_PAUSE)
        await asyncio.shield(self._outbox.keep())

    def on_prompt_editor_wanted(self, message: Prompt.EditorWanted) -> None:
        """Hand the terminal to the person's editor; the screen waits for it."""
        message.stop()
        if self._model.turn_active:
            self.notify("The editor can be opened when LILA has answered.")
            return
        try:
            with host(self).suspend():
                text = edit(self._prompt.text, self._lila.home.state_dir / "drafts", os.environ)
        except SuspendNotSupported:
            self.notify("An editor cannot be opened in this terminal.", severity="warning")
        except LilaError as error:
            self.notify(f"{error}\n{error.hint}".strip(), severity="warning")
        else:
            self._prompt.put(text)

    # -- keys -----------------------------------------------------------------------------

    def action_stop(self) -> None:
        """Escape: close the panel when it covers all, else stop what goes on."""
        if self._panel.display and self.has_class("-narrow"):
            self.action_context()
        elif self._model.turn_active and self._turns is not None:
            self._model.enter(Phase.STOPPING)
            self.refresh_status()
            self._turns.cancel()
        elif self._outbox.waiting:
            self.give_back(self._outbox.take_back())
            self.refresh_status()
        elif not self._preparing.over:
            self._preparing.stop()
        else:
            self.clear_selection()

    def action_retry(self) -> None:
        """F5: ask the last question again, without saying it twice."""
        text = self._answering.unfinished
        if self._model.turn_active or text is None:
            self.notify("There is nothing to ask again.")
            return
        if self._prompt.text == text:  # it was given back
            self._prompt.put("")
        self._outbox.submit(text)
        self._answer_waiting()
        self.refresh_status()

    def action_copy_or_quit(self) -> None:
        """Ctrl+C: never quits at once."""
        selected = self._prompt.selected_text or self.get_selected_text()
        if selected:
            host(self).copy_to_clipboard(selected)
            self.clear_selection()
            self.notify("Copied.")
        elif self._model.turn_active:
            self.action_stop()
        elif self._prompt.text:
            self._prompt.sent.add(self._prompt.text)
            self._prompt.put("")
        elif self._quit_press.again(self._monotonic()):
            self._quit()
        else:
            self.notify("Press Ctrl+C again to quit.", timeout=QUIT_WITHIN)

    def action_end(self) -> None:
        """Ctrl+D: delete to the right while there is text, else quit."""
        if self._prompt.text:
            self._prompt.action_delete_right()
        else:
            self._quit()

    @work(group="quit", exclusive=True, exit_on_error=False)
    async def _quit(self) -> None:
        await host(self).action_quit()

    def action_page(self, direction: int) -> None:
        """Scroll the transcript while the prompt keeps the focus."""
        if direction < 0:
            self._transcript.scroll_page_up(animate=False)
        else:
            self._transcript.scroll_page_down(animate=False)

    def action_context(self) -> None:
        """Show or hide the context panel."""
        self._panel_wish = not self._panel.display
        self._arrange()
        covers = self._panel.display and self.has_class("-narrow")
        (self._panel if covers else self._prompt).focus()

    def on_resize(self, event: events.Resize) -> None:
        """The panel opens by itself where there is room."""
        self._arrange(event.size.width)

    def _arrange(self, width: int | None = None) -> None:
        wide = (self.size.width if width is None else width) >= WIDE
        self._panel.display = wide if self._panel_wish is None else self._panel_wish
        self.set_class(self._panel.display, "-panel")

    def copy_last_reply(self) -> None:
        """Put the last reply's Markdown on the clipboard."""
        reply = self._transcript.last_reply()
        if reply:
            host(self).copy_to_clipboard(reply)
            self.notify("Copied.")
        else:
            self.notify("There is no reply yet.")

    # -- sessions -------------------------------------------------------------------------

    @work(group="sessions", exclusive=True, exit_on_error=False)
    async def action_new(self) -> None:
        """Begin another conversation."""
        if self._may_leave():
            await self._show_empty()

    @work(group="sessions", exclusive=True, exit_on_error=False)
    async def action_sessions(self) -> None:
        """Pick an earlier conversation."""
        current = self._model.session_id
        busy = current if self._model.turn_active else None
        picked = await host(self).push_screen_wait(
            SessionsScreen(self._catalog, current=current, busy=busy)
        )
        await self._follow(picked)

    async def _follow(self, picked: Picked) -> None:
        current = self._model.session_id
        if current in picked.titles:
            self._model.title = picked.titles[current]
        self.refresh_status()
        elsewhere = picked.open is not None and picked.open != current
        gone = current is not None and current in picked.deleted
        if not (elsewhere or gone or picked.new) or not self._may_leave():
            return
        if picked.open is None or not await self._open(picked.open):
            await self._show_empty()

    def _may_leave(self) -> bool:
        if self._model.turn_active:
            self.notify("LILA is answering: stop it first (Esc).", severity="warning")
        return not self._model.turn_active

    async def _open(self, session_id: str) -> bool:
        try:
            detail = await self._model.open(session_id)
        except LilaError as error:
            await self.tell("error", str(error), error.hint)
            return False
        self._answering.leave(_unfinished(detail))
        self._prompt.sent.replace([turn.user for turn in detail.turns])
        await self._transcript.show([from_turn(turn) for turn in detail.turns])
        self.refresh_status()
        if self._preparing.over:
            self._warm()
        return True

    @work(group="warm", exclusive=True, exit_on_error=False)
    async def _warm(self) -> None:
        # Only speed depends on it: what is wrong with the model is told by the next turn.
        with contextlib.suppress(LilaError):
            await self._model.warm()

    async def _show_empty(self) -> None:
        self._model.start_new()
        await self._transcript.show([], Welcome(self._lila.profile))
        self.refresh_status()


def _unfinished(detail: SessionDetail) -> str | None:
    """What a session asked last, itself and not the one it came from, without a whole reply."""
    for turn in detail.turns[-1:]:
        if turn.session_id == detail.info.id and (turn.reply is None or turn.stopped):
            return turn.user
    return None


async def _settled(worker: Worker[None]) -> None:
    with contextlib.suppress(WorkerError):
        await worker.wait()

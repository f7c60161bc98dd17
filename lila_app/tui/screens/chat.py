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
from lila_app.tui.answering import Answering
from lila_app.tui.editor import edit
from lila_app.tui.facade import Assistant
from lila_app.tui.host import host
from lila_app.tui.opening import Opening
from lila_app.tui.outbox import Outbox
from lila_app.tui.preparing import Preparing
from lila_app.tui.screens.sessions import SessionsScreen
from lila_app.tui.screens.stage import Parts, Stage
from lila_app.tui.second_press import SecondPress
from lila_app.tui.session_catalog import SessionCatalog
from lila_app.tui.session_model import Phase, SessionModel
from lila_app.tui.talking import Talking, Voice
from lila_app.tui.widgets.context_panel import ContextPanel
from lila_app.tui.widgets.fetch_bar import FetchBar
from lila_app.tui.widgets.prompt import Prompt
from lila_app.tui.widgets.status_line import StatusLine
from lila_app.tui.widgets.title_bar import TitleBar
from lila_app.tui.widgets.transcript import Transcript
from lila_app.tui.widgets.waiting_list import WaitingList

WIDE = 120
"""Columns from which the context panel is open unless the person closed it."""

QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""

_TITLE_SECONDS = 2.0
"""How often the open conversation's title is read again: a model names it when it gets to it."""

_DRAFT_PAUSE = 0.2
"""Seconds without a key before the draft is written."""

_PATIENCE = 3.0
"""Seconds a reply that is being stopped may take to be stored before the app ends anyway."""


class ChatScreen(Screen[None]):
    """One conversation at a time: its layout, its keys, and the parts that do the work."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "Stop the reply and keep what is there", id="chat.stop"),
        Binding("f2,ctrl+o", "sessions", "Earlier conversations", id="chat.sessions"),
        Binding("f3,ctrl+t", "context", "What the model saw, on and off", id="chat.context"),
        Binding("f4", "talk", "Talk with LILA aloud, and end it", id="chat.talk"),
        Binding("f8", "mute", "Shut the microphone, and open it", id="chat.mute"),
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
        voice: Voice | None,
    ) -> None:
        super().__init__()
        self._lila = lila
        self._first_session = session
        self._monotonic = monotonic
        self._model = SessionModel(lila, model)
        self._catalog = SessionCatalog(lila, zone)
        self._fetch_bar = FetchBar()
        self._outbox = Outbox(self._draft_problem)
        self._transcript, self._prompt, self._panel = Transcript(), Prompt(), ContextPanel()
        self._status, self._title = StatusLine(), TitleBar(lila.profile)
        self._waiting = WaitingList()
        parts = Parts(
            self._transcript, self._prompt, self._panel, self._status, self._title, self._waiting
        )
        self._stage = stage = Stage(self, parts, self._model, self._outbox, monotonic)
        self._preparing = Preparing(lila, self._model, stage, self._fetch_bar)
        self._answering = Answering(self._model, self._outbox, stage, lambda: self._preparing.over)
        self._opening = Opening(self._model, self._answering, stage, self._busy)
        self._talking = Talking(voice, self._model, stage, self._fetch_bar)
        self._turns: Worker[None] | None = None
        self._talk: Worker[None] | None = None
        self._panel_wish: bool | None = None
        self._quit_press = SecondPress(QUIT_WITHIN)

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
        self.set_interval(_TITLE_SECONDS, self._look_at_title)
        self._begin()

    @work(group="begin", exit_on_error=False)
    async def _begin(self) -> None:
        left = await self._outbox.restore(self._lila.home.state_dir, self._lila.profile)
        if left:
            self._stage.give_back(left)
            self.notify("This message was not sent; it is back in the prompt.")
        await self._opening.begin_new()
        if self._first_session is not None:
            await self._opening.open(self._first_session)
        await self._preparing.run()
        self._answer_waiting()

    def _tick(self) -> None:
        self._stage.refresh_status()
        if self._model.awaits_record:
            self._peek()

    @work(group="title", exclusive=True, exit_on_error=False)
    async def _look_at_title(self) -> None:
        if self._model.session_id is not None:
            await self._model.refresh_title()
            self._stage.refresh_status()

    @work(group="peek", exclusive=True, exit_on_error=False)
    async def _peek(self) -> None:
        await self._model.refresh_record()
        self._stage.refresh_status()

    async def leave(self) -> None:
        """Stop the reply, keep its text and the draft; the app may end afterwards."""
        self._preparing.stop()
        self._talking.stop()
        if self._turns is not None:
            self._turns.cancel()
        going = [one for one in (self._turns, self._talk) if one is not None and one.is_running]
        if going:
            await asyncio.wait(
                [asyncio.ensure_future(_settled(one)) for one in going], timeout=_PATIENCE
            )
        self._outbox.type(self._prompt.text)

    async def on_unmount(self) -> None:
        """However the app ends, the draft is on disk."""
        self._preparing.stop()
        await self._outbox.keep()
        self._outbox.close()

    def _draft_problem(self, error: LilaError) -> None:
        self.notify(f"Unsent text cannot be kept: {error}", severity="warning")

    # -- writing and answering ------------------------------------------------------------

    async def on_prompt_sent(self, message: Prompt.Sent) -> None:
        """A message is on its way; it waits while another is being answered."""
        message.stop()
        self._outbox.submit(message.text)
        self._transcript.anchor()
        self._answer_waiting()
        self._stage.refresh_status()
        await self._outbox.keep()

    def _answer_waiting(self) -> None:
        # While a model is fetched a turn would end at once, and its end begin the next.
        if not self._preparing.over:
            return
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
        elif self._talking.speaking:
            self._talking.silence()
        elif self._model.turn_active and self._turns is not None:
            self._model.enter(Phase.STOPPING)
            self._stage.refresh_status()
            self._turns.cancel()
        elif self._outbox.waiting:
            self._stage.give_back(self._outbox.take_back())
            self._stage.refresh_status()
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
        self._stage.refresh_status()

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
        if self._opening.may_leave():
            await self._opening.begin_new()

    @work(group="sessions", exclusive=True, exit_on_error=False)
    async def action_sessions(self) -> None:
        """Pick an earlier conversation."""
        current = self._model.session_id
        busy = current if self._model.turn_active or self._talking.active else None
        picked = await host(self).push_screen_wait(
            SessionsScreen(self._catalog, current=current, busy=busy)
        )
        if await self._opening.follow(picked) and self._preparing.over:
            self._warm()

    @work(group="warm", exclusive=True, exit_on_error=False)
    async def _warm(self) -> None:
        await self._opening.warm()

    def _busy(self) -> str:
        if self._talking.active:
            return "You are talking with LILA: end that first (F4)."
        return "LILA is answering: stop it first (Esc)." if self._model.turn_active else ""

    # -- talking --------------------------------------------------------------------------

    def action_talk(self) -> None:
        """F4: begin to talk, or end it."""
        if self._talking.active:
            self._talking.stop()
        else:
            self._talk = self._run_talk()

    @work(group="talking", exit_on_error=False)
    async def _run_talk(self) -> None:
        await self._talking.run()

    def action_mute(self) -> None:
        """F8: shut the microphone, or open it."""
        if self._talking.active:
            self._talking.mute()
        else:
            self.notify("The microphone is off; F4 begins to talk.")


async def _settled(worker: Worker[None]) -> None:
    with contextlib.suppress(WorkerError):
        await worker.wait()

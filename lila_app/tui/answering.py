"""Carries what the person sent through turns into the transcript, one message after the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Protocol

from lila_app.errors import LilaError
from lila_app.events import (
    Confirmation,
    Done,
    Notice,
    Started,
    TextDelta,
    ThinkingDelta,
    ToolResult,
    TurnEvent,
)
from lila_app.tui.exchange import Kind
from lila_app.tui.outbox import Outbox
from lila_app.tui.session_model import SessionModel

_log = logging.getLogger(__name__)


class TurnView(Protocol):
    """One turn on the screen."""

    def wait(self, text: str) -> None:
        """Say what is being waited for."""
        ...

    async def write(self, piece: str) -> None:
        """The next piece of the reply."""
        ...

    async def think(self, piece: str) -> None:
        """The next piece of thinking."""
        ...

    async def note(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say below the reply."""
        ...

    async def finish(self, *, stopped: bool) -> None:
        """The turn is over."""
        ...


class View(Protocol):
    """The screen, as far as a turn needs it."""

    async def begin_turn(self, text: str) -> TurnView:
        """Show a new turn."""
        ...

    async def drop_turn(self, turn: TurnView) -> None:
        """Take away a turn that never began."""
        ...

    def give_back(self, text: str) -> None:
        """Put text before what is in the prompt."""
        ...

    async def consent(self, question: Confirmation) -> bool:
        """Ask whether a tool may change something."""
        ...

    def refresh_status(self) -> None:
        """The model's state changed."""
        ...


class Answering:
    """Runs turns while messages wait. Cancelling `run` stops the reply and keeps what is there.

    Stopping or failing also takes the waiting messages back to the prompt: they were written in
    the hope of an answer, and the person decides what becomes of them.
    """

    def __init__(
        self, model: SessionModel, outbox: Outbox, view: View, ready: Callable[[], bool]
    ) -> None:
        self._model = model
        self._outbox = outbox
        self._view = view
        self._ready = ready
        self._left: tuple[str | None, str] | None = None

    @property
    def unfinished(self) -> str | None:
        """What the open session asked last, if no whole reply came of it."""
        if self._left is None or self._left[0] != self._model.session_id:
            return None
        return self._left[1]

    def leave(self, text: str | None) -> None:
        """Remember what the open session asked last without getting a whole reply; None: nothing.

        Sent once more, the same words are not stored a second time.
        """
        self._left = None if text is None else (self._model.session_id, text)

    async def run(self) -> None:
        """Answer what waits, oldest first; returns when nothing waits or a turn failed."""
        while self._ready():
            text = self._outbox.send_next()
            if text is None or not await self._answer(text):
                return

    async def _answer(self, text: str) -> bool:
        view = self._view
        turn = await view.begin_turn(text)
        progress = _Progress()
        again = text == self.unfinished
        self.leave(None)
        try:
            async with aclosing(self._model.begin(text, view.consent, again=again)) as events:
                turn.wait(str(self._model.status.phase))
                view.refresh_status()
                async for event in events:
                    await self._follow(event, turn, progress)
        except asyncio.CancelledError:
            await self._stopped(turn, progress, text)
            raise
        except LilaError as error:
            await self._failed(turn, progress, text, str(error), error.hint)
            return False
        except Exception as error:
            # Whatever breaks below, the conversation on the screen must survive it. The error's
            # text is not shown: nobody wrote it for a person, and it may quote a key.
            _log.error("a turn broke", exc_info=error)
            await self._failed(
                turn,
                progress,
                text,
                f"something in LILA broke ({type(error).__name__})",
                "this is a defect; `lila doctor` may tell more",
            )
            return False
        else:
            await turn.finish(stopped=progress.stopped)
            await self._model.refresh_record()
        finally:
            self._model.end_turn()
            view.refresh_status()
        return True

    async def _follow(self, event: TurnEvent, turn: TurnView, progress: _Progress) -> None:
        self._model.observe(event)
        match event:
            case Started():
                progress.accepted = True
                self._outbox.accepted()
                await self._outbox.keep()
            case TextDelta():
                progress.replied = True
                await turn.write(event.text)
            case ThinkingDelta():
                await turn.think(event.text)
            case ToolResult(name=name, text=text, failed=True):
                await turn.note("notice", f"tool {name}: {text}")
            case ToolResult(name=name):
                await turn.note("notice", f"used the tool {name}")
            case Notice():
                await turn.note("notice", event.text)
            case Done():
                progress.stopped = event.stopped
            case _:
                pass
        self._view.refresh_status()

    async def _stopped(self, turn: TurnView, progress: _Progress, text: str) -> None:
        self._model.stopped()
        self._view.give_back(self._outbox.take_back())
        if progress.accepted:
            self.leave(text)
            await turn.finish(stopped=True)
        else:
            await self._view.drop_turn(turn)
        await self._outbox.keep()
        await self._model.refresh_record()

    async def _failed(
        self, turn: TurnView, progress: _Progress, text: str, message: str, hint: str
    ) -> None:
        self._model.failed()
        if progress.accepted:
            self.leave(text)
        if progress.replied:
            hint = "what came of the reply is kept; F5 asks again"
        elif progress.accepted:
            self._view.give_back(text)
        self._view.give_back(self._outbox.take_back())
        await turn.finish(stopped=progress.replied)
        await turn.note("error", message, hint)
        await self._outbox.keep()
        await self._model.refresh_record()


class _Progress:
    """How far one turn has come."""

    def __init__(self) -> None:
        self.accepted = False
        self.replied = False
        self.stopped = False

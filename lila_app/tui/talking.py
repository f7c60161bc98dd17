"""Talking with LILA beside the chat: what is heard and said becomes turns of the conversation.

The voice room expects its view to return at once, while widgets are mounted one after the other;
so what it tells waits in a queue, and one task works it off in order.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from lila_app.errors import Cancelled, LilaError
from lila_app.tui.exchange import Kind
from lila_app.tui.plain import one_line
from lila_app.tui.preparing import Bar
from lila_app.tui.session_model import TITLE_LENGTH, SessionModel
from lila_app.views import Progress
from lila_app.voice.model import Phase
from lila_app.voice.readable import plain
from lila_app.voice.view import status

if TYPE_CHECKING:
    from lila_app.voice.session import Options, Talk

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Voice:
    """How a spoken conversation is opened, and what would be fetched first (both may block)."""

    open: Callable[[Options, Progress], Talk]
    notice: Callable[[], str | None]


class SpokenTurn(Protocol):
    """One turn on the screen."""

    async def write(self, piece: str) -> None:
        """The next piece of the reply."""
        ...

    async def cut(self, heard: str) -> None:
        """The reply ends after what was heard of it, and is over."""
        ...

    async def finish(self, *, stopped: bool) -> None:
        """The turn is over."""
        ...


class TalkingView(Protocol):
    """The screen, as far as talking needs it."""

    async def begin_turn(self, text: str) -> SpokenTurn:
        """Show a new turn."""
        ...

    async def drop_turn(self, turn: SpokenTurn) -> None:
        """Take away a turn that is none."""
        ...

    async def tell(self, kind: Kind, text: str, hint: str = "") -> None:
        """Something to say in the transcript, outside any turn."""
        ...

    def refresh_status(self) -> None:
        """The state changed."""
        ...


class Talking:
    """One spoken conversation after the other; also the `View` of the voice room."""

    def __init__(
        self, voice: Voice | None, model: SessionModel, screen: TalkingView, bar: Bar
    ) -> None:
        self._voice = voice
        self._model = model
        self._screen = screen
        self._bar = bar
        self._talk: Talk | None = None
        self._stop = threading.Event()
        self._told: asyncio.Queue[Callable[[], _Work]] = asyncio.Queue()
        self._turn: tuple[int, SpokenTurn] | None = None
        self._ends_with = ""
        self.active = False
        """Whether LILA listens, or is about to."""
        self.speaking = False
        """Whether there is a sound to silence."""

    async def run(self) -> None:
        """Talk until `stop`; whatever goes wrong is told, and the chat goes on."""
        if self.active:
            return
        if self._voice is None:
            await self._screen.tell("notice", "there is no voice here")
            return
        self.active = True
        self._stop.clear()
        try:
            await self._open(self._voice)
            await self._listen()
        except Cancelled as stop:
            await self._screen.tell("notice", str(stop), stop.hint)
        except LilaError as error:
            await self._screen.tell("error", str(error), error.hint or "the text chat goes on")
        finally:
            self._talk, self.active, self.speaking = None, False, False
            self._state("")

    def stop(self) -> None:
        """Listen no more; also ends the fetching of a recogniser."""
        self._stop.set()
        if self._talk is not None:
            self._talk.press("quit")

    def silence(self) -> None:
        """End what LILA says."""
        if self._talk is not None:
            self._talk.press("stop")

    def mute(self) -> None:
        """Shut the microphone, or open it again."""
        if self._talk is not None:
            self._talk.press("mute")

    # -- the view of the voice room -------------------------------------------------------

    def phase(self, phase: Phase, muted: bool) -> None:
        """Show it in the status line."""
        self.speaking = phase in (Phase.SPEAKING, Phase.HELD, Phase.THINKING, Phase.UNHEARD)
        self._state(status(phase, muted))

    def heard(self, turn: int, text: str, final: bool) -> None:
        """Begin a turn once its words are certain; take it away where they are not after all."""
        self._later(lambda: self._take_back(turn))
        if final and text:
            self._later(lambda: self._begin(turn, text))

    def said(self, turn: int, text: str) -> None:
        """Write a piece of the reply as it is spoken."""
        self._later(lambda: self._write(turn, text))

    def unspoken(self, turn: int, text: str) -> None:
        """Say it below the conversation: what stays of the turn is what was heard."""
        del turn
        self.told(plain(text), "")

    def interrupted(self, turn: int, heard: str) -> None:
        """Keep what was heard alone."""
        self._later(lambda: self._cut(turn, heard))

    def answered(self, turn: int) -> None:
        """Finish the turn."""
        self._later(lambda: self._finish(turn))

    def told(self, text: str, hint: str) -> None:
        """Say it below the conversation."""
        self._later(lambda: self._screen.tell("notice", text, hint))

    def level(self, level: int) -> None:
        """Not shown: the status line has no room for a meter."""

    # -- how it goes ----------------------------------------------------------------------

    async def _open(self, voice: Voice) -> None:
        from lila_app.voice.session import Options

        self._state("loading")
        notice = await asyncio.to_thread(voice.notice)
        if notice:
            self._bar.begin(notice)
        options = Options(session=self._model.session_id, model=self._model.chosen)
        try:
            self._talk = await asyncio.to_thread(voice.open, options, self._advance)
        finally:
            self._bar.end()
        if self._stop.is_set():
            self._talk.close()
            raise Cancelled("stopped before LILA listened")

    def _advance(self, done: int, total: int, label: str) -> None:
        if self._stop.is_set():
            raise Cancelled("the fetch was stopped", hint="it goes on where it was the next time")
        self._bar.advance(done, total, label)

    async def _listen(self) -> None:
        assert self._talk is not None
        following = asyncio.create_task(self._follow())
        try:
            await self._talk.run(self)
            await self._told.join()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            self._told = asyncio.Queue()
            self._turn = None

    async def _follow(self) -> None:
        while True:
            work = await self._told.get()
            try:
                await work()
            except Exception as error:  # one line that is not shown must not keep the rest
                _log.error("not shown: %s", type(error).__name__, exc_info=error)
            finally:
                self._told.task_done()

    def _later(self, work: Callable[[], _Work]) -> None:
        self._told.put_nowait(work)

    async def _take_back(self, turn: int) -> None:
        shown = self._shown(turn)
        if shown is not None:
            self._turn = None
            await self._screen.drop_turn(shown)

    async def _begin(self, turn: int, text: str) -> None:
        self._adopt()
        self._model.title = self._model.title or one_line(text, TITLE_LENGTH)
        self._turn = (turn, await self._screen.begin_turn(text))
        self._ends_with = ""

    async def _write(self, turn: int, text: str) -> None:
        shown = self._shown(turn)
        if shown is None or not text:
            return
        apart = self._ends_with and not self._ends_with.isspace() and not text[0].isspace()
        self._ends_with = text[-1]
        await shown.write(f" {text}" if apart else text)

    async def _cut(self, turn: int, heard: str) -> None:
        shown = self._shown(turn)
        if shown is not None:
            await shown.cut(heard)
            await self._over()

    async def _finish(self, turn: int) -> None:
        shown = self._shown(turn)
        if shown is not None:
            await shown.finish(stopped=False)
            await self._over()

    async def _over(self) -> None:
        self._turn = None
        self._adopt()
        await self._model.refresh_record()
        self._screen.refresh_status()

    def _shown(self, turn: int) -> SpokenTurn | None:
        return self._turn[1] if self._turn is not None and self._turn[0] == turn else None

    def _adopt(self) -> None:
        if self._talk is not None and self._talk.session is not None:
            self._model.spoke_in(self._talk.session)

    def _state(self, voice: str) -> None:
        self._model.status = replace(self._model.status, voice=voice)
        self._screen.refresh_status()


if TYPE_CHECKING:
    from collections.abc import Coroutine

    _Work = Coroutine[None, None, None]

"""The loop with a real clock: a microphone, a speaker, threads that work, one place that decides.

Everything that happens is handed to the machine on the event loop's thread, in the order in which
it happened; what the machine says is begun there and done elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from lila_app.voice.away import Away
from lila_app.voice.driving import Driver, Showing
from lila_app.voice.ear import Ear, kept_ms
from lila_app.voice.hands import Hands, read
from lila_app.voice.machine import Rules, start
from lila_app.voice.model import (
    FRAME_MS,
    Action,
    Audible,
    Back,
    Event,
    Frame,
    Key,
    Lost,
    Phase,
    Pressed,
    Recognise,
    Show,
    Silent,
    Tell,
    Tick,
)
from lila_app.voice.mouth import Utterance
from lila_app.voice.parts import Parts, explained
from lila_app.voice.playback import Begun, Playback
from lila_app.voice.tracing import Tracing
from lila_app.voice.view import View
from lila_app.voice.working import Listener, Maker, Reader, Talker

if TYPE_CHECKING:
    from lila_app.voice.ports import SoundSystem, Speaker

_log = logging.getLogger(__name__)

_LEVEL_FRAMES = 3
"""Frames the loudness is told of at once: ten times a second."""

_ENDING_SECONDS = 2.0

_NO_VOICE = "LILA's voice makes no sound"
_NO_ACTIVITY = (
    "LILA cannot tell whether anybody speaks: its model does not answer; if it stays so, end "
    "talking and begin again"
)


def milliseconds() -> int:
    """The clock of a real loop; only differences mean something."""
    return time.monotonic_ns() // 1_000_000


class Loop:
    """One spoken conversation with a sound system; `run` it once."""

    def __init__(
        self,
        parts: Parts,
        sound: SoundSystem,
        view: View,
        *,
        clock: Callable[[], int] = milliseconds,
    ) -> None:
        self._parts = parts
        self._sound = sound
        self._view = view
        self._clock = clock
        self._pressed: list[Key] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()
        self._framed = False
        self._levels: list[int] = []
        self._speaker: Speaker | None = None
        self.stuck = False
        """Whether a model hung at the end: it cannot be used again."""
        policy = parts.policy
        state = start(Rules(policy, push_to_talk=parts.push_to_talk), duplex=False)
        self._showing = Showing(view, state.phase)
        self._away = Away(self._take, self._showing.tell)
        self.playback = Playback(
            parts.synthesiser.rate,
            fade_ms=policy.interruption.fade,
            clock=clock,
            notice=self._noticed,
        )
        self._ear = Ear(kept_ms(policy))
        self._tracing = Tracing(
            policy.activity.ends, parts.keep, self._ear.at, lambda: self.playback.starved_ms
        )
        self._driver = Driver(state, self, self._showing, self._tracing)

    def press(self, key: Key) -> None:
        """The person pressed a key; from any thread. Before `run` it is kept, after it nothing."""
        if self._loop is None:
            self._pressed.append(key)
        else:
            self._post(lambda: self._take(Pressed(key)))

    async def run(self) -> None:
        """Until the key `quit`. Raises what opening the sound system raises.

        Cancelled, it ends as by the key.
        """
        self._loop = asyncio.get_running_loop()
        parts = self._parts
        self._listener = Listener(parts.activity, self._ear, self._clock, self._found, self._warn)
        self._reader = Reader(self._read, self._send)
        self._maker = Maker(
            parts.synthesiser, self.playback, self._clock, self._sounded, self._warn
        )
        self._talker = Talker(parts.conversation, self._take, self._showing.tell)
        workers = self._reader, self._talker, self._maker
        self._hands = Hands(parts, self.playback, workers, self._send, self._showing.tell)
        ticking = self._loop.create_task(self._tick())
        try:
            await self._open()
            for key in self._pressed:
                self._take(Pressed(key))
            await self._over.wait()
        finally:
            await self._end(ticking)

    async def _open(self) -> None:
        """Open the speaker, then the microphone: nobody is heard who could not be answered."""
        sound, rate = self._sound, self.playback.rate
        self._speaker = await asyncio.to_thread(sound.speaker, self.playback.pull, rate, self._news)
        self.playback.latency_ms = self._speaker.latency_ms
        await asyncio.to_thread(sound.microphone, self._listener.heard, self._news)
        self._take(Back("microphone", sound.duplex()))
        self._view.phase(self._showing.phase, self._showing.muted)

    async def _end(self, ticking: asyncio.Task[None]) -> None:
        self._take(Pressed("quit"))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), _ENDING_SECONDS)
        ticking.cancel()
        self._tracing.end(self._clock())
        await self._talker.close()
        await asyncio.to_thread(self._close)
        if self._listener.lost:
            _log.info("%d frames came while too many waited", self._listener.lost)

    def _close(self) -> None:
        self._sound.close()
        ended = [each.close() for each in (self._listener, self._maker, self._reader)]
        self.stuck = not all(ended)

    # -- what the machine says ---------------------------------------------------------------------

    def do(self, action: Action, now: int) -> None:
        """Begin what an action says; what comes of it comes as events."""
        if isinstance(action, Show):
            self._listener.deaf = action.muted
            if action.phase is Phase.ENDED:
                self._over.set()
        self._hands.do(action, now)

    # -- what happens, on any thread ---------------------------------------------------------------

    def _post(self, act: Callable[[], None]) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the event loop is closed: nothing matters now
            self._loop.call_soon_threadsafe(act)

    def _send(self, event: Event) -> None:
        self._post(lambda: self._take(event))

    def _warn(self, message: str, hint: str) -> None:
        self._post(lambda: self._showing.tell(message, hint))

    def _news(self, news: Lost | Back | Tell) -> None:
        self._post(lambda: self._changed(news))

    def _found(self, number: int, speech: int, level: int) -> None:
        self._post(lambda: self._frame(number, speech, level))

    def _noticed(self, event: Audible | Begun | Silent, at: int) -> None:
        def take() -> None:
            if isinstance(event, Begun):
                self._showing.said(event)
            else:
                self._take(event)

        def wait() -> None:
            assert self._loop is not None
            self._loop.call_later(max(0, at - self._clock()) / 1_000, take)

        self._post(wait)

    def _sounded(self, utterance: Utterance) -> None:
        piece, now = utterance.piece, self._clock()
        self._post(lambda: self._tracing.sounded(piece.turn, piece.revision, now))

    def _read(self, action: Recognise) -> Event:
        return read(action, self._parts, self._ear, self.playback, self._warn)

    # -- what happens, on the loop's thread --------------------------------------------------------

    def _take(self, event: Event) -> None:
        try:
            self._driver.take(event, self._clock())
        except Exception as error:
            self._showing.tell(*explained("deciding what to do", error))

    def _changed(self, news: Lost | Back | Tell) -> None:
        if isinstance(news, Tell):
            self._showing.tell(news.text, news.hint)
            return
        if isinstance(news, Lost):
            self._away.lost("card", news)
            return
        if news.part == "microphone":
            self._listener.interrupted()
        elif self._speaker is not None:
            self.playback.latency_ms = self._speaker.latency_ms
        self._away.back("card", news)

    def _watch(self) -> None:
        """A model that hangs cannot be ended: its part is of no use until it has done what it was
        at. Replies are shown then, and nobody is heard."""
        policy = self._parts.policy
        self._watched(
            Lost("speaker", _NO_VOICE, gone=False),
            hangs=self._maker.waits_ms >= policy.interruption.voice,
        )
        self._watched(
            Lost("microphone", _NO_ACTIVITY, gone=False),
            hangs=self._listener.waits_ms >= policy.activity.hangs,
        )

    def _watched(self, news: Lost, *, hangs: bool) -> None:
        if hangs == self._away.known(news.part, "model"):
            return
        if hangs:
            self._away.lost("model", news)
        else:
            self._away.back("model", Back(news.part, self._sound.duplex()))

    def _frame(self, number: int, speech: int, level: int) -> None:
        self._framed = True
        self._take(Frame(number, speech))
        self._levels.append(level)
        if len(self._levels) >= _LEVEL_FRAMES:
            self._view.level(max(self._levels))
            self._levels.clear()

    async def _tick(self) -> None:
        """Let time pass for the machine where no frame does."""
        while True:
            await asyncio.sleep(FRAME_MS / 1_000)
            self._watch()
            framed, self._framed = self._framed, False
            if not framed:
                self._take(Tick())

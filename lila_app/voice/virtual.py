"""Workers of a clock that is not the wall's: each takes what is declared, not what it takes."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass

from lila_app.voice.model import Ask, Cut, Drop, Event, Recognise, ReplyEnded, ReplyText, Sound
from lila_app.voice.mouth import AHEAD_MS, Utterance
from lila_app.voice.parts import Tell, explained, unanswered
from lila_app.voice.playback import Playback
from lila_app.voice.ports import Conversation, Synthesiser

Act = Callable[[], Awaitable[None] | None]
Pace = Callable[[int, int], int | None]
"""The ms before a piece (from 0) of a turn's reply comes; None: it never comes."""

_LOOK_MS = 100
"""Between two looks at whether the speech made ahead has been heard."""


class Timeline:
    """What happens when: by time, and in the order it was entered where the time is the same."""

    def __init__(self) -> None:
        self.now = 0
        self._due: list[tuple[int, int, Act]] = []
        self._count = 0

    def at(self, when: int, act: Act) -> None:
        """Have something happen at a time; a time that is over is now."""
        self._count += 1
        heapq.heappush(self._due, (max(when, self.now), self._count, act))

    async def step(self) -> bool:
        """Let the next thing happen; False says that nothing more will."""
        if not self._due:
            return False
        self.now, _, act = heapq.heappop(self._due)
        if (waiting := act()) is not None:
            await waiting
        return True


class Reader:
    """Reads one turn at a time; what comes while it reads waits, and only the newest does."""

    def __init__(
        self,
        time: Timeline,
        cost: int,
        read: Callable[[Recognise], Event],
        done: Callable[[Event], None],
    ) -> None:
        self._time = time
        self._cost = cost
        self._read = read
        self._done = done
        self._busy = False
        self._next: Recognise | None = None

    def read(self, action: Recognise) -> None:
        """Have a turn read."""
        if self._busy:
            self._next = action
            return
        self._busy = True
        event = self._read(action)

        def finished() -> None:
            self._busy = False
            following, self._next = self._next, None
            if following is not None:
                self.read(following)
            self._done(event)

        self._time.at(self._time.now + self._cost, finished)


@dataclass(slots=True)
class _Asking:
    turn: int
    revision: int
    pieces: AsyncGenerator[str, None]
    count: int = 0


class Talker:
    """Asks for replies and takes them piece by piece, each when its time has come."""

    def __init__(
        self,
        time: Timeline,
        conversation: Conversation,
        pace: Pace,
        take: Callable[[Event], None],
        tell: Tell,
    ) -> None:
        self._time = time
        self._conversation = conversation
        self._pace = pace
        self._take = take
        self._tell = tell
        self._asking: _Asking | None = None
        self._waiting: deque[Coroutine[None, None, None]] = deque()

    def ask(self, action: Ask) -> None:
        """Ask for a reply."""
        pieces = self._conversation.ask(action.turn, action.text)
        self._asking = _Asking(action.turn, action.revision, pieces)
        self._plan(self._asking)

    def end(self, action: Cut | Drop) -> None:
        """Stop asking for a reply."""
        asking = self._asking
        if asking and (asking.turn, asking.revision) == (action.turn, action.revision):
            self._asking = None
            self._waiting.append(asking.pieces.aclose())

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Do something with the conversation once the step is over, in the order it was said."""
        self._waiting.append(work)

    beside = later

    async def catch_up(self) -> None:
        """Do what waits; what goes wrong is told."""
        while self._waiting:
            try:
                await self._waiting.popleft()
            except Exception as error:
                self._tell(*explained("keeping the conversation", error))

    async def close(self) -> None:
        """Stop whatever is asked."""
        asking, self._asking = self._asking, None
        if asking:
            self.later(asking.pieces.aclose())
        await self.catch_up()

    def _plan(self, asking: _Asking) -> None:
        wait = self._pace(asking.turn, asking.count)
        if wait is not None:
            self._time.at(self._time.now + wait, lambda: self._piece(asking))

    async def _piece(self, asking: _Asking) -> None:
        if asking is not self._asking:
            return
        try:
            piece = await anext(asking.pieces)
        except StopAsyncIteration:
            self._asking = None
            self._take(ReplyEnded(asking.turn, asking.revision))
        except Exception as error:
            self._asking = None
            self._take(unanswered(asking.turn, asking.revision, error))
        else:
            asking.count += 1
            self._plan(asking)
            self._take(ReplyText(asking.turn, asking.revision, piece))


class Maker:
    """Makes the sound of one piece after the other, a stretch at a time."""

    def __init__(
        self,
        time: Timeline,
        cost: int,
        synthesiser: Synthesiser,
        playback: Playback,
        sounded: Callable[[Utterance], None],
        tell: Tell,
    ) -> None:
        self._time = time
        self._cost = cost
        self._synthesiser = synthesiser
        self._playback = playback
        self._sounded = sounded
        self._tell = tell
        self._waiting: deque[Utterance] = deque()
        self._making: tuple[Utterance, Iterator[Sound]] | None = None
        self._planned = False

    def say(self, utterance: Utterance) -> None:
        """Make the sound of a piece, after those before it."""
        self._waiting.append(utterance)
        self._plan(self._cost)

    def _plan(self, wait: int) -> None:
        if not self._planned:
            self._planned = True
            self._time.at(self._time.now + wait, self._go_on)

    def _go_on(self) -> None:
        self._planned = False
        if self._playback.ahead_ms > AHEAD_MS and not self._waiting_is_void():
            self._plan(_LOOK_MS)
            return
        if self._making is None:
            if not self._waiting:
                return
            utterance = self._waiting.popleft()
            self._making = utterance, self._synthesiser.synth(utterance.text, utterance.cancel)
        self._stretch(*self._making)
        if self._making or self._waiting:
            self._plan(self._cost)

    def _waiting_is_void(self) -> bool:
        making = self._making[0] if self._making else None
        utterance = making or (self._waiting[0] if self._waiting else None)
        return utterance is None or utterance.cancel.is_set()

    def _stretch(self, utterance: Utterance, sounds: Iterator[Sound]) -> None:
        try:
            sound = None if utterance.cancel.is_set() else next(sounds, None)
        except Exception as error:
            self._tell(*explained("speaking", error))
            sound = None
        if sound is None:
            self._playback.finish(utterance.piece)
            self._making = None
        elif self._playback.append(utterance.piece, sound):
            self._sounded(utterance)

"""Workers of the real clock: threads that listen, read and make speech, tasks that ask for replies.

Each hands what it found to a function that takes it on the loop's thread. What goes wrong in one is
told and ends the piece of work, never the worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing
from queue import Empty, Full, Queue, SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING

from lila_app.voice.ear import Ear
from lila_app.voice.model import Ask, Cut, Drop, Event, Recognise, ReplyEnded, ReplyText, Sound
from lila_app.voice.mouth import AHEAD_MS, Utterance
from lila_app.voice.parts import Tell, explained, unanswered
from lila_app.voice.playback import Playback
from lila_app.voice.ports import Activity, Conversation, Synthesiser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_WAITING_FRAMES = 64
"""Two seconds of frames: a listener that is further behind would answer a pause of long ago."""

_LOOK_SECONDS = 0.05
_CLOSING_SECONDS = 5.0


class Listener:
    """Finds out of each frame how likely it is speech, and keeps it."""

    def __init__(
        self,
        activity: Activity,
        ear: Ear,
        clock: Callable[[], int],
        found: Callable[[int, int, int], None],
        tell: Tell,
    ) -> None:
        """`found` takes a frame's number, how likely it is speech and how loud it is (per mille).

        Both functions are called on the listener's thread.
        """
        self.lost = 0
        """Frames that came while too many waited."""
        self.deaf = False
        """Frames are thrown away: the microphone is muted."""
        self._activity = activity
        self._ear = ear
        self._clock = clock
        self._found = found
        self._tell = tell
        self._fresh = False
        self._since: int | None = None
        self._waiting: Queue[tuple[int, Samples, int] | None] = Queue(_WAITING_FRAMES)
        self._thread = Thread(target=self._run, name="lila-listening", daemon=True)
        self._thread.start()

    def heard(self, number: int, samples: Samples) -> None:
        """Take a frame; the oldest that waits gives way where there are too many."""
        if self.deaf:
            self._fresh = True
            return
        while True:
            try:
                self._waiting.put_nowait((number, samples, self._clock()))
                return
            except Full:
                self.lost += 1
                self._fresh = True
                self._discard()

    def interrupted(self) -> None:
        """The next frame does not follow on the last."""
        self._fresh = True

    @property
    def waits_ms(self) -> int:
        """How long the model has been weighing one frame by now."""
        since = self._since
        return 0 if since is None else self._clock() - since

    def close(self) -> bool:
        """End the thread; whether it ended, and does not hang in its model."""
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except Full:
                self._discard()
        return _ended(self._thread)

    def _discard(self) -> None:
        try:
            self._waiting.get_nowait()
        except Empty:
            return

    def _run(self) -> None:
        while (frame := self._waiting.get()) is not None:
            if self.deaf:
                continue
            number, samples, at = frame
            self._ear.add(number, samples, at)
            self._found(number, self._speech(samples), loudness(samples))

    def _speech(self, samples: Samples) -> int:
        self._since = self._clock()
        try:
            if self._fresh:
                self._fresh = False
                self._activity.reset()
            return self._activity.speech(samples)
        except Exception as error:
            self._fresh = True
            self._tell(*explained("listening", error))
            return 0
        finally:
            self._since = None


def _ended(thread: Thread) -> bool:
    thread.join(_CLOSING_SECONDS)
    return not thread.is_alive()


def loudness(samples: Samples) -> int:
    """The root mean square, per mille of the loudest there is."""
    import numpy as np

    return round(float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) * 1_000 / 32_768)


class Reader:
    """Reads one turn at a time; what comes while it reads waits, and only the newest does."""

    def __init__(self, read: Callable[[Recognise], Event], done: Callable[[Event], None]) -> None:
        """`read` is called on the reader's thread and raises nothing, and so is `done`."""
        self._read = read
        self._done = done
        self._next: Recognise | None = None
        self._over = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="lila-reading", daemon=True)
        self._thread.start()

    def read(self, action: Recognise) -> None:
        """Have a turn read."""
        with self._changed:
            self._next = action
            self._changed.notify()

    def close(self) -> bool:
        """End the thread, and whether it did; a reading under way is waited for, but not for ever:
        it cannot be ended."""
        with self._changed:
            self._over = True
            self._changed.notify()
        return _ended(self._thread)

    def _run(self) -> None:
        while (action := self._wait()) is not None:
            self._done(self._read(action))

    def _wait(self) -> Recognise | None:
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._next is not None)
            action, self._next = self._next, None
            return None if self._over else action


class Maker:
    """Makes the sound of one piece after the other."""

    def __init__(
        self,
        synthesiser: Synthesiser,
        playback: Playback,
        clock: Callable[[], int],
        sounded: Callable[[Utterance], None],
        tell: Tell,
    ) -> None:
        """`sounded` is told of each piece's first sound, `tell` of what goes wrong.

        Both are called on the maker's thread.
        """
        self._synthesiser = synthesiser
        self._playback = playback
        self._clock = clock
        self._sounded = sounded
        self._tell = tell
        self._since: int | None = None
        self._waiting: SimpleQueue[Utterance | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="lila-speaking", daemon=True)
        self._thread.start()

    def say(self, utterance: Utterance) -> None:
        """Make the sound of a piece, after those before it."""
        self._waiting.put(utterance)

    @property
    def waits_ms(self) -> int:
        """How long the synthesiser has been making the next stretch of sound by now."""
        since = self._since
        return 0 if since is None else self._clock() - since

    def close(self) -> bool:
        """End the thread, after what was begun, and whether it did; whoever closes it has cancelled
        that."""
        self._waiting.put(None)
        return _ended(self._thread)

    def _run(self) -> None:
        while (utterance := self._waiting.get()) is not None:
            try:
                self._make(utterance)
            except Exception as error:
                self._tell(*explained("speaking", error))
            finally:
                self._playback.finish(utterance.piece)

    def _make(self, utterance: Utterance) -> None:
        cancel, first = utterance.cancel, True
        while self._playback.ahead_ms > AHEAD_MS and not cancel.wait(_LOOK_SECONDS):
            pass
        if cancel.is_set():
            return
        sounds = self._synthesiser.synth(utterance.text, cancel)
        while (sound := self._next(sounds)) is not None:
            if not self._playback.append(utterance.piece, sound):
                return
            if first:
                first = False
                self._sounded(utterance)

    def _next(self, sounds: Iterator[Sound]) -> Sound | None:
        self._since = self._clock()
        try:
            return next(sounds, None)
        finally:
            self._since = None


class Talker:
    """Asks for replies and tells the conversation what became of them, in order."""

    def __init__(self, conversation: Conversation, take: Callable[[Event], None], tell: Tell):
        self._conversation = conversation
        self._take = take
        self._tell = tell
        self._order = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: tuple[tuple[int, int], asyncio.Task[None]] | None = None

    def ask(self, action: Ask) -> None:
        """Ask for a reply, once what was to be done before it is done."""
        self._asking = (action.turn, action.revision), self._begin(self._ask(action))

    def end(self, action: Cut | Drop) -> None:
        """Stop asking for a reply."""
        if self._asking and self._asking[0] == (action.turn, action.revision):
            self._asking[1].cancel()
            self._asking = None

    def later(self, work: Coroutine[None, None, None]) -> None:
        """Do something with the conversation after what was begun before it has ended."""
        self._begin(self._in_order(work))

    def beside(self, work: Coroutine[None, None, None]) -> None:
        """Do something with the conversation while a reply may be written."""
        self._begin(self._told(work))

    async def close(self) -> None:
        """Stop what is asked and wait for the rest, but not for ever."""
        if self._asking:
            self._asking[1].cancel()
        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
            for task in left:
                task.cancel()

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _ask(self, action: Ask) -> None:
        turn, revision = action.turn, action.revision
        event: Event
        try:
            async with self._order, aclosing(self._conversation.ask(turn, action.text)) as pieces:
                async for piece in pieces:
                    self._take(ReplyText(turn, revision, piece))
            event = ReplyEnded(turn, revision)
        except Exception as error:
            event = unanswered(turn, revision, error)
        self._take(event)

    async def _in_order(self, work: Coroutine[None, None, None]) -> None:
        async with self._order:
            await self._told(work)

    async def _told(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except Exception as error:
            self._tell(*explained("keeping the conversation", error))

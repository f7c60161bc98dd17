"""Who may use the embedded model: voice, chat, somebody who speaks, background work, warming.

Two cores evaluate one prompt at a time well and two badly: a spoken question waited 7 to 14 s
behind a chat's prompt (measured 2026-11-30). So there is one holder at a time, and who comes with
a higher rank takes the model away from a lower one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import IntEnum

from lila_app.errors import UnavailableError


class Rank(IntEnum):
    """What the model is wanted for; the higher one goes first and takes it from the lower."""

    WARMING = 0
    BACKGROUND = 1
    LISTENING = 2
    """Reading what stands before the words of somebody who is speaking right now."""
    CHAT = 3
    VOICE = 4


class Hold:
    """The model is yours until you leave, or until `taken` turns true."""

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self._lock = threading.Lock()
        self._taken = False
        self._when_taken: Callable[[], object] | None = None

    @property
    def taken(self) -> bool:
        """Somebody of a higher rank took the model away."""
        return self._taken

    def when_taken(self, callback: Callable[[], object]) -> None:
        """Call `callback` (from any thread, once) when the model is taken away."""
        with self._lock:
            self._when_taken = callback
            already = self._taken
        if already:
            callback()

    def take(self) -> None:
        """Take the model away from this holder, who lets go as soon as it can."""
        with self._lock:
            if self._taken:
                return
            self._taken = True
            callback = self._when_taken
        if callback is not None:
            callback()


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    hold: Hold
    loop: asyncio.AbstractEventLoop
    granted: asyncio.Future[bool]


class Precedence:
    """Hands the model to one holder at a time; may be used from several threads and event loops.

    The warming at start runs in a thread with a loop of its own, so no asyncio lock will do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: Hold | None = None
        self._waiting: list[_Waiter] = []
        self._closed = False

    @asynccontextmanager
    async def hold(self, rank: Rank) -> AsyncGenerator[Hold]:
        """Wait for the model and keep it; `UnavailableError` once closed."""
        hold = await self._acquire(rank)
        try:
            yield hold
        finally:
            self._release(hold)

    def close(self) -> None:
        """Take the model from its holder and turn everybody else away."""
        with self._lock:
            self._closed = True
            holder, waiting, self._waiting = self._holder, self._waiting, []
        if holder is not None:
            holder.take()
        for waiter in waiting:
            _answer(waiter, granted=False)

    async def _acquire(self, rank: Rank) -> Hold:
        hold = Hold(rank)
        with self._lock:
            if self._closed:
                raise _closed()
            if self._holder is None:
                self._holder = hold
                return hold
            loop = asyncio.get_running_loop()
            waiter = _Waiter(hold, loop, loop.create_future())
            self._waiting.append(waiter)
            lower = self._holder if self._holder.rank < rank else None
        if lower is not None:
            lower.take()
        try:
            if not await waiter.granted:
                raise _closed()
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise
        return hold

    def _give_up(self, waiter: _Waiter) -> None:
        with self._lock:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                return
        self._release(waiter.hold)  # it was granted in the same moment

    def _release(self, hold: Hold) -> None:
        with self._lock:
            if self._holder is not hold:
                return
            self._holder = None
            while self._waiting:
                # max keeps the first of equals, so equals are served in the order they came
                chosen = max(self._waiting, key=lambda waiter: waiter.hold.rank)
                self._waiting.remove(chosen)
                if _answer(chosen, granted=True):
                    self._holder = chosen.hold
                    return


def _answer(waiter: _Waiter, *, granted: bool) -> bool:
    """Wake a waiter in its own loop; False where that loop is gone."""

    def wake() -> None:
        if not waiter.granted.done():
            waiter.granted.set_result(granted)

    try:
        waiter.loop.call_soon_threadsafe(wake)
    except RuntimeError:
        return False
    return True


def _closed() -> UnavailableError:
    return UnavailableError("the embedded model was closed", hint="start LILA again")

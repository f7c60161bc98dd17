"""Work on a file somebody else made, given up when it takes too long.

A hostile or broken file can keep a parser busy for hours, in pure Python. Such work is done in a
thread of its own, and where it is not back in time an exception is raised in that thread. That ends
anything that runs Python code; one that hangs inside a single call of C is left behind, and ends
with the process.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from time import monotonic
from types import CodeType
from typing import TypeVar

T = TypeVar("T")

_LOOK = 0.05
"""Seconds between two looks at whether to stop."""
_MOMENT = 0.001
"""Seconds until it is tried again to end work that cannot be ended just now."""
_GRACE = 2.0
"""Seconds in which the work has to end once it was told to."""


class OverdueError(Exception):
    """The work did not end in its time."""


class _Ended(BaseException):
    """Raised in the thread; no `except Exception` of a parser stops it."""


def within(seconds: float, work: Callable[[], T], stop: Callable[[], None]) -> T:
    """What `work` returns or raises, or `OverdueError` after so many seconds of wall time.

    `stop` is called meanwhile and may raise; then the work is ended as well.
    """
    returned: list[T] = []
    raised: list[Exception] = []

    def run() -> None:
        try:
            returned.append(work())
        except Exception as problem:
            raised.append(problem)
        except _Ended:
            pass

    thread = threading.Thread(target=run, name="lila-reading", daemon=True)
    thread.start()
    try:
        _await(thread, monotonic() + seconds, stop)
    finally:
        _end(thread)
    if raised:
        raise raised[0]
    if not returned:
        raise OverdueError
    return returned[0]


def _await(thread: threading.Thread, until: float, stop: Callable[[], None]) -> None:
    while thread.is_alive() and monotonic() < until:
        thread.join(_LOOK)
        stop()


def _end(thread: threading.Thread) -> None:
    start = monotonic()
    while thread.is_alive() and thread.ident is not None and monotonic() < start + _GRACE:
        # What is raised while an object is taken apart is printed and lost: such moments are let
        # pass, half of the time at most.
        if monotonic() < start + _GRACE / 2 and _taking_apart(thread.ident):
            thread.join(_MOMENT)
            continue
        # Again and again: a `finally` of the parser may have taken the place of the last one.
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_Ended)
        )
        thread.join(_LOOK)


def _taking_apart(ident: int) -> bool:
    """Whether a thread is in a finalizer, or in what the garbage collector calls."""
    frame = sys._current_frames().get(ident)  # pyright: ignore[reportPrivateUsage]  (documented)
    called = _called_by_the_collector()
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in called:
            return True
        frame = frame.f_back
    return False


def _called_by_the_collector() -> set[CodeType]:
    found = (getattr(called, "__code__", None) for called in gc.callbacks)
    return {code for code in found if isinstance(code, CodeType)}

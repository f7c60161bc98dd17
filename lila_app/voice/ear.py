"""The frames heard of late, by number, with when they came."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from lila_app.voice.model import FRAME, FRAME_MS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.policy import VoicePolicy

    Samples = NDArray[np.int16]


def kept_ms(policy: VoicePolicy) -> int:
    """How much is kept: the longest turn, with as much after it as its reading may come late by."""
    return policy.activity.before + policy.activity.longest + policy.endpoint.reading


class Ear:
    """A bounded memory of frames; thread-safe."""

    def __init__(self, keep_ms: int) -> None:
        self._most = keep_ms // FRAME_MS + 1
        self._frames: OrderedDict[int, tuple[int, Samples]] = OrderedDict()
        self._lock = Lock()

    def add(self, number: int, samples: Samples, at: int) -> None:
        """Keep a frame that was whole at a time of the loop's clock."""
        with self._lock:
            self._frames[number] = (at, samples)
            while len(self._frames) > self._most:
                self._frames.popitem(last=False)

    def at(self, number: int) -> int | None:
        """When a frame was whole, by the loop's clock; None where it is not kept."""
        with self._lock:
            frame = self._frames.get(number)
        return None if frame is None else frame[0]

    def between(self, first: int, end: int) -> Samples:
        """The frames from `first` up to, not with, `end`; silence where one is missing."""
        import numpy as np

        silence = np.zeros(FRAME, np.int16)
        with self._lock:
            found = [self._frames.get(number) for number in range(max(first, 0), end)]
        if not found:
            return silence[:0]
        return np.concatenate([silence if frame is None else frame[1] for frame in found])

    def span(self, first: int, end: int) -> tuple[int, int]:
        """When these frames began and ended, by the loop's clock; (0, 0) where none is kept."""
        with self._lock:
            times = [
                self._frames[number][0] for number in range(first, end) if number in self._frames
            ]
        return (times[0] - FRAME_MS, times[-1]) if times else (0, 0)

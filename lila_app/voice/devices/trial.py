"""Trying the sound: something spoken, and how loud what comes back in is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event as Flag
from typing import TYPE_CHECKING

from lila_app.errors import SoundError
from lila_app.voice.model import FRAME_MS, Back, Lost, Tell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.ports import SoundSystem, Synthesiser

_SECONDS = 3
_FULL = 32_768
"""The largest sample there is: 0 dB."""

_NOTHING = -96
"""Decibels of one step of a sample of 16 bits; digital silence is shown as this."""

_FAINT = -45
"""Loudest 32 ms, in decibels. Speech at a microphone lies between -35 and -10, the noise of a
quiet room below -50."""


@dataclass(frozen=True, slots=True)
class Level:
    """How loud it was, in whole decibels below the loudest there is.

    `decibels` is the loudest 32 ms, `peak` the largest sample; `clipped` says that samples were as
    large as they can be, so that it was louder than that.
    """

    decibels: int
    peak: int
    clipped: bool

    @property
    def silent(self) -> bool:
        """Whether it was nothing but zeros."""
        return self.peak <= _NOTHING

    @property
    def faint(self) -> bool:
        """Whether it was too little to be somebody speaking."""
        return self.decibels < _FAINT


def play(sound: SoundSystem, voice: Synthesiser, text: str) -> None:
    """Say a text; returns when it was heard. Raises `SoundError`."""
    import numpy as np

    samples = [piece.samples for piece in voice.synth(text, Flag())]
    rest = np.concatenate(samples) if samples else np.zeros(0, dtype=np.int16)
    seconds = len(rest) / voice.rate
    over = Flag()

    def pull(count: int) -> NDArray[np.int16]:
        nonlocal rest
        block, rest = rest[:count], rest[count:]
        if not len(rest):
            over.set()
        return np.pad(block, (0, count - len(block)))

    gone = _Gone()
    speaker = sound.speaker(pull, voice.rate, gone)
    try:
        # Twice its length: a speaker that takes that long takes nothing.
        if not over.wait(2 * seconds + 2) or gone.why:
            raise SoundError(gone.why or "the speaker takes no sound", hint="choose another one")
        Flag().wait(speaker.latency_ms / 1000)
    finally:
        speaker.close()


def listen(sound: SoundSystem, show: Callable[[int], None]) -> Level:
    """How loud three seconds at the microphone are; `show` is told each frame's decibels.

    Raises `SoundError`.
    """
    frames: SimpleQueue[NDArray[np.int16]] = SimpleQueue()
    gone = _Gone()
    microphone = sound.microphone(lambda _, frame: frames.put(frame), gone)
    measured: list[tuple[int, int]] = []
    try:
        for _ in range(_SECONDS * 1000 // FRAME_MS):
            frame = frames.get(timeout=2)
            measured.append(_measured(frame))
            show(measured[-1][0])
    except Empty:
        raise SoundError(
            gone.why or "the microphone gives no sound", hint="choose another one"
        ) from None
    finally:
        microphone.close()
    peak = max(peak for _, peak in measured)
    return Level(max(level for level, _ in measured), _decibels(peak), peak >= _FULL - 1)


def _measured(frame: NDArray[np.int16]) -> tuple[int, int]:
    """Decibels, and the largest sample."""
    import numpy as np

    values = np.abs(frame.astype(np.int32))
    return _decibels(math.sqrt(float(np.mean(values**2)))), int(values.max())


def _decibels(value: float) -> int:
    return max(_NOTHING, round(20 * math.log10(value / _FULL))) if value else _NOTHING


class _Gone:
    """Keeps why an end was lost."""

    def __init__(self) -> None:
        self.why = ""

    def __call__(self, event: Lost | Back | Tell) -> None:
        if isinstance(event, Lost):
            self.why = event.why

"""From a microphone's blocks to numbered frames of 512 samples at 16 kHz."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from lila_app.voice.model import FRAME, FRAME_MS, RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.devices.portaudio import Flags
    from lila_app.voice.ports import Heard

_log = logging.getLogger(__name__)

_MOST_BLOCKS = 188
"""Three seconds: who is that far behind gets the newest and loses the oldest."""


class Hearing:
    """Takes what a microphone delivers and hands it on, in a thread of its own, in frames.

    The audio system's own thread does no more than copy: whatever it waits for is lost sound.
    `at` is when it last came, by `clock` in seconds, `lost` how often sound was lost because nobody
    took it in time, `zeros` the milliseconds of nothing but zeros up to now; `sounded` says that
    there was something else once.
    """

    def __init__(self, heard: Heard, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.at = 0.0
        self.lost = 0
        self.zeros = 0
        self.sounded = False
        self._heard = heard
        self._frames = 0
        self._blocks: SimpleQueue[tuple[_Form, bytes] | None] = SimpleQueue()
        self._form = _Form(RATE, 1)
        self._rest: NDArray[np.int16] | None = None
        self._thread = Thread(target=self._pump, name="lila-microphone", daemon=True)
        self._thread.start()

    def opened(self, rate: int, channels: int) -> None:
        """Say what form the blocks to come have; called before the stream starts."""
        self._form = _Form(rate, channels)
        self.at = self._clock()
        self.zeros = 0

    def filled(self, data: object, frames: int, times: object, flags: Flags) -> None:
        """Take a block; called by the audio system."""
        del frames, times
        self.at = self._clock()
        self.lost += flags.input_overflow
        if self._blocks.qsize() >= _MOST_BLOCKS:
            with suppress(Empty):
                self._blocks.get_nowait()
                self.lost += 1
        self._blocks.put((self._form, bytes(data)))  # pyright: ignore[reportArgumentType]

    def drain(self) -> None:
        """Deliver what waits, then end the thread."""
        self._blocks.put(None)
        self._thread.join()

    def close(self) -> None:
        """End the thread; blocks that wait are not delivered any more."""
        with suppress(Empty):
            while True:
                self._blocks.get_nowait()
        self._blocks.put(None)
        self._thread.join(timeout=1)

    def _pump(self) -> None:
        while (block := self._blocks.get()) is not None:
            form, data = block
            try:
                self._deliver(form.samples(data))
            except Exception as error:
                _log.error("a frame was not taken: %s", type(error).__name__, exc_info=error)

    def _deliver(self, samples: NDArray[np.int16]) -> None:
        import numpy as np

        whole = samples if self._rest is None else np.concatenate((self._rest, samples))
        end = len(whole) - len(whole) % FRAME
        self._rest = whole[end:] if end < len(whole) else None
        for start in range(0, end, FRAME):
            frame = whole[start : start + FRAME]
            silent = not frame.any()
            self.zeros = self.zeros + FRAME_MS if silent else 0
            self.sounded = self.sounded or not silent
            number, self._frames = self._frames, self._frames + 1
            self._heard(number, frame)


class _Form:
    """What blocks of one stream are like; makes 16 kHz mono of them."""

    def __init__(self, rate: int, channels: int) -> None:
        self._channels = channels
        self._resampler = None
        if rate != RATE:
            from lila_app.voice.resample import Resampler

            self._resampler = Resampler(rate, RATE)

    def samples(self, data: bytes) -> NDArray[np.int16]:
        import numpy as np

        samples = np.frombuffer(data, dtype=np.int16)
        if self._channels > 1:
            mixed = samples.reshape(-1, self._channels).mean(axis=1)
            samples = mixed.astype(np.int16)
        return samples if self._resampler is None else self._resampler.feed(samples)

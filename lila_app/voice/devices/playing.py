"""From what is to be said to a speaker's blocks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.devices.portaudio import Flags
    from lila_app.voice.ports import Pull

_log = logging.getLogger(__name__)


class Playing:
    """Fills a speaker's blocks from a function that gives samples of `rate`.

    `at` is when it last did, by `clock` in seconds; `late` is how many blocks came after their
    time, each of them a gap to be heard.
    """

    def __init__(self, pull: Pull, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.at = 0.0
        self.late = 0
        self._pull = pull
        self._rate = rate
        self._channels = 1
        self._source: Pull = pull
        self._failed = False

    def opened(self, rate: int, channels: int) -> None:
        """Say what form the blocks to come have; called before the stream starts."""
        self.at = self._clock()
        self._channels = channels
        self._source = (
            self._pull if rate == self._rate else _resampled(self._pull, self._rate, rate)
        )

    def filled(self, data: object, frames: int, times: object, flags: Flags) -> None:
        """Fill a block; called by the audio system."""
        del times
        import numpy as np

        self.at = self._clock()
        self.late += flags.output_underflow
        out = np.frombuffer(cast("bytearray", data), dtype=np.int16).reshape(-1, self._channels)
        try:
            out[:] = self._source(frames)[:, None]
        except Exception as error:
            out[:] = 0
            if not self._failed:
                _log.error("nothing to play: %s", type(error).__name__, exc_info=error)
            self._failed = True


def _resampled(pull: Pull, given: int, wanted: int) -> Pull:
    """`pull` for a speaker that takes another rate."""
    import numpy as np

    from lila_app.voice.resample import Resampler

    resampler = Resampler(given, wanted)
    kept: NDArray[np.int16] = np.zeros(0, dtype=np.int16)

    def more(count: int) -> NDArray[np.int16]:
        nonlocal kept
        while len(kept) < count:
            short = max(1, (count - len(kept)) * given // wanted)
            kept = np.concatenate((kept, resampler.feed(pull(short))))
        block, kept = kept[:count], kept[count:]
        return block

    return more

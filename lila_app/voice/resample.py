"""Another sample rate for a stream of speech, block by block."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_ZEROS = 16
"""Zero crossings of the sinc on each side: what lies above the new rate's half is 60 dB down."""

_PASS = 0.9
"""The filter's edge, of half the lower rate; above it speech has little that is missed."""

_SHAPE = 6.0
"""Of the Kaiser window: side lobes 60 dB down (Oppenheim and Schafer, Discrete-Time Signal
Processing, the formula for its beta)."""


class Resampler:
    """Takes samples of 16 bits at one rate and gives them at another; keeps its place between.

    A windowed sinc for each of the positions that output samples have between input samples. How
    the input is cut into blocks makes no difference to what comes out. What comes out lags by half
    the filter, which is 1 ms at 16 kHz.
    """

    def __init__(self, source: int, target: int) -> None:
        """Both in samples a second."""
        import numpy as np

        shared = gcd(source, target)
        self._up, self._down = target // shared, source // shared
        lower = min(1.0, target / source)
        self._half = int(_ZEROS / lower) + 1
        self._table = _table(self._up, self._half, lower * _PASS)
        self._held = np.zeros(self._half, np.float32)
        self._first = -self._half
        """The place in the stream of the first sample that is held."""
        self._made = 0

    def feed(self, samples: Samples) -> Samples:
        """The output that these input samples complete."""
        import numpy as np

        if self._up == self._down:
            return samples
        self._held = np.concatenate((self._held, samples.astype(np.float32)))
        return self._make(self._first + len(self._held))

    def rest(self) -> Samples:
        """What is still due once no more input comes; all blocks together have the input's time."""
        import numpy as np

        if self._up == self._down:
            return np.zeros(0, np.int16)
        end = self._first + len(self._held)
        self._held = np.concatenate((self._held, np.zeros(self._half, np.float32)))
        return self._make(end + self._half)

    def _make(self, known: int) -> Samples:
        """All output whose filter ends before the place `known` of the stream."""
        import numpy as np

        last = (known - self._half) * self._up
        count = max(0, -(-last // self._down) - self._made)
        places = np.arange(self._made, self._made + count, dtype=np.int64) * self._down
        begins = places // self._up - self._half + 1 - self._first
        width = 2 * self._half
        if count:
            taken = np.lib.stride_tricks.sliding_window_view(self._held, width)[begins]
            made = np.einsum("ij,ij->i", taken, self._table[places % self._up])
        else:
            made = np.zeros(0, np.float32)
        self._made += count
        done = self._made * self._down // self._up - self._half + 1 - self._first
        self._held, self._first = self._held[done:], self._first + done
        return np.clip(np.rint(made), -32_768, 32_767).astype(np.int16)


def _table(up: int, half: int, edge: float) -> NDArray[np.float32]:
    """A row of weights for each position between two input samples; `edge` of half the rate."""
    import numpy as np

    offsets = np.arange(-half + 1, half + 1)[None, :] - (np.arange(up) / up)[:, None]
    window = np.i0(_SHAPE * np.sqrt(np.clip(1 - (offsets / half) ** 2, 0, None))) / np.i0(_SHAPE)
    weights = edge * np.sinc(edge * offsets) * window
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)

"""WAV files in and out, as the loop hears and speaks them."""

from __future__ import annotations

import wave
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from lila_app.errors import UsageError
from lila_app.paths import explained
from lila_app.voice.model import FRAME, RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]


def frames(path: Path) -> Iterator[Samples]:
    """A file's sound at 16 kHz in frames of 512 samples, the last one filled up with silence.

    Any rate, one or more channels (their mean), 8 to 32 bits. Read a second at a time, so that a
    long file takes no memory. Raises `UsageError` that names the file, before the first frame.
    """
    with _reading(path) as (file, kind):
        yield from _framed(_resampled(_parts(file, kind), file.getframerate()))


def check(path: Path) -> None:
    """Raise what `frames` would raise for a file that it cannot read."""
    with _reading(path):
        pass


@contextmanager
def _reading(path: Path) -> Generator[tuple[wave.Wave_read, str]]:
    try:
        file = wave.open(str(path), "rb")  # noqa: SIM115 (a refusal to open it has its own words)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}", hint="give the path of a WAV file") from None
    except (wave.Error, EOFError) as error:
        raise UsageError(
            f"{path} is no WAV file LILA can read ({error})",
            hint="convert it: `ffmpeg -i FILE -ac 1 -ar 16000 in.wav`",
        ) from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", hint="make the file readable for you"
        ) from error
    with file:
        yield file, f"<i{file.getsampwidth()}"


def _parts(file: wave.Wave_read, kind: str) -> Iterator[Samples]:
    import numpy as np

    width, channels = file.getsampwidth(), file.getnchannels()
    while data := file.readframes(file.getframerate()):
        whole = data[: len(data) // (width * channels) * width * channels]
        if width == 1:
            samples = (np.frombuffer(whole, np.uint8).astype(np.int32) - 128) << 8
        elif width == 3:
            triples = np.frombuffer(whole, np.uint8).reshape(-1, 3)
            samples = triples[:, 1].astype(np.int32) | (
                triples[:, 2].astype(np.int8).astype(np.int32) << 8
            )
        else:
            samples = np.frombuffer(whole, kind).astype(np.int32) >> (8 * (width - 2))
        yield samples.reshape(-1, channels).mean(axis=1).astype(np.int16)


def _resampled(parts: Iterator[Samples], rate: int) -> Iterator[Samples]:
    if rate == RATE:
        yield from parts
        return
    from lila_app.voice.resample import Resampler

    resampler = Resampler(rate, RATE)
    for part in parts:
        yield resampler.feed(part)
    yield resampler.rest()


def _framed(parts: Iterator[Samples]) -> Iterator[Samples]:
    import numpy as np

    held = np.zeros(0, np.int16)
    for part in parts:
        held = np.concatenate((held, part))
        whole = len(held) // FRAME * FRAME
        yield from held[:whole].reshape(-1, FRAME)
        held = held[whole:]
    if len(held):
        yield np.concatenate((held, np.zeros(FRAME - len(held), np.int16)))


class Writing:
    """A WAV file that is being written: one channel, 16 bits. A context manager."""

    def __init__(self, path: Path, rate: int) -> None:
        """Begin the file. Raises `StorageError` where it cannot be written."""
        self._path = path
        try:
            self._opened = path.open("wb")  # a Wave_write that cannot open its file complains late
        except OSError as error:
            raise explained(error, path) from error
        self._file = wave.open(self._opened, "wb")  # noqa: SIM115 (closed on leaving the writer)
        self._file.setnchannels(1)
        self._file.setsampwidth(2)
        self._file.setframerate(rate)

    def write(self, samples: Samples) -> None:
        """Add samples. Raises `StorageError`."""
        try:
            self._file.writeframesraw(samples.astype("<i2").tobytes())
        except OSError as error:
            raise explained(error, self._path) from error

    def __enter__(self) -> Writing:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with self._opened:
                self._file.close()
        except OSError as failed:
            raise explained(failed, self._path) from failed

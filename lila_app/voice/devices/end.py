"""One end of the sound system: a microphone or a speaker that is to be open."""

from __future__ import annotations

from threading import Event as Flag
from typing import TYPE_CHECKING

from lila_app.errors import SoundError
from lila_app.voice.devices.hearing import Hearing
from lila_app.voice.devices.playing import Playing
from lila_app.voice.model import RATE, Part

if TYPE_CHECKING:
    from lila_app.voice.devices.backend import Backend
    from lila_app.voice.devices.naming import Device
    from lila_app.voice.devices.portaudio import Stream
    from lila_app.voice.ports import News

_DEAD_S = 1.0
"""A block comes every 16 or 20 ms; none for so long, and none will come."""

_SILENT_MS = 3_000
"""A room is never exactly zero; a microphone that is switched off is."""

_BACK_OFF_S = (0.5, 1.0, 2.0, 4.0, 5.0)
"""Waits between attempts to open what was lost; the last one for all further."""

_HEARD_MS = 16
"""What a microphone gives at once, half a frame. Measured 2026-11-30 behind PulseAudio: a frame is
here 12 ms after its last sample, where blocks of a whole frame make it 25."""

_PLAYED_MS = 20
"""What a speaker takes at once. Two such blocks wait in it: with less a busy machine makes gaps."""


class End:
    """What is known of one end while it is wanted open; not safe to use from several threads."""

    def __init__(
        self, part: Part, wanted: str, worker: Hearing | Playing, rate: int, news: News
    ) -> None:
        self.part: Part = part
        self.wanted = wanted
        self.news = news
        self.device: Device | None = None
        self.retry_at = 0.0
        self._worker = worker
        self._rate = rate
        self._stream: Stream | None = None
        self._ended = Flag()
        self._tries = 0
        self.unmuted()
        self.silences = 0
        self.muted = False
        """Whether it was said to be muted by the system, and not yet to be open again."""

    @property
    def live(self) -> bool:
        """Whether its stream is open, as far as is known."""
        return self._stream is not None

    @property
    def name(self) -> str:
        """Its device as a person reads it."""
        return self.device.label if self.device else self.wanted or f"the system's {self.part}"

    @property
    def latency_ms(self) -> int:
        """What the device says; 0 while it is away."""
        return round(self._stream.latency * 1000) if self._stream else 0

    def open(self, backend: Backend, device: Device) -> None:
        """Open its stream on this device and start it. Raises `SoundError`."""
        ended = Flag()
        block_ms = _HEARD_MS if self.part == "microphone" else _PLAYED_MS
        opened = backend.open(device, self._rate, block_ms, self._worker.filled, ended.set)
        self._worker.opened(opened.rate, opened.channels)
        try:
            backend.start(opened)
        except SoundError:
            opened.stream.close()
            raise
        self._stream, self._ended, self.device = opened.stream, ended, device
        self._tries = 0
        self._silent = False
        self.silences = 0

    def shut(self) -> None:
        """Close its stream; it can be opened again."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def close(self) -> None:
        """Close it for good."""
        self.shut()
        if isinstance(self._worker, Hearing):
            self._worker.close()

    def dead(self, now: float) -> bool:
        """Whether its stream ended, or has given or taken nothing for too long."""
        return self._ended.is_set() or now - self._worker.at > _DEAD_S

    @property
    def sounded(self) -> bool:
        """Whether a microphone has given anything but zeros since LILA listens."""
        return isinstance(self._worker, Hearing) and self._worker.sounded

    @property
    def silent(self) -> bool:
        """Whether a microphone has given zeros for long."""
        return isinstance(self._worker, Hearing) and self._worker.zeros >= _SILENT_MS

    def unmuted(self) -> None:
        """It is not muted by the system any more; the next silence is a new one."""
        self.muted = self._silent = False

    def falls_silent(self) -> bool:
        """Whether a microphone is `silent` now; True once for each such time."""
        silent = self.silent
        newly = silent and not self._silent
        self._silent = silent
        self.silences += newly
        return newly

    def postpone(self, now: float) -> None:
        """Try again later, ever later."""
        self.retry_at = now + _BACK_OFF_S[min(self._tries, len(_BACK_OFF_S) - 1)]
        self._tries += 1


def microphone(hearing: Hearing, wanted: str, news: News) -> End:
    """The end somebody speaks into."""
    return End("microphone", wanted, hearing, RATE, news)


def speaker(playing: Playing, rate: int, wanted: str, news: News) -> End:
    """The end LILA speaks through; `rate` is that of what is played."""
    return End("speaker", wanted, playing, rate, news)

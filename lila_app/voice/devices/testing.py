"""A sound system that does as it is told: a `Backend` without a machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lila_app.errors import SoundError
from lila_app.voice.devices.backend import Opened
from lila_app.voice.devices.naming import Device
from lila_app.voice.devices.portaudio import Callback
from lila_app.voice.model import Part


@dataclass(frozen=True, slots=True)
class BlockFlags:
    """What came with a block."""

    input_overflow: bool = False
    output_underflow: bool = False


@dataclass(slots=True)
class FakeStream:
    """A stream whose blocks a test delivers."""

    device: Device
    filled: Callback
    ended: Callable[[], None]
    latency: float = 0.04
    started: bool = False
    closed: bool = False

    def start(self) -> None:
        """From here on blocks may come."""
        self.started = True

    def close(self) -> None:
        """PortAudio calls back when a stream ends, however it does."""
        self.closed = True
        self.ended()

    def deliver(self, data: bytes | bytearray, frames: int, flags: BlockFlags) -> None:
        """A block, to read or to fill."""
        self.filled(data, frames, None, flags)


class FakeMachine:
    """Devices that come and go.

    `there` is what there is, `rate` and `channels` what they take; `lasting` machines list what was
    there at the last `restart`. `places` says where the server moved a stream to.
    """

    def __init__(self, *there: Device, lasting: bool = False) -> None:
        self.there = there
        self.lasting = lasting
        self.streams: list[FakeStream] = []
        self.places: dict[Part, str] = {}
        self.restarts = 0
        self._listed = there

    def devices(self) -> tuple[Device, ...]:
        """What there is, or was."""
        found = self._listed if self.lasting else self.there
        if not found:
            raise SoundError("there is no sound card", hint="connect one")
        return found

    def fresh(self) -> tuple[Device, ...]:
        """What there is."""
        return self.there

    def open(
        self, device: Device, rate: int, block_ms: int, filled: Callback, ended: Callable[[], None]
    ) -> Opened:
        """A stream, where the device is there."""
        del block_ms
        if device not in self.there:
            raise SoundError(f"{device.name} cannot be opened", hint="choose another")
        self.places.pop(device.part, None)  # a new stream is where it was opened
        stream = FakeStream(device, filled, ended)
        self.streams.append(stream)
        return Opened(device, stream, rate, 1)

    def start(self, opened: Opened) -> None:
        """Start it."""
        opened.stream.start()

    def placed(self, part: Part) -> str:
        """Where a stream is."""
        return self.places.get(part, "")

    def restart(self) -> None:
        """Look anew, which nothing that is open survives."""
        assert all(stream.closed for stream in self.streams), "a stream is open"
        self.restarts += 1
        self._listed = self.there

    def mute(self, name: str) -> None:
        """Switch a device off."""
        self.there = tuple(
            replace(device, muted=True) if device.name == name else device for device in self.there
        )

    @property
    def open_streams(self) -> list[FakeStream]:
        """What is not closed."""
        return [stream for stream in self.streams if not stream.closed]

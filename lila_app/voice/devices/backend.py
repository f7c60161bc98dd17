"""What the card needs of the machine: the devices there are, and one of them open."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from lila_app.errors import SoundError
from lila_app.voice.devices import looking, portaudio, pulse
from lila_app.voice.devices.naming import Device
from lila_app.voice.devices.portaudio import Callback, Stream
from lila_app.voice.model import Part

_CARD_S = 0.064
"""Seconds: two frames, which even a busy machine takes in time."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream that was opened and not started, in the form the device took."""

    device: Device
    stream: Stream
    rate: int
    channels: int


class Backend(Protocol):
    """The machine's sound. Everything raises `SoundError`."""

    @property
    def lasting(self) -> bool:
        """Whether the list of devices stays as it was until `restart`."""
        ...

    def devices(self) -> tuple[Device, ...]:
        """All microphones and speakers."""
        ...

    def open(
        self, device: Device, rate: int, block_ms: int, filled: Callback, ended: Callable[[], None]
    ) -> Opened:
        """Open a device, at this rate and with one channel where it takes that."""
        ...

    def start(self, opened: Opened) -> None:
        """Have its callback called."""
        ...

    def placed(self, part: Part) -> str:
        """The name of the device our stream is on; "" where that cannot be told."""
        ...

    def restart(self) -> None:
        """Look for devices anew. Every stream must be closed before."""
        ...

    def fresh(self) -> tuple[Device, ...]:
        """All devices as they are now, whatever is open; for a list that is `lasting`."""
        ...


class Machine:
    """The real one: PortAudio, and the sound server where there is one."""

    def __init__(self) -> None:
        self._portaudio = portaudio.library()
        # Once a server, always a server: while it is started anew, its cards are not ours to take.
        self._served = pulse.serves()

    @property
    def lasting(self) -> bool:
        """Whether the list of devices stays as it was until `restart`."""
        return not self._served

    def devices(self) -> tuple[Device, ...]:
        """All microphones and speakers, of the server or else of PortAudio itself."""
        found = self._by_server() if self._served else self._by_portaudio()
        if not found:
            raise portaudio.nothing_found()
        return found

    def open(
        self, device: Device, rate: int, block_ms: int, filled: Callback, ended: Callable[[], None]
    ) -> Opened:
        """Open a device, at this rate and with one channel where it takes that."""
        library = self._portaudio
        make = library.RawInputStream if device.part == "microphone" else library.RawOutputStream
        refusal: Exception | None = None
        for samples, channels in _forms(device, rate):
            try:
                with self._for(device):
                    stream = make(
                        samplerate=samples,
                        blocksize=samples * block_ms // 1000,
                        device=device.number,
                        channels=channels,
                        dtype="int16",
                        latency=self._latency(device.part),
                        callback=filled,
                        finished_callback=ended,
                    )
                return Opened(device, stream, samples, channels)
            except library.PortAudioError as error:
                refusal = refusal or error
        raise portaudio.explained(refusal or OSError(), device.part, device.label) from refusal

    def start(self, opened: Opened) -> None:
        """Have its callback called."""
        device = opened.device
        try:
            opened.stream.start()
        except self._portaudio.PortAudioError as error:
            raise portaudio.explained(error, device.part, device.label) from error

    def placed(self, part: Part) -> str:
        """The name of the device our stream is on; "" where that cannot be told."""
        return pulse.placed(part) if self._served else ""

    def restart(self) -> None:
        """Look for devices anew. Every stream must be closed before."""
        portaudio.restart(self._portaudio)

    def fresh(self) -> tuple[Device, ...]:
        """All devices as they are now, whatever is open: a process of its own lists them."""
        return looking.devices()

    def _latency(self, part: Part) -> float | Literal["low"]:
        """A server keeps what is heard until we come for it; a card overwrites it after this."""
        return _CARD_S if part == "microphone" and not self._served else "low"

    def _by_server(self) -> tuple[Device, ...]:
        rows = portaudio.listed(self._portaudio)
        numbers = {str(row["name"]): int(str(row["index"])) for row in rows}
        number = next((numbers[name] for name in pulse.PLUGIN if name in numbers), None)
        if number is None and rows:
            raise SoundError(
                "a sound server runs, and PortAudio has no way to it",
                hint="on Debian and Ubuntu: sudo apt install libasound2-plugins",
            )
        return pulse.devices(number) if number is not None else ()

    def _by_portaudio(self) -> tuple[Device, ...]:
        library = self._portaudio
        rows = portaudio.listed(library)
        if not rows:
            return ()
        systems = library.query_hostapis()
        # Windows lists each device once for every system of sound it ever had; the first is the
        # one that takes any rate.
        return tuple(
            _device(row, systems[0], part)
            for row in rows
            if row["hostapi"] == 0
            for part in _parts(row)
        )

    @contextmanager
    def _for(self, device: Device) -> Generator[None]:
        """The server's library reads from the environment which device a stream is opened for."""
        if not self._served:
            yield
            return
        variable = pulse.VARIABLE[device.part]
        before = os.environ.get(variable)
        os.environ[variable] = device.name
        try:
            yield
        finally:
            if before is None:
                del os.environ[variable]
            else:
                os.environ[variable] = before


def _forms(device: Device, rate: int) -> list[tuple[int, int]]:
    wished = [(rate, 1), (device.rate, 1), (rate, device.channels), (device.rate, device.channels)]
    return list(dict.fromkeys(wished))


_CHANNELS: dict[Part, str] = {
    "microphone": "max_input_channels",
    "speaker": "max_output_channels",
}
_DEFAULT: dict[Part, str] = {
    "microphone": "default_input_device",
    "speaker": "default_output_device",
}


def _parts(row: Mapping[str, object]) -> list[Part]:
    return [part for part, key in _CHANNELS.items() if row[key]]


def _device(row: Mapping[str, object], system: Mapping[str, object], part: Part) -> Device:
    name = str(row["name"])
    return Device(
        name=name,
        label=name,
        part=part,
        rate=int(float(str(row["default_samplerate"]))),
        channels=int(str(row[_CHANNELS[part]])),
        number=int(str(row["index"])),
        default=row["index"] == system[_DEFAULT[part]],
    )

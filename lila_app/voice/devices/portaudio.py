"""PortAudio as it is used here: its list, its streams, and its errors as sentences."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ctypes.util import find_library
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from lila_app.errors import SoundError
from lila_app.voice.model import Part


class Flags(Protocol):
    """What PortAudio says of a block."""

    @property
    def input_overflow(self) -> bool:
        """Sound was lost before it."""
        ...

    @property
    def output_underflow(self) -> bool:
        """Nothing was played before it, though something should have been."""
        ...


Callback = Callable[[object, int, object, Flags], None]
"""Takes a buffer (to read or to fill), its frames, PortAudio's times and its flags."""


class Stream(Protocol):
    """An open stream."""

    @property
    def latency(self) -> float:
        """Seconds."""
        ...

    def start(self) -> None:
        """Have its callback called."""
        ...

    def close(self) -> None:
        """Throw away what waits in it and end it."""
        ...


class OpenStream(Protocol):
    """Makes a stream; raises `PortAudioError`."""

    def __call__(
        self,
        *,
        samplerate: int,
        blocksize: int,
        device: int,
        channels: int,
        dtype: str,
        latency: float | str,
        callback: Callback,
        finished_callback: Callable[[], None],
    ) -> Stream:
        """Open it."""
        ...


class Library(Protocol):
    """The part of sounddevice that is used here."""

    RawInputStream: OpenStream
    RawOutputStream: OpenStream
    PortAudioError: type[Exception]

    def query_devices(self) -> Sequence[Mapping[str, object]]:
        """All devices, as they were when PortAudio was started."""
        ...

    def query_hostapis(self) -> Sequence[Mapping[str, object]]:
        """The systems of sound PortAudio knows here."""
        ...

    def _initialize(self) -> None: ...

    def _terminate(self) -> None: ...


def library() -> Library:
    """sounddevice, over PortAudio. Raises `SoundError` where PortAudio is missing."""
    try:
        found = import_module("sounddevice")
    except OSError as error:
        raise SoundError(
            "PortAudio, through which LILA hears and speaks, is missing",
            hint="on Debian and Ubuntu: sudo apt install libportaudio2",
        ) from error
    _quieten()
    return cast("Library", found)


def restart(portaudio: Library) -> None:
    """Have PortAudio look for devices anew: it does so when it starts, and never again.

    Every stream must be closed before. Raises `SoundError`.
    """
    # It may not be running: a start can fail while the sound server itself is starting.
    with suppress(portaudio.PortAudioError):
        portaudio._terminate()  # pyright: ignore[reportPrivateUsage] (PortAudio has no other way)
    try:
        portaudio._initialize()  # pyright: ignore[reportPrivateUsage]
    except portaudio.PortAudioError as error:
        raise SoundError(
            "the sound system cannot be started", hint="restart the sound server, or the machine"
        ) from error


def listed(portaudio: Library) -> Sequence[Mapping[str, object]]:
    """All devices, as they were when PortAudio was started; none where it could not be."""
    try:
        return portaudio.query_devices()
    except portaudio.PortAudioError:
        return ()


@cache
def _quieten() -> object:
    """Keep ALSA's remarks, "underrun occurred" and the like, off the terminal."""
    name = find_library("asound") if sys.platform == "linux" else None
    if name is None:
        return None
    handler = ctypes.CFUNCTYPE(
        None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p
    )(_ignored)
    ctypes.CDLL(name).snd_lib_error_set_handler(handler)
    return handler  # ALSA calls it for as long as the process lives


def _ignored(*_: object) -> None:
    """Nothing."""


_UNAVAILABLE = -9985
"""paDeviceUnavailable (portaudio.h)."""


def explained(error: Exception, part: Part, name: str) -> SoundError:
    """Why a device did not open, and what to do."""
    code = error.args[1] if len(error.args) > 1 else None
    if code == _UNAVAILABLE:
        return SoundError(
            f"the {part} {name!r} is in use by another program, or is gone",
            hint=f"close what uses it, or choose another {part} (`lila voice devices`)",
        )
    return SoundError(
        f"the {part} {name!r} cannot be opened",
        hint=f"choose another {part} (`lila voice devices`), or see whether other programs can use "
        "it",
    )


def nothing_found() -> SoundError:
    """Why PortAudio lists no device at all, and what to do."""
    if sys.platform == "linux":
        cards = list(Path("/dev/snd").glob("pcm*"))
        if cards and not any(os.access(card, os.R_OK | os.W_OK) for card in cards):
            return SoundError(
                "this user may not use the sound card",
                hint="sudo usermod -aG audio $USER, then log in again",
            )
        return SoundError(
            "there is no sound card, and no sound server runs",
            hint="connect one, or start the server: systemctl --user start pipewire-pulse "
            "(or pulseaudio)",
        )
    return SoundError(
        "there is no microphone and no speaker", hint="connect a headset, then try again"
    )

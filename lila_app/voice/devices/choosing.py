"""Which microphone and speaker are taken, and whether the one hears the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.errors import LilaError, SoundError
from lila_app.voice.devices.naming import Device, chosen

if TYPE_CHECKING:
    from lila_app.voice.devices.backend import Backend

_WITHOUT_ECHO = re.compile(r"echo[-_ ]?cancel", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """A microphone and a speaker, each None where it is not (yet) there."""

    microphone: Device | None
    speaker: Device | None

    def duplex(self, headphones: bool) -> bool:
        """Whether the microphone may stay open while the speaker plays.

        It may on headphones, and where the system takes the echo out of what is heard. PulseAudio
        does so only for what is played on the canceller's own speaker.
        """
        microphone, speaker = self.microphone, self.speaker
        if headphones or microphone is None:
            return headphones
        if microphone.canceller:
            return speaker is not None and speaker.canceller == microphone.canceller
        return bool(_WITHOUT_ECHO.search(f"{microphone.name} {microphone.label}"))


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is and what would be taken; `problems` says why, where nothing would."""

    devices: tuple[Device, ...]
    choice: Choice
    problems: tuple[LilaError, ...]


def survey(machine: Backend, microphone: str, speaker: str) -> Survey:
    """Look at the devices, with nothing opened. Raises `SoundError` where there are none."""
    devices = machine.devices()
    problems: list[LilaError] = []
    speaking = hearing = None
    try:
        speaking = chosen(devices, "speaker", speaker)
    except LilaError as error:
        problems.append(error)
    try:
        hearing = preferred_microphone(devices, microphone, speaking)
    except LilaError as error:
        problems.append(error)
    return Survey(devices, Choice(hearing, speaking), tuple(problems))


def preferred_speaker(devices: Sequence[Device], wanted: str) -> Device | None:
    """The speaker that would be taken; None where none would."""
    try:
        return chosen(devices, "speaker", wanted)
    except LilaError:
        return None


def preferred_microphone(devices: Sequence[Device], wanted: str, speaker: Device | None) -> Device:
    """The microphone to take: never one that hears nothing but LILA, unless it is asked for.

    Without a real microphone, a sound server offers what the speaker plays as if it were one.
    Raises as `chosen`.
    """
    device = chosen(devices, "microphone", wanted)
    if wanted or speaker is None or device.monitors != speaker.name:
        return device
    for other in devices:
        if other.part == "microphone" and not other.monitors:
            return other
    raise SoundError(
        "there is no microphone: the system's gives back what the speaker plays",
        hint="connect one, then try again; `lila voice devices` lists what there is",
    )

"""Microphones and speakers by name: numbers change with every plug that is pulled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from lila_app.errors import SoundError, UsageError
from lila_app.voice.model import Part


@dataclass(frozen=True, slots=True)
class Device:
    """A microphone or a speaker.

    `name` is the system's, `label` what a person reads; `rate` in samples a second. `number` is
    PortAudio's, good until it is started anew.
    """

    name: str
    label: str
    part: Part
    rate: int
    channels: int
    number: int
    default: bool = False
    monitors: str = ""
    """Of a microphone: the speaker whose sound it gives back, and nothing else."""
    canceller: str = ""
    """Whose echo is taken out: the same on the microphone and on the speaker to be played on."""
    muted: bool = False


def chosen(devices: Sequence[Device], part: Part, wanted: str) -> Device:
    """The device whose name or label contains `wanted`, whatever the case; "" is the system's.

    A name given whole comes before a part of one, and what gives back a speaker's sound comes
    last. Raises `UsageError` for a name nothing or several things bear, `SoundError` where there
    is none at all.
    """
    there = [device for device in devices if device.part == part]
    if not there:
        raise SoundError(f"there is no {part}", hint=f"connect a {part}, then try again")
    if not wanted:
        return next((device for device in there if device.default), there[0])
    text = wanted.casefold()
    whole = [d for d in there if text in (d.name.casefold(), d.label.casefold())]
    found = whole or [d for d in there if text in f"{d.name}\n{d.label}".casefold()]
    found = [device for device in found if not device.monitors] or found
    if len(found) == 1:
        return found[0]
    raise _several(part, wanted, found) if found else _unknown(part, wanted, there)


def _several(part: Part, wanted: str, found: Sequence[Device]) -> UsageError:
    listed = ", ".join(_shown(device) for device in found)
    return UsageError(
        f"more than one {part} is called {wanted!r}: {listed}",
        hint="give more of the name; `lila voice devices` lists them",
    )


def _unknown(part: Part, wanted: str, there: Sequence[Device]) -> UsageError:
    near = _near(wanted, there)
    named = f"did you mean {near!r}? " if near else ""
    return UsageError(
        f"no {part} is called {wanted!r}", hint=f"{named}`lila voice devices` lists them"
    )


def _near(wanted: str, there: Sequence[Device]) -> str:
    names = {d.label.casefold(): d.label for d in there} | {
        d.name.casefold(): d.name for d in there
    }
    words = {word: name for full, name in names.items() for word in full.split()}
    close = get_close_matches(wanted.casefold(), [*names, *words], 1)
    return (names | words)[close[0]] if close else ""


def _shown(device: Device) -> str:
    return device.label if device.label == device.name else f"{device.label} ({device.name})"

"""`lila voice devices` and `lila voice test`: the microphone and the speaker, before talking."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.opening import home
from lila_app.cli.output import answer, aside, document, note, table
from lila_app.errors import SoundError

if TYPE_CHECKING:
    from lila_app.settings import VoiceSettings
    from lila_app.voice.devices.choosing import Choice, Survey
    from lila_app.voice.devices.naming import Device
    from lila_app.voice.devices.trial import Level

_BAR = 30
"""Characters of the level meter."""

_FLOOR = -60
"""Decibels at the meter's empty end: a quiet room."""

_SAMPLE = {
    "en": "Hello. This is how I sound. Now say something to me.",
    "de": "Hallo. So klinge ich. Sag jetzt etwas zu mir.",
}


@click.command()
@options.as_json
def devices(as_json: bool) -> None:
    """List microphones and speakers; a part of a name chooses one.

    `microphone` and `speaker` under [voice] in settings.toml take a part of a name; left empty they
    are the system's.
    """
    from lila_app.voice.devices.backend import Machine
    from lila_app.voice.devices.choosing import survey

    chosen = _settings()
    found = survey(Machine(), chosen.microphone, chosen.speaker)
    duplex = found.choice.duplex(chosen.headphones)
    if as_json:
        document(
            devices=[_plain(device, found.choice) for device in found.devices],
            duplex=duplex,
            problems=[problem.message for problem in found.problems],
        )
        return
    _list(found)
    for problem in found.problems:
        note(f"{problem.message}; {problem.hint}")
    note(
        "LILA listens while it speaks: talk over it to interrupt"
        if duplex
        else "the microphone is shut while LILA speaks, or it would hear itself; on headphones, "
        "set `headphones = true` under [voice]"
    )


@click.command("test")
@options.as_json
def test_sound(as_json: bool) -> None:
    """Hear LILA speak, then speak for three seconds and see how loud you are."""
    from lila_app.tui.native_output import quiet_native_stderr
    from lila_app.voice.alone import alone

    # A LILA that listens would hear the sentence and what is said after it, and answer both.
    # PortAudio prints on stderr when a device goes away.
    with alone(home(), "lila voice test"), quiet_native_stderr():
        level = _try(as_json)
    if level.silent:
        raise SoundError(
            "the microphone gives nothing but silence",
            hint="look for a switch on it, and whether it is muted in the sound settings; choose "
            "another with `lila voice devices`",
        )


def _try(as_json: bool) -> Level:
    """Speak, listen, and say how loud it was."""
    from lila_app.voice.devices.card import SoundCard
    from lila_app.voice.devices.trial import listen, play
    from lila_app.voice.synth.choose import engine

    chosen = _settings()
    voice = engine(chosen)
    card = SoundCard(microphone=chosen.microphone, speaker=chosen.speaker)
    say = note if as_json else answer
    try:
        speaker = card.device("speaker").label
        say(f"speaker: {speaker}")
        play(card, voice, _SAMPLE.get(chosen.language, _SAMPLE["en"]))
        microphone = card.device("microphone").label
        say(f"microphone: {microphone}")
        note("speak now")
        level = listen(card, _draw if sys.stderr.isatty() else _ignore)
        if sys.stderr.isatty():
            aside("\n")
        say(f"level: {level.decibels} dB, loudest {level.peak} dB: {_verdict(level)}")
    finally:
        card.close()
        voice.close()
    if as_json:
        document(
            speaker=speaker,
            microphone=microphone,
            decibels=level.decibels,
            peak=level.peak,
            verdict=_verdict(level),
        )
    return level


def _settings() -> VoiceSettings:
    from lila_app import settings

    return settings.load(home()).voice


def _list(found: Survey) -> None:
    rows = [
        (
            "*" if device in (found.choice.microphone, found.choice.speaker) else "",
            device.part,
            device.label,
            device.name if device.name != device.label else "",
            _remarks(device),
        )
        for device in found.devices
    ]
    table(("", "what", "called", "name", ""), rows)


def _remarks(device: Device) -> str:
    remarks = [
        "the system's" if device.default else "",
        "muted" if device.muted else "",
        "without echo" if device.canceller and device.part == "microphone" else "",
        f"what {device.monitors} plays" if device.monitors else "",
    ]
    return ", ".join(remark for remark in remarks if remark)


def _plain(device: Device, choice: Choice) -> dict[str, object]:
    return {
        "what": device.part,
        "called": device.label,
        "name": device.name,
        "chosen": device in (choice.microphone, choice.speaker),
        "default": device.default,
        "muted": device.muted,
        "monitors": device.monitors,
        "rate": device.rate,
        "channels": device.channels,
    }


def _draw(decibels: int) -> None:
    full = max(0, min(_BAR, _BAR * (decibels - _FLOOR) // -_FLOOR))
    click.echo(f"\r[{'#' * full}{' ' * (_BAR - full)}]", nl=False, err=True)


def _ignore(decibels: int) -> None:
    del decibels


def _verdict(level: Level) -> str:
    if level.silent:
        return "nothing was heard"
    if level.clipped:
        return "too loud, turn the microphone down"
    if level.faint:
        return "hardly anything was heard; come nearer, or turn the microphone up"
    return "good"

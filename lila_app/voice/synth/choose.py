"""The synthesiser a person's settings ask for."""

from __future__ import annotations

import sys

from lila_app.errors import SoundError
from lila_app.settings import VoiceSettings
from lila_app.voice.ports import Synthesiser
from lila_app.voice.speakable import speakable


def engine(chosen: VoiceSettings) -> Synthesiser:
    """The engine of `[voice]`, ready to speak.

    Raises `SoundError` with the cure where it is not installed, `UsageError` for a voice that it
    does not have.
    """
    # Once in a process: the rules' patterns (10 ms), before anybody waits for a first word.
    speakable("", chosen.language)
    if chosen.engine == "piper":
        from lila_app.voice.synth.piper import Piper

        return Piper(chosen.voice, words_per_minute=chosen.words_per_minute)
    if chosen.engine == "pyttsx3":
        return _pyttsx(chosen)
    try:
        return _espeak(chosen)
    except SoundError:
        # On Linux pyttsx3 speaks through espeak-ng too.
        if chosen.engine == "espeak" or sys.platform not in ("darwin", "win32"):
            raise
    return _pyttsx(chosen)


def _espeak(chosen: VoiceSettings) -> Synthesiser:
    from lila_app.voice.synth.espeak import Espeak

    return Espeak(
        voice=chosen.voice, language=chosen.language, words_per_minute=chosen.words_per_minute
    )


def _pyttsx(chosen: VoiceSettings) -> Synthesiser:
    from lila_app.voice.synth.pyttsx import Pyttsx

    return Pyttsx(
        voice=chosen.voice, language=chosen.language, words_per_minute=chosen.words_per_minute
    )

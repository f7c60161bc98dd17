"""The synthesiser a person's settings ask for."""

from __future__ import annotations

from lila_app.settings import VoiceSettings
from lila_app.voice.ports import Synthesiser


def engine(chosen: VoiceSettings) -> Synthesiser:
    """The engine of `[voice]`, ready to speak.

    Raises `SoundError` with the cure where it is not installed, `UsageError` for a voice that it
    does not have.
    """
    from lila_app.voice.synth.espeak import Espeak

    return Espeak(
        voice=chosen.voice, language=chosen.language, words_per_minute=chosen.words_per_minute
    )

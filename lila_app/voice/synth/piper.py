"""Speech by piper, for a voice that sounds more like a person's; an extra of its own.

Slower to begin than espeak-ng (0.2 s to 1 s before a sentence is there, two cores) and it tells no
word times, so what was heard of an interrupted reply is right to about a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag
from typing import TYPE_CHECKING

from lila_app.errors import SoundError, UsageError
from lila_app.paths import expanded
from lila_app.voice.model import Sound
from lila_app.voice.synth.sentences import sentences, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_INSTALL = "pip install 'lila-assistant[piper]'"
_WHERE = (
    "`python -m piper.download_voices en_US-lessac-medium` fetches one; name its .onnx file as "
    "`voice` in [voice] of your settings"
)
_OWN_TEMPO = 175
"""Words a minute at which a voice speaks as it was trained to; others are scaled from there."""


class Piper:
    """The synthesiser `piper` of `[voice] engine`."""

    name = "piper"

    def __init__(self, voice: str, *, words_per_minute: int = _OWN_TEMPO) -> None:
        """Load a voice from its `.onnx` file; its `.onnx.json` lies beside it.

        Raises `SoundError` where piper is not installed or the file is no voice of it, `UsageError`
        where there is no such file.
        """
        path = _found(voice)
        try:
            from piper import PiperVoice, SynthesisConfig
        except ImportError as error:
            raise SoundError("piper is not installed", hint=_INSTALL) from error
        try:
            self._voice = PiperVoice.load(path)
        # onnxruntime raises classes of its own, which it does not export.
        except Exception as error:
            raise SoundError(f"{path} is no voice that piper can load", hint=_WHERE) from error
        scale = self._voice.config.length_scale * _OWN_TEMPO / words_per_minute
        self._config = SynthesisConfig(length_scale=scale)
        # The first run prepares the model, so it is not made while somebody waits.
        self._samples("a")

    @property
    def rate(self) -> int:
        """Samples a second: the voice's own, 16,000 or 22,050."""
        return self._voice.config.sample_rate

    def synth(self, text: str, cancel: Flag) -> Iterator[Sound]:
        """The sound of a text, sentence by sentence; a sentence that was begun is made whole."""
        at = 0
        for place, sentence in sentences(text):
            if cancel.is_set():
                return
            sound = timed(self._samples(sentence), sentence, place, at, self.rate)
            at += len(sound.samples) * 1000 // self.rate
            if cancel.is_set():
                return
            yield sound

    def close(self) -> None:
        """Nothing to let go of: the voice goes with this object."""

    def _samples(self, sentence: str) -> Samples:
        import numpy as np

        # Piper reads what stands in double brackets as phonemes.
        plain = sentence.replace("[[", "[ [")
        made = [chunk.audio_int16_array for chunk in self._voice.synthesize(plain, self._config)]
        return np.concatenate(made) if made else np.zeros(0, np.int16)


def _found(voice: str) -> Path:
    if not voice:
        raise UsageError("piper needs the file of a voice", hint=_WHERE)
    path = expanded(voice)
    for each in (path, path.with_name(path.name + ".json")):
        if not each.is_file():
            raise UsageError(f"there is no {each}, which piper needs to speak", hint=_WHERE)
    return path

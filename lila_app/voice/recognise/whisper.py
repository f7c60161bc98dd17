"""The recogniser: a turn is read once, fast, in a context of its own length; again when in doubt.

Whisper pads everything to 30 s. In a context of the turn's length and some more, it reads in a
fifth of the time and makes the same mistakes; too short, it goes in circles. What circles is read
without the names that were given, which costs little since the sound is encoded already, and if it
still does, in full context with a wide beam (see `[recogniser]` in policies/voice.toml).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lila_app.voice.model import RATE, Recognition
from lila_app.voice.policy import RecogniserRules
from lila_app.voice.recognise import gate
from lila_app.voice.recognise.engine import Encoded, Engine, load, unusable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.voice.ports import Samples

    Floats = NDArray[np.float32]

_FULL = 3_000
"""Columns of a spectrogram in 30 s: the context Whisper was trained with."""

_MS_PER_COLUMN = 10
_HOTWORD_TOKENS = 223
"""Half of the 448 tokens Whisper takes in all, less one: what it was trained to see as history."""

_ASSISTANT = "Lila"
"""People address it, and no model knows how it is written. As text that was said before, it also
makes a model surer of short answers, and has it end them with a full stop, which tells that
somebody is done ("Okay" at -0.80 becomes "Okay." at -0.40 with base, measured 2026-11-30)."""

_THREADS = 2
"""Measured 2026-11-30: a second thread gains 1.6 times, more gain nothing on two cores."""


class Whisper:
    """`ports.Recogniser` on a model of faster-whisper's; blocking, for one thread at a time."""

    def __init__(self, engine: Engine, rules: RecogniserRules, *, name: str, language: str) -> None:
        self._engine = engine
        self._rules = rules
        self._least_likely = gate.least_likely(rules.least_likely, name)
        self._language = language

    def recognise(self, samples: Samples, *, hotwords: str) -> Recognition:
        """What is said in the last 30 s of the samples.

        `hotwords` are names that are likely in it, with commas between them, most likely first.
        """
        if len(samples) == 0:
            return Recognition("", "there was no sound", self._language)
        rules = self._rules
        names = f"{_ASSISTANT}, {hotwords}"
        features = self._features(samples)
        length = features.shape[1] * _MS_PER_COLUMN
        most = rules.tokens + rules.tokens_per_second * length // 1_000
        encoded = self._encoded(features, max(rules.least, length + rules.extra) // _MS_PER_COLUMN)
        read = plain = self._read(encoded, names, beam=1, most=most)
        again = False
        if gate.doubtful(read, rules) or gate.only_names(read.text, names):
            # Names are what a reading in circles often repeats, and what noise is read as.
            plain = self._read(encoded, "", beam=1, most=most)
            if again := gate.doubtful(plain, rules):
                plain = self._read(self._encoded(features, _FULL), "", beam=rules.beam, most=most)
            if again or gate.doubtful(read, rules):
                read = plain
        why = gate.refusal(plain, rules, self._least_likely)
        return Recognition("" if why else read.text, why, self._language, again)

    def _features(self, samples: Samples) -> Floats:
        """The spectrogram of the last 30 s."""
        import numpy as np

        sound = np.asarray(samples[-30 * RATE :], np.float32) / np.float32(32_768)
        return self._engine.features(sound)[:, :_FULL]

    def _encoded(self, features: Floats, columns: int) -> Encoded:
        """The encoder's view of a spectrogram, padded to so many columns (at most 30 s)."""
        import numpy as np

        missing = min(columns, _FULL) - features.shape[1]
        padded = np.pad(features, ((0, 0), (0, missing))) if missing > 0 else features
        return self._engine.encode(padded)

    def _read(self, encoded: Encoded, hotwords: str, *, beam: int, most: int) -> gate.Reading:
        engine = self._engine
        prompt = engine.prompt(hotwords, _HOTWORD_TOKENS)
        most = min(most, engine.room(prompt))
        result = engine.generate(encoded, prompt, beam=beam, most=most)
        tokens = result.sequences_ids[0]
        return gate.reading(engine.text(tokens), tokens, result.scores[0], most)


def opened(
    folder: Path, rules: RecogniserRules, *, name: str, language: str, threads: int = 0
) -> Whisper:
    """Load the model in `folder` and read a second of silence with it, so that no turn waits.

    `name` is the setting's (`whisper-base`), by which its threshold is found. `threads` 0 is two,
    or one on a machine with one core. Raises `ConfigError` and `SoundError`.
    """
    import numpy as np

    count = threads or min(_THREADS, os.cpu_count() or 1)
    engine = load(folder, language=language, threads=count)
    made = Whisper(engine, rules, name=name, language=language)
    try:
        made.recognise(np.zeros(RATE, np.int16), hotwords="")
    # CTranslate2 raises bare ValueErrors and RuntimeErrors: for a folder whose files do not go
    # together, as large-v3 without its preprocessor_config.json.
    except Exception as error:
        raise unusable(folder, error) from error
    return made

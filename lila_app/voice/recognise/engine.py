"""The typed edge of faster-whisper: the parts of a model that reading in a short context takes.

faster-whisper's own `transcribe` pads every turn to 30 s and offers no way around it
(SYSTRAN/faster-whisper#171); its feature extractor, its encoder and CTranslate2's `generate` take
any length, so these are used and nothing of the library is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from lila_app.errors import ConfigError, SoundError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class Result(Protocol):
    """One reading of CTranslate2's: hypotheses, best first."""

    @property
    def sequences_ids(self) -> list[list[int]]:
        """Tokens of each, without the end marker."""
        ...

    @property
    def scores(self) -> list[float]:
        """Sum of log probabilities over length ** penalty."""
        ...


class Encoded(Protocol):
    """What the encoder made of the sound; opaque."""


class _Generator(Protocol):
    @property
    def is_multilingual(self) -> bool: ...
    def generate(
        self,
        features: Encoded,
        prompts: list[list[int]],
        *,
        beam_size: int,
        max_length: int,
        return_scores: bool,
    ) -> list[Result]: ...


class _Tokenizer(Protocol):
    @property
    def sot_sequence(self) -> list[int]: ...
    @property
    def sot_prev(self) -> int: ...
    @property
    def no_timestamps(self) -> int: ...
    def encode(self, text: str) -> list[int]: ...
    def decode(self, tokens: list[int]) -> str: ...


class _Model(Protocol):
    model: _Generator
    hf_tokenizer: object
    max_length: int
    supported_languages: list[str]

    def feature_extractor(self, waveform: Floats) -> Floats: ...
    def encode(self, features: Floats) -> Encoded: ...


class _Models(Protocol):
    def WhisperModel(
        self, path: str, *, device: str, compute_type: str, cpu_threads: int
    ) -> _Model: ...


class _Tokenizers(Protocol):
    def Tokenizer(
        self, tokenizer: object, multilingual: bool, task: str, language: str
    ) -> _Tokenizer: ...


@dataclass(frozen=True, slots=True)
class Engine:
    """A loaded model and the tokenizer of one language."""

    model: _Model
    tokenizer: _Tokenizer

    def features(self, samples: Floats) -> Floats:
        """The log mel spectrogram, 100 columns a second, of samples between -1 and 1."""
        return self.model.feature_extractor(samples)

    def encode(self, features: Floats) -> Encoded:
        """Run the encoder over a spectrogram of any length up to 30 s."""
        return self.model.encode(features)

    def prompt(self, hotwords: str, most: int) -> list[int]:
        """The tokens before the text, with `hotwords` as if said before: the first that fit.

        They end in a full stop because the model goes on as it is shown: after a bare list it
        leaves out the stop at the end of what was said, which tells that somebody is done.
        """
        names = [name.strip() for name in hotwords.split(",") if name.strip()]
        names = list(dict.fromkeys(names))
        said: list[int] = []
        while names:
            said = self.tokenizer.encode(f" {', '.join(names)}.")
            if len(said) <= most:
                break
            names.pop()
        before = [self.tokenizer.sot_prev, *said] if names else []
        return [*before, *self.tokenizer.sot_sequence, self.tokenizer.no_timestamps]

    def room(self, prompt: list[int]) -> int:
        """How many tokens the model can write after a prompt."""
        return self.model.max_length - len(prompt)

    def generate(self, encoded: Encoded, prompt: list[int], *, beam: int, most: int) -> Result:
        """Write down what is said, at most `most` tokens, which is no more than `room`."""
        length = len(prompt) + most
        (result,) = self.model.model.generate(
            encoded, [prompt], beam_size=beam, max_length=length, return_scores=True
        )
        return result

    def text(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return self.tokenizer.decode(list(tokens)).strip()


def load(folder: Path, *, language: str, threads: int) -> Engine:
    """Load the model in `folder`; 0.5 to 1.6 s on two busy cores (2026-11-30).

    8-bit numbers on the processor: four times faster than 32-bit ones and as exact (2.5 % of words
    wrong both ways). Raises `ConfigError` for a language it does not read, `SoundError` where it
    cannot be loaded.
    """
    try:
        models = cast("_Models", import_module("faster_whisper"))
        model = models.WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=threads
        )
    except Exception as error:  # CTranslate2 and tokenizers raise bare RuntimeErrors and Exceptions
        raise unusable(folder, error) from error
    _check(model, folder, language)
    tokenizers = cast("_Tokenizers", import_module("faster_whisper.tokenizer"))
    multilingual = model.model.is_multilingual
    return Engine(
        model, tokenizers.Tokenizer(model.hf_tokenizer, multilingual, "transcribe", language)
    )


def unusable(folder: Path, error: Exception) -> SoundError:
    """What to say of a model that the libraries refuse."""
    said = next(iter(str(error).splitlines()), type(error).__name__)
    return SoundError(
        f"the speech model in {folder} cannot be used: {said}",
        hint="fetch it again with `lila models pull`, or choose another as `recogniser` under "
        "[voice] in settings.toml",
    )


def _check(model: _Model, folder: Path, language: str) -> None:
    """Whether the model reads that language."""
    known = model.supported_languages
    if language in known:
        return
    if known == ["en"]:
        raise ConfigError(
            f"the speech model {folder.name} reads English alone, and your language is {language}",
            hint="set `recogniser` under [voice] in settings.toml to `whisper-base`",
        )
    raise ConfigError(
        f"the speech model {folder.name} does not read the language {language}",
        hint=f"set `language` under [voice] in settings.toml to one of {', '.join(sorted(known))}",
    )

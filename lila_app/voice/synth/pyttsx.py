"""Speech by the system's own voices, through pyttsx3: what there is on macOS and Windows.

pyttsx3 cannot be interrupted, loses what is queued behind what it says and plays its sound itself
(2.99), so each sentence is made by a process of its own that writes a file, and to interrupt is to
end that process.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from threading import Event as Flag
from typing import TYPE_CHECKING, cast

from lila_app.errors import SoundError, UsageError
from lila_app.voice.model import Sound
from lila_app.voice.synth.sentences import sentences, timed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_CHILD = Path(__file__).with_name("pyttsx_child.py")
_RATE = 22_050
_POLL_SECONDS = 0.02
_LONGEST_SECONDS = 60
"""A sentence takes a second at most; a driver that hangs is ended after this."""


@dataclass(frozen=True, slots=True)
class SystemVoice:
    """A voice of the system: what pyttsx3 calls it, its name, and the languages it says it has."""

    id: str
    name: str
    languages: tuple[str, ...]


class Pyttsx:
    """The synthesiser `pyttsx3` of `[voice] engine`."""

    name = "pyttsx3"

    def __init__(
        self, *, voice: str = "", language: str = "en", words_per_minute: int = 175
    ) -> None:
        """Find the voice by a part of its name, else one for the language; asks the system once.

        Raises `SoundError` where the system has no voices, `UsageError` for an unknown one.
        """
        self._voice = _chosen(_listed(), voice, language)
        self._words_per_minute = words_per_minute

    @property
    def rate(self) -> int:
        """Samples a second: 22,050, whatever the system's voice has."""
        return _RATE

    def synth(self, text: str, cancel: Flag) -> Iterator[Sound]:
        """The sound of a text, sentence by sentence. Raises `SoundError`."""
        at = 0
        for place, sentence in sentences(text):
            samples = self._samples(sentence, cancel)
            if samples is None or cancel.is_set():
                return
            sound = timed(samples, sentence, place, at, _RATE)
            at += len(sound.samples) * 1000 // _RATE
            yield sound

    def close(self) -> None:
        """Nothing to let go of: no process outlives its sentence."""

    def _samples(self, sentence: str, cancel: Flag) -> Samples | None:
        with tempfile.TemporaryDirectory(prefix="lila-voice-") as folder:
            target = Path(folder) / "said.wav"
            job = {
                "text": sentence,
                "voice": self._voice.id,
                "words_per_minute": self._words_per_minute,
                "target": str(target),
            }
            if _run(job, cancel) is None:
                return None
            return _read(target)


def _listed() -> list[SystemVoice]:
    said = _run({"voices": True}, Flag())
    found = cast("list[dict[str, object]]", json.loads(said or "[]"))
    return [
        SystemVoice(str(each["id"]), str(each["name"]), tuple(cast("list[str]", each["languages"])))
        for each in found
    ]


def _chosen(voices: list[SystemVoice], voice: str, language: str) -> SystemVoice:
    if not voices:
        raise SoundError("the system has no voices for pyttsx3", hint=_hint())
    if voice:
        for each in voices:
            if voice.casefold() in f"{each.id}\n{each.name}".casefold():
                return each
        names = [each.name for each in voices]
        near = get_close_matches(voice, names, n=3) or names[:3]
        raise UsageError(
            f"the system has no voice {voice!r}",
            hint=f"it has {', '.join(near)}; choose with `voice` in [voice] of your settings",
        )
    for each in voices:
        if any(_speaks(spoken, language) for spoken in each.languages):
            return each
    # Some drivers say nothing of languages, but have them in the voice's name.
    named = re.compile(rf"(?<![a-z]){language}(?![a-z])")
    for each in voices:
        if named.search(each.id.casefold()):
            return each
    raise UsageError(
        f"the system has no voice that speaks {language!r}",
        hint="install one in its settings for speech, or choose with `voice` in [voice]",
    )


def _speaks(spoken: str, language: str) -> bool:
    return re.split(r"[-_]", spoken.casefold())[0] == language


def _run(job: Mapping[str, object], cancel: Flag) -> str | None:
    """What the process said, None where it was cancelled."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out:
        given.write(json.dumps(job).encode())
        given.seek(0)
        with tempfile.TemporaryFile() as trouble:
            # -P: what lies in the folder LILA was started in is not to be imported.
            process = subprocess.Popen(
                [sys.executable, "-P", str(_CHILD)],
                stdin=given,
                stdout=out,
                stderr=trouble,
                start_new_session=sys.platform != "win32",  # Ctrl-C is for LILA alone
            )
            ended = _waited(process, cancel)
            trouble.seek(0)
            lines = trouble.read().decode(errors="replace").strip().splitlines()
        if ended is None or cancel.is_set():  # nobody wants it, however it ended
            return None
        if ended != 0:
            why = lines[-1] if lines else f"its process ended with {ended} and said nothing"
            raise SoundError(f"pyttsx3 could not speak: {why}", hint=_hint())
        out.seek(0)
        return out.read().decode()


def _waited(process: subprocess.Popen[bytes], cancel: Flag) -> int | None:
    """Its exit code; None where it was cancelled, or ended because it hung (which is an error)."""
    try:
        for _ in range(int(_LONGEST_SECONDS / _POLL_SECONDS)):
            try:
                return process.wait(_POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if cancel.is_set():
                    return None
        return 1
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _read(path: Path) -> Samples:
    import numpy as np

    from lila_app.voice.resample import Resampler

    try:
        with wave.open(str(path)) as file:
            if file.getsampwidth() != np.int16().itemsize:
                raise wave.Error("its samples are not of 16 bits")
            samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
            channels, rate = file.getnchannels(), file.getframerate()
    except (OSError, EOFError, wave.Error) as error:
        raise SoundError(
            f"what pyttsx3 wrote cannot be read as sound: {error}", hint=_hint()
        ) from error
    mono = samples.reshape(-1, channels).mean(axis=1).astype(np.int16)
    resampler = Resampler(rate, _RATE)
    return np.concatenate((resampler.feed(mono), resampler.rest()))


def _hint() -> str:
    if sys.platform == "linux":
        return "on Debian and Ubuntu: sudo apt install espeak-ng"
    return "see the system's settings for speech, or take another `engine` in [voice]"

"""The real speech models on recorded speech and on noise: slow, and the numbers of the README."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from lila_app.errors import ConfigError, SoundError
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.recognise import gate
from lila_app.voice.recognise.whisper import Whisper, opened
from lila_app.voice.wav import frames
from tests.voice.clips import RATE, Clip, Samples, clips, noises, share_wrong, wrong
from tests.voice.sound import required

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NAMES = (
    "Lila, Zettelkasten, Oyelaran, Kubernetes, Anneliese, Graz, Priya, Tom, Ljubljana, "
    "Marta Kowalska, Jonas Berger, Vienna, Siobhan, Budapest, PostgreSQL, Thessaloniki"
)
FULL = 30_000


@dataclass(frozen=True)
class Read:
    """What was read of each recording, and the processor time of it in seconds."""

    texts: dict[str, str]
    seconds: float

    def wrong(self, recordings: tuple[Clip, ...]) -> float:
        return share_wrong(self.texts, recordings)


@pytest.fixture(scope="module")
def recordings() -> tuple[Clip, ...]:
    return clips()


@pytest.fixture(scope="module")
def loaded(speech_models: Path, policy: VoicePolicy) -> Callable[[str, int], Whisper]:
    """A recogniser by model and shortest context in ms, loaded once."""
    kept: dict[tuple[str, int], Whisper] = {}

    def load(name: str, least: int) -> Whisper:
        if (name, least) not in kept:
            rules = replace(policy.recogniser, least=least)
            kept[name, least] = opened(speech_models / name, rules, name=name, language="en")
        return kept[name, least]

    return load


@pytest.fixture(scope="module")
def reading(
    loaded: Callable[[str, int], Whisper], recordings: tuple[Clip, ...], policy: VoicePolicy
) -> Callable[..., Read]:
    def read(name: str, *, least: int = 0, hotwords: str = "") -> Read:
        whisper = loaded(name, least or policy.recogniser.least)
        before = time.process_time()
        texts = {
            clip.name: whisper.recognise(clip.samples, hotwords=hotwords).text
            for clip in recordings
        }
        return Read(texts, time.process_time() - before)

    return read


@pytest.mark.parametrize(("name", "most"), [("whisper-base", 6.0), ("whisper-tiny.en", 8.0)])
def test_few_words_are_wrong_and_a_short_context_costs_at_most_a_point(
    reading: Callable[..., Read], recordings: tuple[Clip, ...], name: str, most: float
) -> None:
    short, full = reading(name), reading(name, least=FULL)
    print(
        f"{name}: {short.wrong(recordings):.1f} % wrong, {full.wrong(recordings):.1f} % in full "
        f"context; processor time {short.seconds:.1f} s and {full.seconds:.1f} s"
    )
    assert short.wrong(recordings) <= most
    assert short.wrong(recordings) <= full.wrong(recordings) + 1
    assert short.seconds <= 0.5 * full.seconds


@pytest.mark.parametrize("name", ["whisper-base", "whisper-tiny.en"])
def test_names_from_memory_do_not_make_other_words_worse(
    reading: Callable[..., Read], recordings: tuple[Clip, ...], name: str
) -> None:
    plain, named = reading(name), reading(name, hotwords=NAMES)
    print(f"{name}: {plain.wrong(recordings):.1f} %, with names {named.wrong(recordings):.1f} %")
    assert named.wrong(recordings) <= plain.wrong(recordings) + 2


@pytest.mark.parametrize("hotwords", ["", NAMES], ids=["plain", "with names"])
@pytest.mark.parametrize("name", ["whisper-base", "whisper-tiny.en"])
def test_noise_is_nothing_even_where_voice_activity_let_it_through(
    loaded: Callable[[str, int], Whisper], policy: VoicePolicy, name: str, hotwords: str
) -> None:
    whisper = loaded(name, policy.recogniser.least)
    read = {
        noise: whisper.recognise(sound, hotwords=hotwords).text for noise, sound in noises().items()
    }
    assert {noise: text for noise, text in read.items() if text} == {}


def test_names_that_are_known_are_read_as_they_are_written(
    loaded: Callable[[str, int], Whisper], policy: VoicePolicy, tmp_path: Path
) -> None:
    whisper = loaded("whisper-base", policy.recogniser.least)
    sentences = {
        "Lila": "Hey Lila, what did the doctor say yesterday?",
        "Marta Kowalska": "Did Marta Kowalska answer the letter from the bank?",
        "Priya": "Please tell Priya that I am late for dinner.",
        "Oyelaran": "What did Oyelaran say about the house?",
        "PostgreSQL": "Please ask her whether PostgreSQL is ready.",
    }
    sounds = {name: spoken(said, tmp_path) for name, said in sentences.items()}

    def found(hotwords: str) -> set[str]:
        texts = {
            name: whisper.recognise(sound, hotwords=hotwords).text for name, sound in sounds.items()
        }
        print(texts)
        return {name for name, text in texts.items() if name in text}

    plain, named = found(""), found(NAMES)
    assert plain <= named and len(named) >= len(plain) + 2


@pytest.mark.parametrize("name", ["whisper-base", "whisper-tiny.en"])
def test_words_that_end_or_answer_are_read_although_they_are_short(
    loaded: Callable[[str, int], Whisper], policy: VoicePolicy, tmp_path: Path, name: str
) -> None:
    """With the sound before them that is kept, and the silence after which a turn is first read."""
    whisper = loaded(name, policy.recogniser.least)
    around = [RATE * ms // 1_000 for ms in (policy.activity.before, policy.endpoint.speculate)]
    for hotwords in ("", NAMES):
        for word in ("Stop.", "Yes.", "No.", "Okay."):
            sound = np.pad(spoken(word, tmp_path), around)
            read = whisper.recognise(sound, hotwords=hotwords).text
            assert set(gate.words(read)) == set(gate.words(word)), (hotwords, read)


def test_a_model_of_english_alone_reads_no_german(speech_models: Path, policy: VoicePolicy) -> None:
    with pytest.raises(ConfigError, match="English alone") as caught:
        opened(
            speech_models / "whisper-tiny.en",
            policy.recogniser,
            name="whisper-tiny.en",
            language="de",
        )
    assert "whisper-base" in caught.value.hint


def test_a_language_nobody_knows_is_refused_with_those_there_are(
    speech_models: Path, policy: VoicePolicy
) -> None:
    with pytest.raises(ConfigError, match="language xx") as caught:
        opened(
            speech_models / "whisper-base", policy.recogniser, name="whisper-base", language="xx"
        )
    assert " de, " in caught.value.hint


def test_a_damaged_model_is_a_sentence(
    speech_models: Path, policy: VoicePolicy, tmp_path: Path
) -> None:
    folder = tmp_path / "whisper-tiny.en"
    shutil.copytree(speech_models / "whisper-tiny.en", folder)
    (folder / "model.bin").write_bytes(b"not a model at all")
    with pytest.raises(SoundError, match="cannot be used") as caught:
        opened(folder, policy.recogniser, name="whisper-tiny.en", language="en")
    assert "lila models pull" in caught.value.hint


def test_words_are_counted_as_people_do() -> None:
    assert wrong("ten of clubs", "10 of clubs.") == 0
    assert wrong("two nine three four zero", "29340") == 0
    assert wrong("he was not an ill disposed man", "He was not an ill-sposed man.") == 1
    assert wrong("a b c", "a x b") == 2


def spoken(text: str, folder: Path) -> Samples:
    """espeak's voice at 16 kHz."""
    if shutil.which("espeak-ng") is None:
        required("espeak-ng", "espeak-ng")
    made = folder / "made.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-w", str(made), text], check=True)
    return np.concatenate(list(frames(made)))

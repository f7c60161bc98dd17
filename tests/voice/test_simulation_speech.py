"""Conversations in which the person speaks, and Silero says when: what is said is known to the word
without a recogniser, so that only the hearing is under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes.util import find_library
from threading import Event as Flag

import numpy as np
import pytest

from lila_app.voice.activity import Silero
from lila_app.voice.model import RATE, Recognition
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.resample import Resampler
from lila_app.voice.synth.espeak import Espeak
from lila_app.voice.testing import EchoingRoom, ScriptedRecogniser
from tests.voice.clips import noises
from tests.voice.scenes import Samples, Scene, in_order, silence, words
from tests.voice.sound import required

REPLY = words("The Seine flows. The Loire is longer than all of them together. They all end.")


@pytest.fixture(scope="module")
def voice() -> Espeak:
    if find_library("espeak-ng") is None:
        required("libespeak-ng", "espeak-ng")
    return Espeak()


class Script:
    """What is said, sample by sample, and which word sounds where; also reads it back."""

    def __init__(self, voice: Espeak) -> None:
        self._voice = voice
        self.sound = silence(0)
        self._words: list[tuple[int, str]] = []

    def silent(self, ms: int) -> Script:
        self.sound = np.concatenate((self.sound, silence(ms)))
        return self

    def says(self, text: str) -> Script:
        begun = len(self.sound)
        resampler = Resampler(self._voice.rate, RATE)
        parts: list[Samples] = []
        for stretch in self._voice.synth(text, Flag()):
            parts.append(resampler.feed(stretch.samples))
            for word in stretch.words:
                self._words.append((begun + word.at * RATE // 1_000, text[word.start : word.end]))
        parts.append(resampler.rest())
        sound = np.concatenate(parts)
        loud = np.flatnonzero(np.abs(sound) > 100)
        self.sound = np.concatenate((self.sound, sound[: int(loud[-1]) + 1]))
        return self

    def recognise(self, samples: Samples, *, hotwords: str) -> Recognition:
        """The words that begin within these samples, which are found by what they hold."""
        del hotwords
        blocks = samples.reshape(-1, 512).astype(np.int64)
        loudest = int((blocks**2).sum(axis=1).argmax())
        place = self.sound.tobytes().find(samples[loudest * 512 : loudest * 512 + 512].tobytes())
        if place < 0:
            return Recognition("These are nobody's words.")
        first = place // 2 - loudest * 512
        text = " ".join(word for at, word in self._words if first <= at < first + len(samples))
        return Recognition(text, "" if text else "no words")


@pytest.fixture
def script(voice: Espeak) -> Iterator[Script]:
    yield Script(voice)


def _played(policy: VoicePolicy, script: Script) -> Scene:
    scene = Scene(policy, answer=lambda _: REPLY, activity=Silero(), recogniser=script)
    return scene.hears(script.sound).play()


def _texts(scene: Scene) -> list[str]:
    return [turn.text for turn in scene.conversation.turns.values()]


def test_spoken_questions_are_heard_whole_and_answered(policy: VoicePolicy, script: Script) -> None:
    script.silent(700).says("What rivers are there in France?").silent(9_000)
    script.says("Tell me about the lakes of Switzerland.").silent(8_000)
    scene = _played(policy, script)
    assert _texts(scene) == [
        "What rivers are there in France?", "Tell me about the lakes of Switzerland."
    ]  # fmt: skip
    assert scene.spoken == " ".join(["".join(REPLY).strip()] * 2)


def test_a_pause_for_thought_does_not_cut_a_sentence_in_two(
    policy: VoicePolicy, script: Script
) -> None:
    script.silent(700).says("Please tell me about the").silent(600).says("lakes of Switzerland.")
    scene = _played(policy, script.silent(7_000))
    assert _texts(scene) == ["Please tell me about the lakes of Switzerland."]


def test_speaking_over_lila_ends_what_it_says(policy: VoicePolicy, script: Script) -> None:
    script.silent(700).says("What rivers are there in France?").silent(2_500)
    onset = len(script.sound) * 1_000 // RATE
    scene = _played(policy, script.says("No, I meant the lakes, please.").silent(9_000))
    first, second = scene.conversation.turns.values()
    assert first.interrupted and "".join(REPLY).startswith(first.reply)
    assert second.text == "No, I meant the lakes, please."
    assert in_order(scene.log, "Hold(turn=1", "Cut(turn=1", "Ask(turn=2")
    assert scene.when("Hold(turn=1") - onset <= 300


def test_what_one_speaks_of_is_heard_from_its_first_word(
    policy: VoicePolicy, script: Script
) -> None:
    """Speech is noticed late; what was kept from before it holds the beginning."""
    for text in ("Add milk.", "Stop.", "Is it cold today?"):
        script.silent(1_500).says(text)
    scene = _played(policy, script.silent(6_000))
    assert _texts(scene)[0] == "Add milk."
    assert _texts(scene)[-1] == "Is it cold today?"


@pytest.mark.slow
def test_twenty_noises_make_no_turn(policy: VoicePolicy) -> None:
    """Though the recogniser, as Whisper does, would find words in any of them."""
    for name, sound in noises().items():
        reader = ScriptedRecogniser(*["Thank you."] * 9)
        scene = Scene(policy, answer=lambda _: REPLY, activity=Silero(), recogniser=reader)
        scene.silent(500).hears(sound).silent(1_500).play()
        assert not scene.conversation.turns, name


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_on_loudspeakers_it_hears_who_speaks_and_never_itself(
    policy: VoicePolicy, script: Script, voice: Espeak, share: float
) -> None:
    """Five minutes in a room that gives back what LILA says; whatever is not the person's own
    sound, sample by sample, would be read as words to answer.
    """
    questions = [f"Tell me about river number {number}, please." for number in range(15)]
    for question in questions:
        script.silent(1_000).says(question).silent(17_000)
    room = EchoingRoom(delay_ms=150, share=share, rate=voice.rate)
    scene = Scene(policy, answer=lambda _: REPLY, activity=Silero(), recogniser=script, voice=voice)
    scene.hears(script.sound).play(duplex=False, room=room)
    assert _texts(scene) == questions
    assert not any(turn.interrupted for turn in scene.conversation.turns.values())
    assert scene.ended >= 300_000


def test_two_runs_hear_the_same_at_the_same_time(policy: VoicePolicy, voice: Espeak) -> None:
    def once() -> Scene:
        script = Script(voice).silent(500).says("What rivers are there?").silent(2_000)
        return _played(policy, script.says("And lakes?").silent(5_000))

    first, second = once(), once()
    assert first.log == second.log
    assert first.sound == second.sound

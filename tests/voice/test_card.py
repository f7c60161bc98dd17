"""The sound card, through a real sound server: what is heard, what is played, what is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lila_app.errors import SoundError, UsageError
from lila_app.voice.devices.card import SoundCard
from lila_app.voice.model import Back, Lost, Tell
from tests.voice.sound import CANCELLER, Card, likeness, until, virtual_card

pytestmark = [pytest.mark.slow, pytest.mark.audio]

Samples = NDArray[np.int16]
RATE = 22_050
Opened = Callable[..., SoundCard]


@pytest.fixture
def card() -> Iterator[Card]:
    with virtual_card() as started:
        yield started


class Listener:
    """What came of an open card: its frames with their numbers, and its news."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.frames: list[Samples] = []
        self.news: list[Lost | Back | Tell] = []

    def heard(self, number: int, frame: Samples) -> None:
        self.numbers.append(number)
        self.frames.append(frame)

    @property
    def sound(self) -> Samples:
        return np.concatenate(self.frames) if self.frames else np.zeros(0, np.int16)

    def loud_since(self, count: int) -> bool:
        return any(np.abs(frame).max() > 500 for frame in self.frames[count:])

    def told(self, kind: type[Lost | Back | Tell], part: str) -> bool:
        return any(isinstance(e, kind) and getattr(e, "part", part) == part for e in self.news)


class Script:
    """Something to play, once."""

    def __init__(self, samples: Samples) -> None:
        self._rest = samples
        self.over = threading.Event()

    def pull(self, count: int) -> Samples:
        block, self._rest = self._rest[:count], self._rest[count:]
        if not len(self._rest):
            self.over.set()
        return np.pad(block, (0, count - len(block)))


def noise(seconds: float, rate: int, seed: int = 0) -> Samples:
    """Noise below 3 kHz: nothing is like it but itself, and resampling leaves it as it is."""
    from scipy.signal import butter, sosfilt

    white = np.random.default_rng(seed).normal(0, 1, int(seconds * rate))
    smooth = np.asarray(sosfilt(butter(8, 3_000, fs=rate, output="sos"), white))
    return (smooth / np.abs(smooth).max() * 20_000).astype(np.int16)


def silence(count: int) -> Samples:
    return np.zeros(count, np.int16)


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Makes sound cards and closes them, whatever becomes of the test: two disturb each other."""
    made: list[SoundCard] = []

    def make(**choice: Any) -> SoundCard:
        made.append(SoundCard(**choice))
        return made[-1]

    yield make
    for sound in made:
        sound.close()


@pytest.fixture
def listener() -> Listener:
    return Listener()


def test_what_is_said_into_the_microphone_arrives_whole_and_in_order(
    card: Card, opened: Opened, listener: Listener
) -> None:
    said = noise(3, 16_000)
    sound = opened()
    sound.microphone(listener.heard, listener.news.append)
    assert until(lambda: len(listener.frames) > 10)
    card.say(said)
    before = len(listener.frames)
    assert until(lambda: len(listener.frames) > before + 20)
    sound.close()
    assert listener.numbers == list(range(len(listener.numbers)))
    assert all(frame.shape == (512,) for frame in listener.frames)
    assert likeness(listener.sound, said) > 0.95
    assert listener.news == []


def test_what_is_pulled_leaves_the_speaker_as_it_was(
    card: Card, opened: Opened, listener: Listener
) -> None:
    script = Script(noise(3, RATE))
    sound = opened()
    with card.recording("lila_spk.monitor", RATE) as recording:
        speaker = sound.speaker(script.pull, RATE, listener.news.append)
        assert script.over.wait(20)
        assert 0 < speaker.latency_ms < 500
        assert until(lambda: likeness(recording.samples, noise(3, RATE), RATE) > 0.95)
        sound.close()
    assert listener.news == []


def test_a_killed_server_is_told_of_and_both_ends_come_back_with_the_server(
    card: Card, opened: Opened, listener: Listener
) -> None:
    sound = opened()
    sound.microphone(listener.heard, listener.news.append)
    sound.speaker(silence, RATE, listener.news.append)
    assert until(lambda: len(listener.frames) > 5)
    card.kill()
    assert until(lambda: listener.told(Lost, "microphone") and listener.told(Lost, "speaker"))
    card.start()
    assert until(lambda: listener.told(Back, "microphone") and listener.told(Back, "speaker"))
    before = len(listener.frames)
    card.say(noise(1, 16_000))
    assert until(lambda: listener.loud_since(before))
    sound.close()
    assert listener.numbers == list(range(len(listener.numbers)))


def test_a_microphone_that_is_unplugged_is_not_replaced_by_what_the_speaker_plays(
    card: Card, opened: Opened, listener: Listener
) -> None:
    tone = noise(60, RATE)
    sound = opened()
    sound.speaker(Script(tone).pull, RATE, listener.news.append)
    sound.microphone(listener.heard, listener.news.append)
    assert until(lambda: len(listener.frames) > 5)
    card.unload("lila_mic")
    assert until(lambda: listener.told(Lost, "microphone"))
    before = len(listener.frames)
    assert not until(lambda: listener.told(Back, "microphone"), seconds=2)
    assert not listener.loud_since(before)
    card.load(Card.sink("lila_mic"))
    card.pactl("set-default-source", "lila_mic.monitor")
    assert until(lambda: listener.told(Back, "microphone"))
    sound.close()
    assert not listener.told(Lost, "speaker")


def test_a_named_microphone_is_kept_to_when_the_system_moves_it(
    card: Card, opened: Opened, listener: Listener
) -> None:
    card.load(Card.sink("lila_desk"))
    sound = opened(microphone="lila_desk.monitor")
    sound.microphone(listener.heard, listener.news.append)
    assert until(lambda: len(listener.frames) > 5)
    stream = card.pactl("list", "short", "source-outputs").split("\t")[0]
    card.pactl("move-source-output", stream, "lila_mic.monitor")
    assert until(lambda: listener.told(Back, "microphone"))
    said = noise(2, 16_000)
    before = len(listener.frames)
    assert not until(lambda: listener.loud_since(before), seconds=0.5)
    card.microphone = "lila_desk"
    card.say(said)
    assert until(lambda: listener.loud_since(before))
    sound.close()


def test_the_systems_microphone_may_change_and_that_is_told(
    card: Card, opened: Opened, listener: Listener
) -> None:
    sound = opened()
    sound.microphone(listener.heard, listener.news.append)
    card.load(Card.sink("lila_desk"))
    stream = card.pactl("list", "short", "source-outputs").split("\t")[0]
    card.pactl("move-source-output", stream, "lila_desk.monitor")
    assert until(lambda: listener.told(Back, "microphone"))
    sound.close()
    assert "lila-desk" in listener.news[0].text  # type: ignore[union-attr]
    assert not listener.told(Lost, "microphone")


@pytest.mark.parametrize("muted", [True, False])
def test_a_microphone_that_gives_only_zeros_is_told_of_once(
    card: Card, opened: Opened, listener: Listener, muted: bool
) -> None:
    if muted:
        card.pactl("set-source-mute", "lila_mic.monitor", "1")
    sound = opened()
    sound.microphone(listener.heard, listener.news.append)
    assert until(lambda: bool(listener.news))
    before = len(listener.frames)
    assert until(lambda: len(listener.frames) > before + 20)
    sound.close()
    (told,) = listener.news
    if muted:
        assert isinstance(told, Lost) and "is muted" in told.why and not told.gone
    else:
        assert isinstance(told, Tell) and "is it muted?" in told.text and told.hint


def test_full_duplex_needs_both_ends_of_an_echo_canceller(card: Card, opened: Opened) -> None:
    card.load(CANCELLER)
    assert opened(microphone="lila_ec_src", speaker="lila_ec_sink").duplex()
    assert not opened(microphone="lila_ec_src", speaker="lila_spk").duplex()
    assert not opened(microphone="lila_mic.monitor").duplex()
    assert opened(microphone="lila_mic.monitor", headphones=True).duplex()


def test_what_the_speaker_plays_is_no_microphone(
    card: Card, opened: Opened, listener: Listener
) -> None:
    card.unload("lila_mic")
    with pytest.raises(SoundError, match="no microphone"):
        opened().microphone(listener.heard, listener.news.append)


def test_an_unknown_name_is_told_with_one_that_is_near(
    card: Card, opened: Opened, listener: Listener
) -> None:
    with pytest.raises(UsageError, match="lila-spkr") as refused:
        opened(speaker="lila-spkr").speaker(silence, RATE, listener.news.append)
    assert "lila-spk'" in refused.value.hint


def test_without_a_server_a_sentence_says_what_to_start(
    card: Card, opened: Opened, listener: Listener
) -> None:
    card.kill()
    with pytest.raises(SoundError) as refused:
        opened().microphone(listener.heard, listener.news.append)
    assert refused.value.hint


def test_a_card_can_be_opened_again_after_it_was_closed(
    card: Card, opened: Opened, listener: Listener
) -> None:
    for _ in range(3):
        sound = opened()
        sound.microphone(listener.heard, listener.news.append)
        sound.speaker(silence, RATE, listener.news.append)
        before = len(listener.frames)
        assert until(lambda before=before: len(listener.frames) > before + 5)
        sound.close()
        sound.close()
    assert listener.news == []

"""What is read of a turn, when it is read again, and what is refused: with a scripted decoder."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lila_app.errors import SoundError
from lila_app.voice.model import RATE
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.recognise import gate
from lila_app.voice.recognise.engine import Engine
from lila_app.voice.recognise.whisper import Whisper, opened

Floats = NDArray[np.float32]


@dataclass
class Result:
    sequences_ids: list[list[int]]
    scores: list[float]


@dataclass
class Decoder:
    """Reads what it is told to, one entry a call, and remembers how it was asked.

    A token is a character; `asked` has the columns of context, the text before and the beam.
    """

    readings: list[tuple[str, float]]
    asked: list[tuple[int, str, int]] = field(default_factory=list)
    max_length: int = 448
    is_multilingual: bool = True
    sot_prev: int = 1
    sot_sequence: tuple[int, ...] = (2, 3)
    no_timestamps: int = 4
    columns: int = 0

    @property
    def model(self) -> Decoder:
        return self

    def feature_extractor(self, waveform: Floats) -> Floats:
        return np.zeros((80, len(waveform) // 160), np.float32)

    def encode(self, text: object) -> list[int] | int:
        """The tokenizer's for a text, the model's for a spectrogram."""
        if isinstance(text, str):
            return [ord(letter) for letter in text]
        return cast("Floats", text).shape[1]

    def decode(self, tokens: list[int]) -> str:
        return "".join(chr(token) for token in tokens)

    def generate(
        self,
        features: int,
        prompts: list[list[int]],
        *,
        beam_size: int,
        max_length: int,
        return_scores: bool,
    ) -> list[Result]:
        (prompt,) = prompts
        assert return_scores and prompt[-3:] == [2, 3, 4]
        before = self.decode(prompt[1:-3]) if prompt[0] == self.sot_prev else ""
        self.asked.append((features, before, beam_size))
        text, score = self.readings.pop(0)
        tokens = [ord(letter) for letter in text][: max_length - len(prompt)]
        return [Result([tokens], [score])]


@dataclass
class Bench:
    """A recogniser with its decoder."""

    decoder: Decoder
    whisper: Whisper

    def read(self, seconds: float = 3.0, hotwords: str = "") -> tuple[str, str, bool]:
        samples = np.zeros(round(seconds * RATE), np.int16)
        found = self.whisper.recognise(samples, hotwords=hotwords)
        return found.text, found.why, found.again


@pytest.fixture
def bench(policy: VoicePolicy) -> Bench:
    decoder = Decoder([])
    engine = Engine(decoder, decoder)  # type: ignore[arg-type]
    whisper = Whisper(engine, policy.recogniser, name="whisper-base", language="en")
    return Bench(decoder, whisper)


def test_a_turn_is_read_once_in_a_context_of_its_own_length(bench: Bench) -> None:
    bench.decoder.readings = [(" Hello there.", -0.2)] * 3
    assert bench.read(2) == ("Hello there.", "", False)
    bench.read(12)
    bench.read(60)
    assert bench.decoder.asked == [
        (1_000, " Lila.", 1),
        (1_500, " Lila.", 1),
        (3_000, " Lila.", 1),
    ]


CIRCLES = [
    ". . . . . . . . . . . . . . . . . . . . . .",
    "ten of clubs. Ten of clubs. Ten",
    "no " * 60,
]


@pytest.mark.parametrize("first", CIRCLES)
def test_what_goes_in_circles_is_read_again_without_names(bench: Bench, first: str) -> None:
    bench.decoder.readings = [(first, -0.1), ("Ten of clubs.", -0.2)]
    assert bench.read(hotwords="Tom") == ("Ten of clubs.", "", False)
    assert bench.decoder.asked == [(1_000, " Lila, Tom.", 1), (1_000, "", 1)]


@pytest.mark.parametrize("first", CIRCLES)
def test_what_circles_without_names_too_is_read_in_full_context(bench: Bench, first: str) -> None:
    bench.decoder.readings = [(first, -0.1), (first, -0.1), ("Ten of clubs.", -0.2)]
    assert bench.read(hotwords="Tom") == ("Ten of clubs.", "", True)
    assert bench.decoder.asked[-1] == (3_000, "", 5)


def test_what_circles_in_full_context_as_well_is_nothing(bench: Bench) -> None:
    bench.decoder.readings = [("you " * 50, -0.1)] * 3
    assert bench.read() == ("", "it went in circles", True)


def test_what_is_still_said_twice_in_full_context_was_said_twice(bench: Bench) -> None:
    bench.decoder.readings = [("No way, no way.", -0.2)] * 2 + [("No way! No way!", -0.2)]
    assert bench.read() == ("No way! No way!", "", True)


@pytest.mark.parametrize(
    ("reading", "why"),
    [
        (("you", -1.5), "it was no clear speech"),
        (("...", -0.1), "there were no words in it"),
        (("", 0.0), "there were no words in it"),
    ],
)
def test_what_nobody_said_is_refused_with_a_reason(
    bench: Bench, reading: tuple[str, float], why: str
) -> None:
    bench.decoder.readings = [reading]
    assert bench.read() == ("", why, False)


def test_no_sound_asks_nothing(bench: Bench) -> None:
    assert bench.read(0) == ("", "there was no sound", False)
    assert bench.decoder.asked == []


def test_a_name_alone_is_believed_where_something_is_heard_without_names_too(bench: Bench) -> None:
    bench.decoder.readings = [("Oyelaran.", -0.3), ("Oil air in.", -0.5)]
    assert bench.read(hotwords="Lila, Oyelaran") == ("Oyelaran.", "", False)
    assert [before for _, before, _ in bench.decoder.asked] == [" Lila, Oyelaran.", ""]


def test_a_name_alone_where_nothing_else_is_heard_is_refused(bench: Bench) -> None:
    bench.decoder.readings = [("Ljubljana,", -0.3), ("you", -1.8)]
    assert bench.read(hotwords="Lila, Ljubljana") == ("", "it was no clear speech", False)


def test_a_long_reading_that_filled_the_model_was_cut(bench: Bench) -> None:
    names = ", ".join(f"name{number}" for number in range(99))
    # 30 s may have 256 tokens, but the names leave room for fewer of the model's 448.
    bench.decoder.readings = [("".join(map(chr, range(97, 400))), -0.1), ("all of it", -0.1)]
    assert bench.read(30.0, names) == ("all of it", "", False)


def test_a_folder_whose_files_do_not_go_together_is_told(
    bench: Bench, policy: VoicePolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(features: object) -> None:
        raise ValueError("Invalid input features shape\nand more")

    monkeypatch.setattr(bench.decoder, "encode", other, raising=False)
    engine = Engine(bench.decoder, Decoder([]))  # type: ignore[arg-type]
    monkeypatch.setattr("lila_app.voice.recognise.whisper.load", lambda *_, **__: engine)
    with pytest.raises(SoundError, match=r"in /x cannot be used: Invalid input features shape$"):
        opened(Path("/x"), policy.recogniser, name="other", language="en")


def test_each_model_has_its_own_threshold(policy: VoicePolicy) -> None:
    table = policy.recogniser.least_likely
    assert gate.least_likely(table, "whisper-tiny.en") == table["whisper-tiny.en"]
    assert gate.least_likely(table, "/my/own/folder") == table["other"]


def test_names_that_do_not_fit_are_left_out_whole(bench: Bench) -> None:
    names = ", ".join(f"Name{number:03}" for number in range(60))
    bench.decoder.readings = [("Hello.", -0.2)]
    bench.read(hotwords=names)
    ((_, before, _),) = bench.decoder.asked
    assert before.startswith(" Lila, Name000, Name001, ") and before.endswith("Name023.")
    assert len(before) <= 223 < len(before) + len(", Name024")


def test_the_end_marker_counts_as_a_token(policy: VoicePolicy) -> None:
    read = gate.reading("abc", [1, 2, 3], -1.0, most=10)
    assert read.likely == pytest.approx(-0.75)
    assert not read.cut and gate.reading("abc", [1, 2, 3], -1.0, most=3).cut


@given(
    st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat"]), min_size=2, max_size=6),
    st.integers(2, 4),
)
def test_whatever_is_said_twice_or_oftener_is_repeated(said: list[str], times: int) -> None:
    text = " ".join(said)
    often = ". ".join([text, text.title()] + [text] * (times - 2)) + "!"
    assert gate.repeated(often)
    assert gate.repeated(f"{often} {said[0]}")
    assert not gate.repeated(f"{text} {text} dog")


def test_one_word_twice_is_what_people_say() -> None:
    assert not gate.repeated("No, no.")
    assert not gate.repeated("five five")
    assert not gate.repeated("")

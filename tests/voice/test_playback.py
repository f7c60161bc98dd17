"""What is to be heard, pulled block by block: what was heard of it, to the word."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lila_app.voice.heard import written
from lila_app.voice.model import Audible, Silent, Sound, Spoken, Word
from lila_app.voice.playback import Begun, Piece, Playback
from lila_app.voice.testing import as_written

RATE = 8_000
BLOCK = 160
WORD = 240
"""Samples of a word: 20 ms of sound, 10 of silence."""

LOUD = 160


@dataclass
class Bench:
    """A playback with a clock that its pulls move on."""

    latency: int = 0
    events: list[tuple[Audible | Silent, int]] = field(default_factory=list)
    begun: list[tuple[str, int]] = field(default_factory=list)
    now: int = 0

    def __post_init__(self) -> None:
        self.playback = Playback(
            RATE,
            fade_ms=5,
            clock=lambda: self.now,
            notice=self.notice,
        )
        self.playback.latency_ms = self.latency

    def notice(self, event: Audible | Begun | Silent, at: int) -> None:
        if isinstance(event, Begun):
            self.begun.append((event.text, at))
        else:
            self.events.append((event, at))

    def say(self, text: str, *, turn: int = 1, whole: bool = True) -> Piece:
        piece = self.playback.begin(turn, 1, text, as_written(text))
        self.sound(piece, text)
        if whole:
            self.playback.finish(piece)
        return piece

    def sound(self, piece: Piece, text: str) -> None:
        place = 0
        bare = text.strip()
        for number, each in enumerate(bare.split()):
            place = bare.index(each, place)
            word = Word(number * WORD * 1_000 // RATE, place, place + len(each))
            place += len(each)
            self.playback.append(piece, Sound(_tone(number), (word,)))

    def pull(self, samples: int = BLOCK) -> NDArray[np.int16]:
        block = self.playback.pull(samples)
        self.now += samples * 1_000 // RATE
        return block


def _tone(number: int) -> NDArray[np.int16]:
    sound = np.zeros(WORD, np.int16)
    sound[:LOUD] = 1_000 + number
    return sound


def test_silence_comes_out_where_nothing_is_to_be_said() -> None:
    bench = Bench()
    assert not bench.pull().any()
    assert bench.events == []


def test_the_pieces_of_a_reply_are_heard_one_after_the_other_without_a_gap() -> None:
    bench = Bench()
    bench.say("one two ")
    bench.say("three ")
    heard = np.concatenate([bench.pull() for _ in range(6)])
    assert np.array_equal(heard[: 3 * WORD], np.concatenate([_tone(0), _tone(1), _tone(0)]))
    assert not heard[3 * WORD :].any()
    assert bench.playback.starved_ms == 0


def test_the_first_and_the_last_sample_are_told_of_when_they_are_heard() -> None:
    bench = Bench(latency=40)
    bench.pull()
    bench.say("one two ")
    for _ in range(4):
        bench.pull()
    assert bench.events == [(Audible(1, 1), 20 + 40), (Silent(1, 1, 1), 20 + 40 + 60)]


def test_silence_between_two_pieces_is_told_of_with_how_many_were_heard() -> None:
    bench = Bench()
    bench.say("one ")
    bench.pull(WORD + 80)
    bench.say("two ")
    bench.pull(WORD + 80)
    assert [event for event, _ in bench.events] == [Audible(1, 1), Silent(1, 1, 1), Silent(1, 1, 2)]


def test_a_piece_is_told_of_once_when_it_begins_to_be_heard() -> None:
    bench = Bench(latency=40)
    bench.say("one ")
    bench.say("two ")
    bench.pull(WORD // 2)
    bench.playback.hold(1, 1)
    bench.playback.resume()
    bench.pull(2 * WORD)
    fade, again = 5, 30  # held within its word, "one" is said anew
    assert bench.begun == [("one ", 40), ("two ", 40 + 15 + fade + again)]


def test_a_piece_without_a_sound_counts_as_heard() -> None:
    bench = Bench()
    bench.say("one ")
    bench.playback.finish(bench.playback.begin(1, 1, "🙂 ", Spoken("", ())))
    bench.pull(2 * WORD)
    assert bench.events[-1][0] == Silent(1, 1, 2)
    assert bench.playback.hold(1, 1) == "one 🙂 "


def test_sound_that_is_late_leaves_a_gap_that_is_counted() -> None:
    bench = Bench()
    piece = bench.say("one ", whole=False)
    bench.pull(WORD + 80)
    assert bench.playback.starved_ms == 10
    bench.playback.append(piece, Sound(_tone(7)))
    bench.playback.finish(piece)
    assert bench.pull(WORD)[0] == 1_007


def test_held_it_falls_silent_in_the_time_of_the_fade() -> None:
    bench = Bench()
    bench.say("one two three ")
    bench.pull()
    bench.playback.hold(1, 1)
    block = bench.pull()
    assert not block[40:].any()
    assert not bench.pull().any()


def test_a_fade_runs_out_without_a_step() -> None:
    bench = Bench()
    bench.say("one two three ")
    bench.pull(40)
    bench.playback.hold(1, 1)
    block = bench.pull().astype(int)
    assert block[0] == 1_000
    assert np.abs(np.diff(block[:41])).max() <= 1_000 / 40 + 1


@given(st.integers(0, 3 * WORD + 200))
def test_exactly_the_words_that_were_heard_to_their_end_are_heard(pulled: int) -> None:
    bench = Bench()
    bench.say("one two three")
    bench.pull(pulled)
    count = sum(number * WORD + LOUD <= pulled for number in range(3))
    assert bench.playback.hold(1, 1) == ["", "one", "one two", "one two three"][count]


@given(st.lists(st.integers(1, 700), min_size=1, max_size=8))
def test_resumed_again_and_again_every_word_is_heard_whole(holds: list[int]) -> None:
    """No word is lost, and what was heard only ever becomes more."""
    bench = Bench()
    bench.say("one two three four five ")
    heard = ""
    for pulled in holds:
        bench.pull(pulled)
        now = bench.playback.hold(1, 1)
        assert now.startswith(heard)
        heard = now
        bench.pull(80)
        bench.playback.resume()
    rest = bench.pull(6 * WORD)
    assert rest[rest > 0].tolist() == [
        1_000 + number for number in range(len(heard.split()), 5) for _ in range(LOUD)
    ]
    assert bench.playback.hold(1, 1) == "one two three four five "


def test_resumed_it_speaks_on_from_the_word_that_was_cut() -> None:
    bench = Bench()
    bench.say("one two three ")
    bench.pull(WORD + 50)
    assert bench.playback.hold(1, 1) == "one"
    bench.pull()
    bench.playback.resume()
    assert np.array_equal(bench.pull(2 * WORD), np.concatenate([_tone(1), _tone(2)]))


def test_what_was_cut_is_not_heard_however_late_its_sound_comes() -> None:
    bench = Bench()
    piece = bench.say("one two ", whole=False)
    bench.pull()
    bench.playback.cut(1, 1)
    assert not bench.playback.append(piece, Sound(_tone(3)))
    assert not bench.pull()[40:].any()
    bench.say("three ", turn=2)
    assert np.array_equal(bench.pull(WORD), _tone(0))
    assert [event for event, _ in bench.events] == [
        Audible(1, 1), Audible(2, 1), Silent(2, 1, 1)
    ]  # fmt: skip


def test_a_reply_that_is_cut_before_it_was_queued_leaves_the_other_alone() -> None:
    bench = Bench()
    bench.say("one ", turn=1)
    bench.playback.cut(2, 1)
    assert bench.playback.hold(2, 1) == ""
    assert np.array_equal(bench.pull(WORD), _tone(0))


def test_held_before_its_sound_is_made_it_waits_for_it() -> None:
    bench = Bench()
    piece = bench.playback.begin(1, 1, "one two", as_written("one two"))
    assert bench.playback.hold(1, 1) == ""
    bench.sound(piece, "one two")
    bench.playback.finish(piece)
    assert not bench.pull(WORD).any()
    bench.playback.resume()
    assert np.array_equal(bench.pull(WORD), _tone(0))


def test_what_was_said_of_late_is_known_by_its_words_and_their_time() -> None:
    bench = Bench(latency=10)
    bench.say("one two three ")
    bench.pull(3 * WORD)
    assert bench.playback.said(0) == "one two three"
    assert bench.playback.said(11) == ""
    assert bench.playback.sounded(0, 10) and bench.playback.sounded(90, 500)
    assert not bench.playback.sounded(101, 500)


def test_a_number_was_said_in_words_and_as_it_is_written() -> None:
    bench = Bench()
    text = "it has 23 bridges"
    spoken = Spoken("it has twenty three bridges", (*range(7), *[7] * 12, *range(9, 17)))
    piece = bench.playback.begin(1, 1, text, spoken)
    words = tuple(Word(0, *span) for span in ((0, 2), (3, 6), (7, 13), (14, 19), (20, 27)))
    bench.playback.append(piece, Sound(_tone(0), words))
    bench.pull()
    assert bench.playback.said(0) == "it has twenty 23 three bridges"


def _heard(text: str, spoken: Spoken, count: int) -> str:
    words: list[Word] = []
    place = 0
    for each in spoken.text.split():
        place = spoken.text.index(each, place)
        words.append(Word(0, place, place + len(each)))
        place += len(each)
    return written(text, spoken, words, count)


def test_a_number_is_heard_once_all_of_its_words_were() -> None:
    text = "it has 23 bridges"
    at_start = Spoken("it has twenty three bridges", (*range(7), *[7] * 12, *range(9, 17)))
    spread = Spoken("it has twenty three bridges", (*range(7), *[7] * 7, *[8] * 5, *range(9, 17)))
    for spoken in (at_start, spread):
        assert [_heard(text, spoken, count) for count in range(6)] == [
            "", "it", "it has", "it has", "it has 23", "it has 23 bridges"
        ]  # fmt: skip


def test_marks_that_close_a_word_are_heard_with_it_and_those_that_open_one_are_not() -> None:
    text = "the **capital**, and (the rest)."
    bare = "the capital and the rest"
    origin: list[int] = []
    place = 0
    for each in bare.split():
        start = text.index(each, place)
        origin += [*range(start, start + len(each)), start + len(each)]
        place = start + len(each)
    spoken = Spoken(bare, tuple(origin[:-1]))
    assert [_heard(text, spoken, count) for count in range(6)] == [
        "", "the", "the **capital**,", "the **capital**, and", "the **capital**, and (the", text
    ]  # fmt: skip


@given(
    st.lists(st.sampled_from(["a", "bc", "**d**", "12", "e,", "(f)"]), min_size=1, max_size=8),
    st.data(),
)
def test_more_words_heard_are_a_longer_beginning_of_the_text(
    tokens: list[str], data: st.DataObject
) -> None:
    text = " ".join(tokens)
    said: list[str] = []
    origin: list[int] = []
    place = 0
    for token in tokens:
        start = text.index(token, place)
        place = start + len(token)
        for word in {"12": ["one", "two"]}.get(token, [token.strip("*(),")]):
            said.append(word)
            inside = start + (len(token) - len(token.lstrip("*(")))
            origin += [*[inside] * len(word), inside]
    spoken = Spoken(" ".join(said), tuple(origin[:-1]))
    heard = [_heard(text, spoken, count) for count in range(len(said) + 1)]
    assert heard[0] == "" and heard[-1] == text
    for before, after in pairwise(heard):
        assert text.startswith(after) and after.startswith(before)

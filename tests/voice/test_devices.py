"""The sound card's decisions, with devices that come and go as a test says."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lila_app.errors import SoundError, UsageError
from lila_app.voice.devices import end as ends
from lila_app.voice.devices import portaudio
from lila_app.voice.devices.choosing import Choice, preferred_microphone, survey
from lila_app.voice.devices.hearing import Hearing
from lila_app.voice.devices.keeping import Keeper
from lila_app.voice.devices.naming import Device, chosen
from lila_app.voice.devices.playing import Playing
from lila_app.voice.devices.testing import BlockFlags, FakeMachine, FakeStream
from lila_app.voice.model import FRAME, Back, Lost, Part, Tell

Samples = NDArray[np.int16]
QUIET = BlockFlags()


def device(part: Part, name: str, label: str = "", **more: object) -> Device:
    plain = Device(name, label or name, part, rate=48_000, channels=2, number=0)
    return replace(plain, **more)


DESK = device("microphone", "alsa_input.desk", "Desk Microphone", default=True)
HEADSET = device("microphone", "alsa_input.headset", "Headset Mono")
BOX = device("speaker", "alsa_output.box", "Desk Speaker", default=True)
PHONES = device("speaker", "alsa_output.headset", "Headset Stereo")
ECHO = device("microphone", "alsa_output.box.monitor", "Monitor of Desk Speaker", monitors=BOX.name)
ALL = (DESK, HEADSET, ECHO, BOX, PHONES)


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "wanted", "found"),
    [
        ("microphone", "", DESK),
        ("speaker", "", BOX),
        ("microphone", "headset", HEADSET),
        ("speaker", "HEADSET", PHONES),
        ("microphone", "alsa_input.desk", DESK),
        ("microphone", "desk", DESK),  # not what gives back the desk's speaker
        ("microphone", "monitor", ECHO),
    ],
)
def test_a_part_of_a_name_is_enough(part: Part, wanted: str, found: Device) -> None:
    assert chosen(ALL, part, wanted) == found


def test_a_name_given_whole_is_not_mistaken_for_part_of_another() -> None:
    usb, second = device("speaker", "USB"), device("speaker", "USB 2")
    assert chosen((usb, second), "speaker", "usb") == usb


def test_a_name_that_several_bear_is_refused_with_all_of_them() -> None:
    with pytest.raises(UsageError, match=r"Desk Microphone.*Headset Mono") as refused:
        chosen(ALL, "microphone", "alsa_input")
    assert "more of the name" in refused.value.hint


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="'hedset'") as refused:
        chosen(ALL, "speaker", "hedset")
    assert "Headset Stereo" in refused.value.hint


def test_an_unknown_name_near_to_nothing_is_sent_to_the_list() -> None:
    with pytest.raises(UsageError) as refused:
        chosen(ALL, "speaker", "qqqqqq")
    assert refused.value.hint == "`lila voice devices` lists them"


def test_without_any_microphone_a_sentence_says_so() -> None:
    with pytest.raises(SoundError, match="no microphone"):
        chosen((BOX,), "microphone", "")


def test_what_the_speaker_plays_is_no_microphone_unless_it_is_asked_for() -> None:
    echo = replace(ECHO, default=True)
    assert preferred_microphone((echo, HEADSET), "", BOX) == HEADSET
    assert preferred_microphone((echo, HEADSET), "monitor", BOX) == echo
    assert preferred_microphone((echo, HEADSET), "", PHONES) == echo
    with pytest.raises(SoundError, match="no microphone"):
        preferred_microphone((echo,), "", BOX)


# -- duplex ---------------------------------------------------------------------------------------


def test_headphones_or_a_canceller_at_both_ends_keep_the_microphone_open() -> None:
    cancelled = replace(DESK, canceller="module 3")
    through = replace(BOX, canceller="module 3")
    named = device("microphone", "Echo-Cancel Source")
    assert Choice(DESK, BOX).duplex(True)
    assert not Choice(DESK, BOX).duplex(False)
    assert Choice(cancelled, through).duplex(False)
    assert not Choice(cancelled, BOX).duplex(False)
    assert Choice(named, BOX).duplex(False)
    assert not Choice(None, BOX).duplex(False)


def test_a_survey_lists_what_there_is_even_where_a_name_is_wrong() -> None:
    found = survey(FakeMachine(*ALL), "nobody", "")
    assert found.devices == ALL
    assert found.choice == Choice(None, BOX)
    assert [type(problem) for problem in found.problems] == [UsageError]


# -- the watch ------------------------------------------------------------------------------------


class Room:
    """Two ends on a machine of the test's, on a clock of the test's."""

    def __init__(self, machine: FakeMachine, microphone: str = "", speaker: str = "") -> None:
        self.now = 0.0
        self.machine = machine
        self.news: list[Lost | Back | Tell] = []
        self.frames: list[Samples] = []
        self.keeper = Keeper(
            machine, {"microphone": microphone, "speaker": speaker}, headphones=False
        )
        self.hearing = Hearing(lambda _, frame: self.frames.append(frame), self.clock)
        self.playing = Playing(lambda count: np.zeros(count, np.int16), 22_050, self.clock)
        self.keeper.add(ends.microphone(self.hearing, microphone, self.news.append))
        self.keeper.add(ends.speaker(self.playing, 22_050, speaker, self.news.append))

    def clock(self) -> float:
        return self.now

    def stream(self, part: Part) -> FakeStream:
        (found,) = (s for s in self.machine.open_streams if s.device.part == part)
        return found

    def passes(self, seconds: float, *, sound: bool = True) -> list[Lost | Back | Tell]:
        """Time goes by, with a block for every open stream, or with none."""
        before = len(self.news)
        for _ in range(round(seconds / 0.1)):
            self.now += 0.1
            if sound:
                for stream in self.machine.open_streams:
                    frames = FRAME if stream.device.part == "microphone" else 441
                    stream.deliver(bytearray(b"\x01\x00" * frames), frames, QUIET)
            for end, event in self.keeper.look(self.now):
                end.news(event)
        return self.news[before:]

    def end(self) -> None:
        self.keeper.shut("microphone")
        self.keeper.shut("speaker")


@pytest.fixture
def room() -> Callable[..., Room]:
    return Room


def parts(news: list[Lost | Back | Tell]) -> list[tuple[str, str]]:
    return [(type(event).__name__, getattr(event, "part", "")) for event in news]


def test_streams_that_give_and_take_sound_are_left_alone(room: Callable[..., Room]) -> None:
    there = room(FakeMachine(*ALL))
    assert there.passes(60) == []
    assert [stream.device for stream in there.machine.streams] == [DESK, BOX]
    there.end()


def test_a_stream_that_stands_still_for_a_second_is_lost_and_opened_again(
    room: Callable[..., Room],
) -> None:
    there = room(FakeMachine(*ALL))
    assert there.passes(0.9, sound=False) == []
    news = there.passes(0.3, sound=False)
    assert parts(news) == [("Lost", "microphone"), ("Lost", "speaker")]
    assert parts(there.passes(0.6)) == [("Back", "microphone"), ("Back", "speaker")]
    there.end()


def test_a_stream_the_system_ends_is_lost_at_the_next_look(room: Callable[..., Room]) -> None:
    there = room(FakeMachine(*ALL))
    there.stream("microphone").ended()
    (lost,) = there.passes(0.1)
    assert isinstance(lost, Lost) and "'Desk Microphone' is gone" in lost.why
    assert there.stream("speaker")  # which goes on
    there.end()


def test_attempts_to_open_what_is_lost_become_rarer(room: Callable[..., Room]) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine)
    machine.there = ()
    there.passes(1.2, sound=False)
    times = []
    for _ in range(400):
        before = machine.restarts
        there.passes(0.1)
        times += [there.now] * (machine.restarts - before)
    waits = np.diff(times)
    assert waits[:3] == pytest.approx([1.0, 2.0, 4.0], abs=0.11)
    assert waits[3:] == pytest.approx([5.0] * len(waits[3:]), abs=0.11)
    machine.there = ALL
    assert parts(there.passes(5.1)) == [("Back", "microphone"), ("Back", "speaker")]
    there.end()


def test_a_named_device_is_waited_for_and_no_other_taken(room: Callable[..., Room]) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine, microphone="headset")
    machine.there = tuple(d for d in ALL if d != HEADSET)
    there.stream("microphone").ended()
    assert parts(there.passes(20)) == [("Lost", "microphone")]
    machine.there = ALL
    assert parts(there.passes(5.1)) == [("Back", "microphone")]
    assert there.stream("microphone").device == HEADSET
    there.end()


def test_a_named_microphone_that_was_moved_away_is_taken_back(room: Callable[..., Room]) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine, microphone="headset")
    machine.places["microphone"] = DESK.name
    assert parts(there.passes(3)) == [("Lost", "microphone"), ("Back", "microphone")]
    assert there.stream("microphone").device == HEADSET
    there.end()


def test_the_systems_device_may_be_another_from_now_on(room: Callable[..., Room]) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine)
    machine.places["speaker"] = PHONES.name
    told, back = there.passes(2.2)
    assert isinstance(told, Tell) and "Headset Stereo" in told.text
    assert back == Back("speaker", duplex=False)
    assert there.passes(5) == []
    there.end()


def test_a_microphone_moved_onto_what_the_speaker_plays_is_lost(room: Callable[..., Room]) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine)
    machine.there = (replace(ECHO, default=True), BOX)
    machine.places["microphone"] = ECHO.name
    assert parts(there.passes(20)) == [("Lost", "microphone")]
    there.end()


def test_what_lives_is_interrupted_for_what_is_lost_only_once_that_is_there_again(
    room: Callable[..., Room],
) -> None:
    machine = FakeMachine(*ALL, lasting=True)
    there = room(machine)
    speaker = there.stream("speaker")
    machine.there = (BOX,)
    there.stream("microphone").ended()
    assert parts(there.passes(20)) == [("Lost", "microphone")]
    assert not speaker.closed
    machine.there = ALL
    assert parts(there.passes(5.1)) == [("Back", "microphone")]
    assert speaker.closed and there.stream("speaker") is not speaker
    there.end()


def test_three_seconds_of_zeros_are_asked_about_once(room: Callable[..., Room]) -> None:
    there = room(FakeMachine(*ALL))
    there.hearing.zeros = 2_999
    assert there.passes(0.1, sound=False) == []
    there.hearing.zeros = 3_000
    (told,) = there.passes(0.5, sound=False)
    assert isinstance(told, Tell) and "is it muted?" in told.text
    there.hearing.zeros = 0
    there.passes(0.1, sound=False)
    there.hearing.zeros = 3_000
    assert there.passes(0.1, sound=False) == []
    there.end()


def test_a_microphone_the_system_mutes_hears_nobody_until_it_sounds_each_time(
    room: Callable[..., Room],
) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine)
    machine.mute(DESK.name)
    for _ in range(2):
        there.hearing.zeros = 3_000
        (lost,) = there.passes(0.1, sound=False)
        assert isinstance(lost, Lost) and not lost.gone
        assert (
            lost.why == "the microphone 'Desk Microphone' is muted; unmute it in the sound settings"
        )
        there.hearing.zeros = 0
        assert parts(there.passes(0.1, sound=False)) == [("Back", "microphone")]
    there.end()


def test_a_microphone_that_is_unmuted_hears_again_before_anybody_speaks(
    room: Callable[..., Room],
) -> None:
    machine = FakeMachine(*ALL)
    there = room(machine)
    machine.mute(DESK.name)
    there.hearing.zeros = 3_000
    assert parts(there.passes(0.5, sound=False)) == [("Lost", "microphone")]
    machine.there = ALL
    found: list[Lost | Back | Tell] = []
    for _ in range(30):
        there.now += 0.1
        there.hearing.at = there.playing.at = there.now
        found += [event for _, event in there.keeper.look(there.now)]
    assert parts(found) == [("Back", "microphone")]
    there.end()


def test_an_end_that_does_not_open_leaves_nothing_behind(room: Callable[..., Room]) -> None:
    before = threading.active_count()
    with pytest.raises(SoundError, match="no microphone"):
        room(FakeMachine(BOX))
    assert threading.active_count() == before


# -- blocks ---------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=12))
def test_blocks_of_any_size_become_numbered_frames_with_every_sample_once(
    sizes: list[int],
) -> None:
    taken: list[tuple[int, Samples]] = []
    hearing = Hearing(lambda number, frame: taken.append((number, frame)))
    hearing.opened(16_000, 1)
    samples = np.arange(sum(sizes)).astype(np.int16)
    for block in np.split(samples, np.cumsum(sizes)[:-1]):
        hearing.filled(block.tobytes(), len(block), None, QUIET)
    hearing.drain()
    assert [number for number, _ in taken] == list(range(sum(sizes) // FRAME))
    heard = np.concatenate([samples[:0], *(frame for _, frame in taken)])
    assert (heard == samples[: len(heard)]).all()


def test_another_rate_and_two_channels_become_16_khz_mono() -> None:
    taken: list[Samples] = []
    hearing = Hearing(lambda _, frame: taken.append(frame))
    hearing.opened(48_000, 2)
    times = np.arange(48_000) / 48_000
    left = 8_000 * np.sin(2 * np.pi * 440 * times)
    both = np.stack((left, left), axis=1).astype(np.int16)
    for block in np.split(both, 50):
        hearing.filled(block.tobytes(), len(block), None, QUIET)
    hearing.drain()
    heard = np.concatenate(taken).astype(np.float64)
    spectrum = np.abs(np.fft.rfft(heard[:8_000] * np.hanning(8_000)))
    assert abs(int(spectrum.argmax()) * 2 - 440) <= 2  # bins of 2 Hz
    assert 7_500 < np.abs(heard[2_000:14_000]).max() < 8_500


def test_who_does_not_take_frames_loses_the_oldest_and_it_is_counted() -> None:
    gate, taken = threading.Event(), []

    def slow(number: int, frame: Samples) -> None:
        gate.wait(10)
        taken.append(int(frame[0]))

    hearing = Hearing(slow)
    hearing.opened(16_000, 1)
    for value in range(400):
        hearing.filled(np.full(FRAME, value, np.int16).tobytes(), FRAME, None, QUIET)
    gate.set()
    hearing.drain()
    assert hearing.lost == 400 - len(taken)
    assert 188 <= len(taken) <= 190
    assert taken[-1] == 399


def test_a_frame_somebody_stumbles_over_is_not_the_last(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[int] = []

    def stumbles(number: int, frame: Samples) -> None:
        taken.append(number)
        if number == 1:
            raise ValueError("what was said is not in the log")

    hearing = Hearing(stumbles)
    hearing.opened(16_000, 1)
    for _ in range(4):
        hearing.filled(bytes(2 * FRAME), FRAME, None, QUIET)
    hearing.drain()
    assert taken == [0, 1, 2, 3]
    assert "a frame was not taken: ValueError" in caplog.text


def test_zeros_are_counted_up_to_the_first_sound() -> None:
    hearing = Hearing(lambda number, frame: None)
    hearing.opened(16_000, 1)
    for value in (1, 0, 0):
        hearing.filled(np.full(FRAME, value, np.int16).tobytes(), FRAME, None, QUIET)
    hearing.drain()
    assert hearing.zeros == 64


def fill(playing: Playing, frames: int, channels: int, flags: BlockFlags = QUIET) -> Samples:
    block = bytearray(b"\x7f" * (2 * frames * channels))
    playing.filled(block, frames, None, flags)
    return np.frombuffer(block, np.int16).reshape(-1, channels)


def test_a_speaker_gets_what_is_pulled_on_every_channel() -> None:
    playing = Playing(lambda count: np.arange(count, dtype=np.int16), 22_050)
    playing.opened(22_050, 2)
    block = fill(playing, 441, 2, BlockFlags(output_underflow=True))
    assert (block == np.arange(441)[:, None]).all()
    assert playing.late == 1


def test_a_speaker_of_another_rate_gets_the_same_sound() -> None:
    pulled = 0

    def pull(count: int) -> Samples:
        nonlocal pulled
        places = np.arange(pulled, pulled + count)
        pulled += count
        return (8_000 * np.sin(2 * np.pi * 440 * places / 22_050)).astype(np.int16)

    playing = Playing(pull, 22_050)
    playing.opened(48_000, 1)
    heard = np.concatenate([fill(playing, 960, 1) for _ in range(50)])[:, 0].astype(np.float64)
    spectrum = np.abs(np.fft.rfft(heard[:24_000] * np.hanning(24_000)))
    assert abs(int(spectrum.argmax()) * 2 - 440) <= 2  # bins of 2 Hz
    assert abs(pulled - 22_050) < 100


def test_where_nothing_can_be_pulled_there_is_silence(caplog: pytest.LogCaptureFixture) -> None:
    def broken(count: int) -> Samples:
        raise ValueError("what was to be said is not in the log")

    playing = Playing(broken, 22_050)
    playing.opened(22_050, 1)
    assert not fill(playing, 441, 1).any()
    assert not fill(playing, 441, 1).any()
    assert caplog.text.count("nothing to play: ValueError") == 1


# -- errors ---------------------------------------------------------------------------------------


def test_without_portaudio_a_sentence_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr(portaudio, "import_module", missing)
    with pytest.raises(SoundError, match="PortAudio") as refused:
        portaudio.library()
    assert "apt install libportaudio2" in refused.value.hint


def test_a_device_in_use_is_told_from_one_that_does_not_open() -> None:
    busy = portaudio.explained(Exception("x", -9985), "microphone", "Desk")
    broken = portaudio.explained(Exception("x", -9999), "microphone", "Desk")
    assert "in use by another program" in busy.message
    assert "cannot be opened" in broken.message
    assert busy.hint and broken.hint

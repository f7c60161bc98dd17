"""The workers of the real clock, one by one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from threading import Event as Flag

import numpy as np
import pytest

from lila_app.errors import SoundError
from lila_app.voice import working
from lila_app.voice.ear import Ear
from lila_app.voice.model import (
    FRAME,
    Ask,
    Cut,
    Event,
    Recognise,
    Recognised,
    ReplyEnded,
    ReplyFailed,
    ReplyText,
    Sound,
)
from lila_app.voice.mouth import AHEAD_MS, Utterance
from lila_app.voice.playback import Playback
from lila_app.voice.testing import FakeConversation, Loudness, as_written
from lila_app.voice.working import Listener, Maker, Reader, Talker, loudness
from tests.voice.scenes import Samples
from tests.waiting import until

QUIET = np.zeros(FRAME, np.int16)


class _Gate:
    """Holds a worker until it is opened, and knows that it is there."""

    def __init__(self) -> None:
        self.arrived, self.open = Flag(), Flag()

    def wait(self) -> None:
        self.arrived.set()
        assert self.open.wait(60)


def test_of_the_turns_that_wait_to_be_read_only_the_newest_is() -> None:
    gate, done = _Gate(), list[Event]()

    def read(action: Recognise) -> Event:
        gate.wait()
        return Recognised(action.turn, action.revision, "words")

    reader = Reader(read, done.append)
    reader.read(Recognise(1, 1, 0, 10))
    assert gate.arrived.wait(60)
    for revision in (2, 3, 4):
        reader.read(Recognise(1, revision, 0, 10))
    gate.open.set()
    until(lambda: len(done) == 2)
    reader.close()
    assert done == [Recognised(1, 1, "words"), Recognised(1, 4, "words")]


class _Blocking(Loudness):
    def __init__(self, gate: _Gate) -> None:
        self.gate = gate
        self.resets = 0

    def speech(self, frame: Samples) -> int:
        self.gate.wait()
        return super().speech(frame)

    def reset(self) -> None:
        self.resets += 1


def test_a_listener_that_is_behind_loses_the_oldest_frames_and_says_how_many() -> None:
    gate, found = _Gate(), list[int]()
    activity = _Blocking(gate)
    ear = Ear(10_000)
    listener = Listener(
        activity, ear, lambda: 0, lambda number, *_: found.append(number), lambda *_: None
    )
    listener.heard(0, QUIET)
    assert gate.arrived.wait(60)
    for number in range(1, 101):
        listener.heard(number, QUIET)
    gate.open.set()
    until(lambda: found[-1:] == [100])
    listener.close()
    assert listener.lost == 36
    assert found == [0, *range(37, 101)]
    assert activity.resets == 1
    assert len(ear.between(0, 101)) == 101 * FRAME


def test_a_frame_that_cannot_be_weighed_is_told_and_the_next_one_is() -> None:
    class Failing(Loudness):
        def speech(self, frame: Samples) -> int:
            if not frame.any():
                raise SoundError("the model is gone", hint="install it")
            return 900

    found, told = list[tuple[int, int, int]](), list[str]()
    listener = Listener(
        Failing(), Ear(1_000), lambda: 0, lambda *each: found.append(each),
        lambda message, hint: told.append(f"{message} ({hint})"),
    )  # fmt: skip
    listener.heard(0, QUIET)
    listener.heard(1, QUIET + 16_384)
    until(lambda: len(found) == 2)
    listener.close()
    assert found == [(0, 0, 0), (1, 900, 500)]
    assert told == ["the model is gone (install it)"]


def test_loudness_is_of_the_loudest_there_is() -> None:
    assert loudness(np.full(FRAME, -32_768, np.int16)) == 1_000
    assert loudness(QUIET) == 0


class _Endless:
    """A synthesiser that never comes to an end of its own."""

    name = "endless"
    rate = 8_000

    def __init__(self) -> None:
        self.made = 0

    def synth(self, text: str, cancel: Flag) -> Iterator[Sound]:
        del text
        while not cancel.is_set():
            self.made += 1
            yield Sound(np.ones(self.rate, np.int16))

    def close(self) -> None: ...


def _playback() -> Playback:
    return Playback(8_000, fade_ms=5, clock=lambda: 0, notice=lambda *_: None)


def _utterance(playback: Playback, text: str, turn: int = 1) -> Utterance:
    return Utterance(playback.begin(turn, 1, text, as_written(text)), text, Flag())


def test_what_is_cut_while_it_is_made_is_made_no_further() -> None:
    engine, playback, sounded = _Endless(), _playback(), list[str]()
    maker = Maker(
        engine, playback, lambda: 0, lambda each: sounded.append(each.text), lambda *_: None
    )
    first = _utterance(playback, "on and on")
    maker.say(first)
    until(lambda: engine.made > 3)
    playback.cut(1, 1)
    until(lambda: first.piece.whole)
    made = engine.made
    assert sounded == ["on and on"]
    last = _utterance(playback, "never begun", turn=2)
    last.cancel.set()
    maker.say(last)
    until(lambda: last.piece.whole)
    maker.close()
    assert engine.made == made


def test_speech_is_made_only_so_far_ahead() -> None:
    engine, playback = _Endless(), _playback()
    maker = Maker(engine, playback, lambda: 0, lambda _: None, lambda *_: None)
    long = Utterance(playback.begin(1, 1, "x", as_written("x")), "x", Flag())
    playback.append(long.piece, Sound(np.ones(8 * (AHEAD_MS + 1_000), np.int16)))
    waiting = _utterance(playback, "later")
    maker.say(waiting)
    assert not waiting.piece.whole and engine.made == 0
    playback.pull(8 * 2_000)
    until(lambda: engine.made > 0)
    waiting.cancel.set()
    maker.close()


class _Slow:
    """A conversation whose replies take as long as the test wants."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.more = asyncio.Event()

    async def ask(self, turn: int, text: str) -> AsyncGenerator[str, None]:
        self.calls.append(f"ask {turn}")
        try:
            yield "first"
            await self.more.wait()
            yield "second"
        finally:
            await asyncio.sleep(0)  # keeping what came takes a moment
            self.calls.append(f"closed {turn}")

    async def settle(self, turn: int) -> None:
        self.calls.append(f"settle {turn}")

    async def heard(self, turn: int, text: str) -> None:
        self.calls.append(f"heard {turn} {text}")

    async def withdraw(self, turn: int) -> None: ...
    def open(self, turn: int) -> None: ...
    def hotwords(self) -> str:
        return ""


async def _soon(events: list[Event], count: int) -> None:
    async with asyncio.timeout(60):
        while len(events) < count:  # noqa: ASYNC110 (the events are taken by a plain function)
            await asyncio.sleep(0)


async def test_what_was_heard_is_kept_before_the_next_reply_is_asked_for() -> None:
    conversation, events = _Slow(), list[Event]()
    talker = Talker(conversation, events.append, lambda *_: None)
    talker.ask(Ask(1, 1, "one"))
    await _soon(events, 1)
    talker.beside(conversation.settle(1))
    talker.end(Cut(1, 1, "fir"))
    talker.later(conversation.heard(1, "fir"))
    talker.ask(Ask(2, 1, "two"))
    conversation.more.set()
    await _soon(events, 4)
    await talker.close()
    assert events == [
        ReplyText(1, 1, "first"), ReplyText(2, 1, "first"), ReplyText(2, 1, "second"),
        ReplyEnded(2, 1),
    ]  # fmt: skip
    calls = [call for call in conversation.calls if call != "settle 1"]
    assert calls == ["ask 1", "closed 1", "heard 1 fir", "ask 2", "closed 2"]


async def test_words_are_settled_while_their_reply_is_written() -> None:
    conversation, events = _Slow(), list[Event]()
    talker = Talker(conversation, events.append, lambda *_: None)
    talker.ask(Ask(1, 1, "one"))
    await _soon(events, 1)
    talker.beside(conversation.settle(1))
    await asyncio.sleep(0)
    assert conversation.calls == ["ask 1", "settle 1"]
    await talker.close()
    assert conversation.calls[-1] == "closed 1"


async def test_a_reply_that_fails_says_why_and_one_that_fails_unforeseen_hides_nothing() -> None:
    events, told = list[Event](), list[str]()
    answers = iter([[SoundError("gone", hint="start it")], [KeyError("secret words")]])
    conversation = FakeConversation(lambda _: next(answers))
    talker = Talker(conversation, events.append, lambda message, _: told.append(message))
    talker.ask(Ask(1, 1, "one"))
    await _soon(events, 1)
    talker.ask(Ask(2, 1, "two"))
    await _soon(events, 2)
    assert events[0] == ReplyFailed(1, 1, "gone", "start it")
    assert isinstance(events[1], ReplyFailed) and "KeyError" in events[1].message
    assert "secret" not in events[1].message
    conversation.error = SoundError("the disk is full")
    talker.later(conversation.heard(1, "x"))
    await talker.close()
    assert told == ["the disk is full"]


def test_every_worker_ends_its_thread() -> None:
    before = threading.active_count()
    playback = _playback()
    workers = [
        Reader(lambda action: Recognised(action.turn, 1, ""), lambda _: None),
        Maker(_Endless(), playback, lambda: 0, lambda _: None, lambda *_: None),
        Listener(Loudness(), Ear(1_000), lambda: 0, lambda *_: None, lambda *_: None),
    ]
    assert threading.active_count() == before + 3
    for worker in workers:
        worker.close()
    assert threading.active_count() == before


def test_of_what_was_heard_only_so_much_is_kept_and_what_is_missing_is_silence() -> None:
    ear = Ear(320)
    for number in (*range(20), 21, 22):
        ear.add(number, np.full(FRAME, number, np.int16), number * 32)
    found = ear.between(18, 23).reshape(-1, FRAME)[:, 0]
    assert found.tolist() == [18, 19, 0, 21, 22]
    assert not ear.between(0, 5).any()
    assert ear.span(18, 23) == (18 * 32 - 32, 22 * 32)
    assert ear.span(0, 3) == (0, 0)
    assert len(ear.between(5, 5)) == 0


def test_a_worker_that_hangs_in_its_model_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(working, "_CLOSING_SECONDS", 0.01)
    gate, now = _Gate(), [0]
    listener = Listener(
        _Blocking(gate), Ear(1_000), lambda: now[0], lambda *_: None, lambda *_: None
    )
    assert listener.waits_ms == 0
    listener.heard(0, QUIET)
    assert gate.arrived.wait(60)
    now[0] = 4_000
    assert listener.waits_ms == 4_000
    assert not listener.close()
    gate.open.set()
    until(lambda: listener.close() and listener.waits_ms == 0)

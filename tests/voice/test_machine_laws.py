"""What holds whatever happens, in whatever order, however late."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from lila_app.voice.machine import Rules, start, step
from lila_app.voice.model import (
    FRAME_MS,
    Action,
    Ask,
    Audible,
    Back,
    Cut,
    Drop,
    Event,
    Frame,
    Hold,
    Lost,
    Open,
    Part,
    Paused,
    Phase,
    Pressed,
    Recognise,
    Recognised,
    ReplyEnded,
    ReplyFailed,
    ReplyText,
    Resume,
    Say,
    Settle,
    Silent,
    Tick,
)
from lila_app.voice.model import Key as PressedKey
from tests.voice.talk import LOUD, QUIET, Talk, answered, policy

POLICY = policy()
TEXTS = ["", "Stop.", "Okay.", "Yes.", "What time is it?", "I would like to", "Let me think."]
PIECES = ["It is", " noon. ", "And then ", "\n", "```", " Why?", " a, b and c of a longer clause, "]
KEYS: list[PressedKey] = ["mute", "stop", "talk", "talk_end"]
PARTS: list[Part] = ["microphone", "speaker"]
Key = tuple[int, int]
T = TypeVar("T")


def pick(data: st.DataObject, options: Sequence[T]) -> T:
    """Often the last one, else any that ever was."""
    return options[-1] if data.draw(st.booleans()) else data.draw(st.sampled_from(options))


class Observer:
    """Reads the actions as the loop would, and objects to what must not be."""

    def __init__(self) -> None:
        self.opened = 0
        self.jobs: list[Recognise] = []
        self.asked: list[Key] = []
        self.settled: set[Key] = set()
        self.dead: set[Key] = set()
        self.withdrawn: set[int] = set()
        self.said: dict[Key, int] = {}
        self.held: Key | None = None
        self.holds: list[Key] = []
        self.unreadable: set[int] = set()

    def see(self, action: Action) -> None:
        match action:
            case Open(turn):
                assert turn > self.opened
                self.opened = turn
            case Recognise():
                self.reads(action)
            case Ask(turn, revision):
                self.asks((turn, revision))
            case Settle(turn, revision):
                assert self.asked[-1] == (turn, revision)
                assert (turn, revision) not in self.settled | self.dead
                self.settled.add((turn, revision))
            case Drop(turn, revision, words):
                self.dead.add((turn, revision))
                self.withdrawn |= set() if words else {turn}
                self.released((turn, revision))
            case Cut(turn, revision):
                assert (turn, revision) in self.settled - self.dead
                self.dead.add((turn, revision))
                self.released((turn, revision))
            case Say() | Hold() | Resume():
                self.speaks(action)
            case _:
                pass

    def reads(self, job: Recognise) -> None:
        assert 0 <= job.first < job.end
        assert job.turn not in self.withdrawn
        assert not self.unreadable & set(range(job.first, job.end))
        assert all(job.revision > one.revision for one in self.jobs if one.turn == job.turn)
        assert job.turn >= self.opened
        self.jobs.append(job)

    def asks(self, key: Key) -> None:
        assert key not in self.asked and key[0] not in self.withdrawn
        assert key[0] == self.opened
        for one in self.asked:
            assert one in self.dead or (one in self.settled and one[0] < key[0])
        self.asked.append(key)

    def speaks(self, action: Say | Hold | Resume) -> None:
        key = (action.turn, action.revision)
        assert key == self.asked[-1] and key in self.settled and key not in self.dead
        match action:
            case Say():
                assert self.held != key and action.text.strip()
                self.said[key] = self.said.get(key, 0) + 1
            case Hold():
                assert self.held is None and self.said[key]
                self.held = key
                self.holds.append(key)
            case Resume():
                assert self.held == key
                self.held = None

    def released(self, key: Key) -> None:
        self.held = None if self.held == key else self.held


class Conversation(RuleBasedStateMachine):
    """Anything may happen; at the end the world is fair, and LILA listens again."""

    @initialize(duplex=st.booleans(), push_to_talk=st.booleans())
    def begin(self, duplex: bool, push_to_talk: bool) -> None:
        self.declared = Rules(POLICY, push_to_talk)
        self.duplex = duplex
        self.state = start(self.declared, duplex=duplex)
        self.now = 0
        self.number = 0
        self.key_down = False
        self.observer = Observer()
        self.events: list[tuple[Event, int]] = []
        self.log: list[Action] = []

    def send(self, event: Event) -> None:
        self.events.append((event, self.now))
        self.state, actions = step(self.state, event, self.now)
        self.log += actions
        for action in actions:
            self.observer.see(action)

    def frame(self, speech: int) -> None:
        self.now += FRAME_MS
        reply = self.state.reply
        echo = reply is not None and reply.sounding and not self.state.duplex
        by_key = self.declared.push_to_talk
        if self.state.muted or (not self.key_down if by_key else echo):
            self.observer.unreadable.add(self.number)
        self.send(Frame(self.number, speech))
        self.number += 1

    @rule(count=st.integers(1, 40), speech=st.sampled_from([950, 950, 580, 400, 20, 20]))
    def hear(self, count: int, speech: int) -> None:
        for _ in range(count):
            self.frame(speech)

    @rule(data=st.data(), text=st.sampled_from(TEXTS))
    def say(self, data: st.DataObject, text: str) -> None:
        """What a person does most: speak, fall silent, be read."""
        for speech in [950] * data.draw(st.integers(4, 40)) + [20] * 7:
            self.frame(speech)
        if self.observer.jobs:
            job = self.observer.jobs[-1]
            self.send(Recognised(job.turn, job.revision, text))

    @rule(count=st.integers(1, 60))
    def wait(self, count: int) -> None:
        for _ in range(count):
            self.now += FRAME_MS
            self.send(Tick())

    @rule(skipped=st.integers(1, 50))
    def lose_frames(self, skipped: int) -> None:
        self.number += skipped

    @rule(data=st.data(), text=st.sampled_from(TEXTS), echo=st.booleans())
    def read(self, data: st.DataObject, text: str, echo: bool) -> None:
        if self.observer.jobs:
            job = pick(data, self.observer.jobs)
            self.send(Recognised(job.turn, job.revision, text, echo=echo))

    @rule(data=st.data(), pieces=st.lists(st.sampled_from(PIECES), max_size=4))
    def reply(self, data: st.DataObject, pieces: list[str]) -> None:
        if self.observer.asked:
            turn, revision = pick(data, self.observer.asked)
            for piece in pieces:
                self.late(ReplyText(turn, revision, piece))
            end = data.draw(st.sampled_from(["", "end", "fail"]))
            if end == "end":
                self.late(ReplyEnded(turn, revision))
            elif end == "fail":
                self.late(ReplyFailed(turn, revision, "it broke", ""))

    @rule(data=st.data())
    def play(self, data: st.DataObject) -> None:
        if self.observer.said:
            key = pick(data, list(self.observer.said))
            self.late(Audible(*key))
            self.late(Silent(*key, data.draw(st.integers(0, self.observer.said[key]))))

    @rule(data=st.data(), heard=st.sampled_from(["", "It is", "It is noon. "]))
    def pause(self, data: st.DataObject, heard: str) -> None:
        if self.observer.holds:
            self.send(Paused(*pick(data, self.observer.holds), heard))

    @rule(key=st.sampled_from(KEYS))
    def press(self, key: PressedKey) -> None:
        self.key_down = key == "talk" or (self.key_down and key != "talk_end")
        self.send(Pressed(key))

    @rule(part=st.sampled_from(PARTS), back=st.booleans(), duplex=st.booleans())
    def fault(self, part: Part, back: bool, duplex: bool) -> None:
        self.send(Back(part, duplex) if back else Lost(part, "gone", gone=duplex))

    def late(self, event: ReplyText | ReplyEnded | ReplyFailed | Audible | Silent) -> None:
        """What comes of dropped work changes nothing."""
        before, count = self.state, len(self.log)
        self.send(event)
        if (event.turn, event.revision) in self.observer.dead:
            assert self.state == before and len(self.log) == count

    @invariant()
    def a_reply_whose_words_are_not_final_belongs_to_the_turn_that_is_heard(self) -> None:
        reply, hearing = self.state.reply, self.state.hearing
        if reply and reply.settled is None:
            assert hearing and hearing.turn == reply.turn
        if reply and reply.settled is not None and hearing:
            assert hearing.turn > reply.turn

    @invariant()
    def the_status_promises_nothing_that_cannot_be(self) -> None:
        phase = self.state.phase
        if phase is Phase.LISTENING:
            assert self.state.microphone and not self.state.rules.push_to_talk
        if phase in (Phase.NO_MICROPHONE, Phase.DEAF):
            assert not self.state.microphone
        if phase is Phase.SPEAKING:
            assert self.state.speaker
        assert (phase is Phase.UNHEARD) <= (not self.state.speaker)

    def teardown(self) -> None:
        if not hasattr(self, "state"):
            return
        self.same_again()
        if self.state.muted:
            self.send(Pressed("mute"))
        self.send(Pressed("talk_end"))
        self.key_down = False
        for part in PARTS:
            self.send(Back(part, True))
        for _ in range(12_000 // FRAME_MS):
            self.settle_debts()
            self.frame(20)
        waits = Phase.READY if self.state.rules.push_to_talk else Phase.LISTENING
        assert self.state.phase is waits, self.state
        assert self.state.hearing is None
        assert self.state.reply is None and self.state.cutting is None
        for turn in {job.turn for job in self.observer.jobs}:
            over = any(key[0] == turn for key in self.observer.settled)
            assert over or turn in self.observer.withdrawn

    def settle_debts(self) -> None:
        """What the loop owes: every reply ends, everything said is heard. Nothing else comes."""
        for key in self.observer.asked[-1:]:
            self.send(ReplyFailed(*key, "it broke", ""))
        for key, count in list(self.observer.said.items())[-1:]:
            self.send(Silent(*key, count))

    def same_again(self) -> None:
        state, log = start(self.declared, duplex=self.duplex), list[Action]()
        for event, now in self.events:
            state, actions = step(state, event, now)
            log += actions
        assert log == self.log and state == self.state


def _many(examples: int) -> settings:
    slow = [HealthCheck.too_slow]
    return settings(
        max_examples=examples, stateful_step_count=40, deadline=None, suppress_health_check=slow
    )


def test_the_laws_hold_whatever_happens() -> None:
    run_state_machine_as_test(Conversation, settings=_many(30))


@pytest.mark.slow
def test_the_laws_hold_whatever_happens_for_long() -> None:
    run_state_machine_as_test(Conversation, settings=_many(300))


def test_the_machine_is_deterministic() -> None:
    first, second = answered(Talk()), answered(Talk())
    assert first.log == second.log
    assert first.state == second.state


def test_after_quitting_nothing_is_done() -> None:
    talk = Talk()
    talk.send(Pressed("quit"))
    assert talk.state.phase is Phase.ENDED
    assert talk.send(Frame(0, LOUD), Frame(1, QUIET), Pressed("mute"), Pressed("talk")) == []

"""Whatever fails, whenever: LILA listens again, or says why it cannot. And it does so for long."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import UnavailableError
from lila_app.voice.model import FRAME_MS, Back, Lost, Part, Pressed
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.simulation import BLOCK_MS, Given
from lila_app.voice.testing import EchoingRoom
from lila_app.voice.trace import stages
from tests.voice.scenes import Samples, Scene, framed, in_order, silence, words

REPLY = words("The Seine flows. The Loire is longer than all of them together. They all end.")
GONE = UnavailableError("the model is gone", hint="start it")

_MOMENT = st.integers(0, 9_000)
_AWAY = st.tuples(st.sampled_from(["microphone", "speaker"]), _MOMENT, st.integers(0, 3_000))
_KEYS = st.lists(st.tuples(_MOMENT, st.sampled_from(["stop", "mute"])), max_size=2)


@dataclass(frozen=True)
class Faults:
    """What goes wrong: parts go away for a while, keys are hit, replies stall and fail."""

    away: Sequence[tuple[Part, int, int]]
    keys: Sequence[tuple[int, str]]
    stall: int
    failing: int
    duplex: bool

    def script(self) -> list[tuple[int, Given]]:
        """Losses, each with its return, and keys; what was muted is opened in the end."""
        script: list[tuple[int, Given]] = []
        for part, at, ms in self.away:
            script += [(at, Lost(part, f"the {part} is gone")), (at + ms, Back(part, duplex=True))]
        for at, key in self.keys:
            script.append((at, Pressed("mute" if key == "mute" else "stop")))
        if sum(key == "mute" for _, key in self.keys) % 2:
            script.append((12_000, Pressed("mute")))
        return script


FAULTS = st.builds(
    Faults,
    away=st.lists(_AWAY, max_size=3),
    keys=_KEYS,
    stall=st.integers(0, 8),
    failing=st.integers(0, 8),
    duplex=st.booleans(),
)


def _listens_again(policy: VoicePolicy, faults: Faults) -> None:
    """The first reply stalls for four seconds, the second fails, parts go and come, keys are hit;
    then a question is asked, and its answer is spoken whole.
    """
    answers = 0

    def answer(text: str) -> Sequence[str | Exception]:
        nonlocal answers
        answers += 1
        if text.endswith("lakes?"):
            return words("There are many lakes.")
        return REPLY if answers == 1 else [*REPLY[: faults.failing], GONE]

    def pace(turn: int, count: int) -> int:
        return 4_000 if turn == 1 and count == faults.stall else 33

    scene = Scene(policy, answer=answer).says("rivers please.", after=400).silent(2_500)
    scene.says("and spain?").silent(24_000).says("what about lakes?").silent(5_000)
    scene.play(script=faults.script(), pace=pace, duplex=faults.duplex)
    assert scene.conversation.turns[max(scene.conversation.turns)].text == "what about lakes?"
    assert scene.spoken.endswith("There are many lakes.")
    assert scene.phases[-2:] == ["listening", "ended"]
    for part in {part for part, _, _ in faults.away}:
        assert in_order(scene.view.lines, f"told: the {part} is gone", f"told: the {part} is back")


@settings(max_examples=10)
@given(FAULTS)
def test_after_any_faults_a_question_is_heard_and_answered(
    policy: VoicePolicy, faults: Faults
) -> None:
    _listens_again(policy, faults)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=150)
@given(FAULTS)
def test_after_many_more_faults_too(policy: VoicePolicy, faults: Faults) -> None:
    _listens_again(policy, faults)


@pytest.mark.parametrize("part", ["microphone", "speaker"])
def test_what_never_comes_back_is_said_once(policy: VoicePolicy, part: Part) -> None:
    scene = Scene(policy, answer=lambda _: REPLY).says("rivers please.", after=400).silent(20_000)
    scene.play(script=[(2_500, Lost(part, f"the {part} is gone"))])
    assert len(scene.lines(f"told: the {part} is gone")) == 1
    waits = "no microphone" if part == "microphone" else "listening"
    assert scene.phases[-2:] == [waits, "ended"]
    if part == "speaker":
        assert scene.lines("1 unspoken: The Seine flows. The Loire")  # shown, as nobody hears it


@pytest.mark.slow
def test_with_its_echo_looped_back_it_never_answers_itself(policy: VoicePolicy) -> None:
    """Five minutes on loudspeakers, a question every 25 s, and as loud an echo as the words."""
    room = EchoingRoom(delay_ms=150, share=0.8)
    scene = Scene(policy, answer=lambda _: REPLY)
    for number in range(12):
        scene.says(f"question number{number} please.", after=500).silent(24_000)
    scene.play(duplex=False, room=room)
    assert [turn.text for turn in scene.conversation.turns.values()] == [
        f"question number{number} please." for number in range(12)
    ]
    assert not any(turn.interrupted for turn in scene.conversation.turns.values())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_half_an_hour_of_talk_takes_no_memory_loses_no_turn_and_does_not_drift(
    policy: VoicePolicy,
) -> None:
    """A question every ten seconds. Memory is counted from the tenth to the last."""
    turns = 180
    scene = Scene(policy, answer=lambda _: REPLY)
    counted: list[int] = []

    def source() -> Iterator[Samples]:
        period = np.concatenate((silence(500), scene.tones.speak("rivers please.")))
        period = np.concatenate((period, np.zeros(160_000 - len(period), np.int16)))
        for number in range(turns):
            if number in (10, turns - 1):
                counted.append(tracemalloc.get_traced_memory()[0])
            yield from framed(period)

    tracemalloc.start()
    try:
        scene.stream(source())
    finally:
        tracemalloc.stop()
    assert len(scene.traces) == len(scene.conversation.turns) == turns
    assert all(turn.reply == "".join(REPLY) for turn in scene.conversation.turns.values())
    assert counted[1] - counted[0] < 20_000_000
    assert scene.playback.starved_ms == 0
    waits = [stages(trace)["voice_to_voice"] for trace in scene.traces]
    assert max(waits) - min(waits) <= FRAME_MS + BLOCK_MS
    assert abs(sum(waits[:20]) - sum(waits[-20:])) <= 20 * (FRAME_MS + BLOCK_MS) // 4

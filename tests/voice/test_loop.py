"""The loop with threads and tasks of its own; the test turns its sound and with it its clock."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest

from lila_app.errors import LilaError, SoundError, UnavailableError
from lila_app.voice.loop import Loop
from lila_app.voice.model import FRAME, FRAME_MS, Back, Lost, Phase, Sound, Tell
from lila_app.voice.parts import Parts
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.testing import (
    Answer,
    FakeConversation,
    FakeSound,
    Loudness,
    Recorder,
    ToneRecogniser,
    Tones,
    ToneSynthesiser,
    as_written,
)
from lila_app.voice.trace import Trace
from tests.voice.scenes import Samples, framed, in_order, repeats, silence, words
from tests.waiting import PATIENCE

LONG = words("The Seine flows. The Loire is longer than all of them together. They all end.")


class _Counting(Loudness):
    """Knows how many frames it was given."""

    def __init__(self) -> None:
        self.seen = 0
        self.resets = 0
        self.hangs = False
        self.go = threading.Event()
        """Set unless a test has it hang."""
        self.go.set()

    def speech(self, frame: Samples) -> int:
        self.hangs = not self.go.is_set()
        self.go.wait(PATIENCE)
        self.hangs = False
        self.seen += 1
        return super().speech(frame)

    def reset(self) -> None:
        self.resets += 1


async def until(true: Callable[[], object]) -> None:
    """Wait for something to become true, for as long as a test may take."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 (what is waited for happens on other threads)
            await asyncio.sleep(0.001)


class _Hanging(ToneSynthesiser):
    """Begins every piece, and goes on with it once it is let go."""

    def __init__(self, tones: Tones) -> None:
        super().__init__(tones)
        self.go = threading.Event()

    def synth(self, text: str, cancel: threading.Event) -> Iterator[Sound]:
        self.go.wait(PATIENCE)
        yield from super().synth(text, cancel)


class Room:
    """A loop that runs, and what is around it."""

    def __init__(
        self,
        policy: VoicePolicy,
        answer: Answer,
        sound: FakeSound,
        voice: Callable[[Tones], ToneSynthesiser] = ToneSynthesiser,
    ) -> None:
        self.tones = Tones()
        self.activity = _Counting()
        self.recogniser = ToneRecogniser(self.tones)
        self.synthesiser = voice(self.tones)
        self.conversation = FakeConversation(answer)
        self.traces: list[Trace] = []
        self.view = Recorder()
        self.sound = sound
        self.loop = Loop(
            Parts(
                policy, self.activity, self.recogniser, self.synthesiser, self.conversation,
                as_written, self.traces.append,
            ),
            sound, self.view, clock=sound.now,
        )  # fmt: skip
        self.task = asyncio.create_task(self.loop.run())

    async def hear(self, sound: Samples) -> None:
        """Let frames come, each once the one before it was weighed."""
        for frame in framed(sound):
            await self._frame(frame)

    async def _frame(self, frame: Samples) -> None:
        seen = self.activity.seen
        self.sound.hear(frame)
        await until(lambda: self.activity.seen > seen)
        await asyncio.sleep(0)

    async def quiet_until(self, true: Callable[[], object]) -> None:
        """Let silent frames come until something is true."""
        async with asyncio.timeout(PATIENCE):
            while not true():
                await self._frame(np.zeros(FRAME, np.int16))
                await asyncio.sleep(0.001)

    async def ask(self, text: str) -> None:
        """Say this, and be silent until its reply was asked for."""
        await self.hear(self.tones.speak(text))
        await self.quiet_until(
            lambda: any(
                call.startswith("ask") and call.endswith(text) for call in self.conversation.calls
            )
        )

    @property
    def phase(self) -> str:
        phases = {str(phase) for phase in Phase}
        return next(line for line in reversed(self.view.lines) if line in phases)

    @property
    def spoken(self) -> str:
        return self.tones.read(np.concatenate([silence(0), *self.sound.output]))


@asynccontextmanager
async def room(
    policy: VoicePolicy,
    answer: Answer = repeats,
    *,
    duplex: bool = True,
    voice: Callable[[Tones], ToneSynthesiser] = ToneSynthesiser,
) -> AsyncIterator[Room]:
    before = set(threading.enumerate())
    made = Room(policy, answer, FakeSound(duplex=duplex), voice)
    await until(lambda: "listening" in made.view.lines)
    try:
        yield made
    finally:
        made.loop.press("quit")
        await made.task
        assert made.sound.closed
        left = {each.name for each in set(threading.enumerate()) - before}
        assert not [name for name in left if name.startswith("lila-")]


async def test_what_is_said_is_answered_aloud(policy: VoicePolicy) -> None:
    async with room(policy) as it:
        await it.ask("what is it?")
        await it.quiet_until(lambda: it.view.lines[-1] == "listening")
        assert it.spoken == "You said what is it. That is all."
        assert it.recogniser.hotwords == "Lila"
    assert it.conversation.calls == ["open 1", "ask 1 what is it?", "settle 1"]
    assert in_order(
        it.view.lines,
        "hearing you",
        "waiting",
        "1 heard (so far): what is it?",
        "1 heard: what is it?",
        "1 said: You said what is it. ",
        "speaking",
        "1 answered",
        "listening",
        "ended",
    )
    assert [trace.heard for trace in it.traces] == [len("You said what is it. That is all. ")]


async def test_spoken_over_it_keeps_what_was_heard_and_answers_again(policy: VoicePolicy) -> None:
    async with room(policy, lambda _: LONG) as it:
        await it.ask("rivers please.")
        await it.quiet_until(lambda: len(it.spoken.split()) >= 4)
        await it.hear(it.tones.speak("what about lakes?"))
        await it.quiet_until(lambda: it.view.lines[-1] == "listening")
    first, second = it.conversation.turns.values()
    assert first.interrupted
    assert "".join(LONG).startswith(first.reply)
    assert 3 <= len(first.reply.split()) < 12  # the fourth had begun
    assert second.reply == "".join(LONG)
    assert in_order(it.conversation.calls, "ask 1", "heard 1", "ask 2")


async def test_a_key_silences_it_and_keeps_what_was_heard(policy: VoicePolicy) -> None:
    async with room(policy, lambda _: LONG) as it:
        await it.ask("rivers please.")
        await it.quiet_until(lambda: len(it.spoken.split()) >= 3)
        it.loop.press("stop")
        await it.quiet_until(lambda: it.phase == "listening")
        said = it.spoken
        await it.hear(silence(1_000))
        assert it.spoken == said
    assert it.conversation.turns[1].interrupted


async def test_cancelled_it_keeps_what_was_heard_and_closes_the_sound(policy: VoicePolicy) -> None:
    async with room(policy, lambda _: LONG) as it:
        await it.ask("rivers please.")
        await it.quiet_until(lambda: len(it.spoken.split()) >= 4)
        it.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await it.task
        it.task = asyncio.create_task(asyncio.sleep(0))
    assert it.conversation.turns[1].interrupted
    assert it.conversation.turns[1].reply.split()[:3] == ["The", "Seine", "flows."]
    assert it.view.lines[-1] == "ended"


async def test_muted_no_frame_reaches_it(policy: VoicePolicy) -> None:
    async with room(policy) as it:
        it.loop.press("mute")
        await until(lambda: "listening (muted)" in it.view.lines)
        seen = it.activity.seen
        for frame in framed(it.tones.speak("not for you")):
            it.sound.hear(frame)
        it.loop.press("mute")
        await until(lambda: it.view.lines[-1] == "listening")
        assert it.activity.seen == seen
        await it.ask("but this.")
        assert it.activity.resets == 1
    assert it.recogniser.readings == ["but this."]


async def test_news_of_the_sound_is_told_and_a_microphone_that_is_back_hears(
    policy: VoicePolicy,
) -> None:
    async with room(policy) as it:
        it.sound.report(Tell("the microphone is muted", "unmute it"))
        it.sound.report(Lost("microphone", "it is gone"))
        it.sound.report(Back("microphone", duplex=True))
        await until(lambda: "told: the microphone is back" in it.view.lines)
        await it.ask("are you there?")
    assert in_order(it.view.lines, "told: the microphone is muted (unmute it)", "told: it is gone")


async def test_a_level_is_shown(policy: VoicePolicy) -> None:
    async with room(policy) as it:
        await it.hear(silence(300))
        await it.hear(it.tones.speak("loud words"))
    assert it.view.levels[0] == 0
    assert 100 < max(it.view.levels) < 300  # a sine of 8,000 of 32,768: 173 per mille


async def test_without_sound_it_says_so_and_leaves_no_thread(policy: VoicePolicy) -> None:
    before = threading.active_count()
    made = Room(policy, repeats, FakeSound(missing="there is no microphone"))
    with pytest.raises(SoundError, match="there is no microphone"):
        await made.task
    assert made.sound.closed
    assert threading.active_count() <= before + 1  # the event loop's own worker


async def test_a_key_pressed_before_it_runs_counts(policy: VoicePolicy) -> None:
    made = Room(policy, repeats, FakeSound())
    made.loop.press("quit")
    await made.task
    assert made.view.lines[-1] == "ended"
    made.loop.press("mute")


@pytest.mark.parametrize("error", [UnavailableError("gone", hint="start it"), ValueError("what")])
async def test_whatever_fails_is_told_and_it_listens_on(
    policy: VoicePolicy, error: Exception
) -> None:
    def answer(text: str) -> Sequence[str | Exception]:
        return [error] if "answered" in text else ["All is well."]

    async with room(policy, answer) as it:
        it.recogniser.error = error
        await it.hear(it.tones.speak("not read."))
        await it.quiet_until(lambda: any("told" in line for line in it.view.lines))
        await it.quiet_until(lambda: it.phase == "listening")
        await it.ask("not answered.")
        await it.quiet_until(lambda: it.phase == "listening" and it.conversation.closed_early)
        it.conversation.error = error
        it.synthesiser.error = error
        await it.hear(it.tones.speak("not spoken."))
        await it.quiet_until(lambda: "answered" in it.view.lines[-2])
    told = [line for line in it.view.lines if line.startswith("told")]
    assert len(told) >= 3
    message = "gone (start it)" if isinstance(error, LilaError) else "did not foresee"
    assert all(message in line for line in told)


async def test_a_voice_that_hangs_is_told_and_replies_are_shown_until_it_makes_sound_again(
    policy: VoicePolicy,
) -> None:
    voices: list[_Hanging] = []

    def voice(tones: Tones) -> _Hanging:
        voices.append(_Hanging(tones))
        return voices[-1]

    async with room(policy, duplex=False, voice=voice) as it:
        await it.ask("first.")
        await it.quiet_until(lambda: any("makes no sound" in line for line in it.view.lines))
        await it.quiet_until(lambda: "1 unspoken: You said first. That is all." in it.view.lines)
        await it.quiet_until(lambda: it.phase == "listening")
        await it.ask("second.")
        await it.quiet_until(lambda: "2 unspoken: You said second. That is all." in it.view.lines)
        it.sound.report(Lost("speaker", "unplugged"))
        voices[0].go.set()
        await it.quiet_until(lambda: voices[0].made)
        it.sound.report(Back("speaker"))
        backs = {"told: the speaker is back", "told: LILA's voice is back"}
        await it.quiet_until(lambda: not backs.isdisjoint(it.view.lines))
        await it.ask("third.")
        await it.quiet_until(lambda: it.phase == "speaking")
        await it.quiet_until(lambda: it.phase == "listening")
        assert it.spoken == "You said third. That is all."


async def test_a_hanging_voice_activity_model_is_told_and_hears_again_once_it_answers(
    policy: VoicePolicy,
) -> None:
    async with room(policy) as it:
        await it.ask("before.")
        await it.quiet_until(lambda: it.phase == "listening")
        it.activity.go.clear()
        it.sound.hear(np.zeros(FRAME, np.int16))
        await until(lambda: it.activity.hangs)
        for _ in range(policy.activity.hangs // FRAME_MS + 2):
            it.sound.hear(np.zeros(FRAME, np.int16))
        await until(lambda: it.phase == "cannot hear you")
        assert any("its model does not answer" in line for line in it.view.lines)
        it.sound.report(Lost("microphone", "unplugged"))
        await until(lambda: it.phase == "no microphone")
        assert "told: unplugged" in it.view.lines
        it.sound.report(Back("microphone", duplex=True))
        await until(lambda: it.phase == "cannot hear you")
        it.activity.go.set()
        await until(lambda: it.phase == "listening")
        await it.ask("after.")
    assert it.recogniser.readings == ["before.", "after."]
    assert it.view.lines.count("told: LILA hears you again") == 1
    assert not it.loop.stuck

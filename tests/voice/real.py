"""Conversations on a private sound card, with everything real but the model that answers.

Somebody plays recordings into the microphone; a recorder that knows nothing of LILA listens at both
ends. What is said of time is said by the recorder.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.signal import correlate

from lila_app.settings import VoiceSettings
from lila_app.voice.activity import Silero
from lila_app.voice.devices.card import SoundCard
from lila_app.voice.loop import Loop
from lila_app.voice.model import Phase
from lila_app.voice.parts import Parts
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.ports import Activity, Conversation, Recogniser, Synthesiser
from lila_app.voice.recognise.whisper import opened
from lila_app.voice.speakable import speakable
from lila_app.voice.synth.choose import engine
from lila_app.voice.testing import FakeConversation, Recorder
from lila_app.voice.trace import Trace
from tests.voice.sound import Card, Recording, Samples

RATE = 16_000
_BLOCK = RATE // 100
_LOUD = 0.05
"""Of the loudest 10 ms: what is below is the room, or the breath after a word."""

_VOICE = 0.2
"""The same where a voice begins: a breath or an "h" before it can be 250 ms of hardly a sound."""

SHORT = "That is a good question. Here is what I know about it."
LONG = 3 * (
    "The longest river of the country flows from the mountains in the south to the sea in the "
    "north and on its way it passes through hills and forests and fields and four large cities "
    "each of which was built by people who came up the river in wooden boats long ago. "
)


class ScriptedModel(FakeConversation):
    """Answers every time alike: the first token after 50 ms, 30 tokens a second then."""

    first_token = 0.05
    per_token = 0.033

    async def ask(self, turn: int, text: str) -> AsyncGenerator[str, None]:
        pieces = super().ask(turn, text)
        await asyncio.sleep(self.first_token)
        try:
            async for piece in pieces:
                yield piece
                await asyncio.sleep(self.per_token)
        finally:
            await pieces.aclose()


class SwiftModel(ScriptedModel):
    """All that a model takes is the 50 ms to its first token."""

    per_token = 0.0


def words(reply: str) -> Callable[[str], Sequence[str]]:
    """An answer that is always this reply, word by word."""
    return lambda _: [f"{word} " for word in reply.split()]


@dataclass(frozen=True)
class Senses:
    """What hears, reads and speaks: loaded once, used by every conversation."""

    activity: Activity
    recogniser: Recogniser
    synthesiser: Synthesiser


def senses(models: Path, policy: VoicePolicy, name: str = "whisper-base") -> Senses:
    return Senses(
        Silero(),
        opened(models / name, policy.recogniser, name=name, language="en"),
        engine(VoiceSettings()),
    )


def stock(policy: VoicePolicy) -> VoicePolicy:
    """What most loops do: wait a fixed time, then read 30 s of context, then ask."""
    fixed = policy.endpoint.wait
    endpoint = replace(
        policy.endpoint,
        speculate=fixed, complete=fixed, trailing=fixed, thinking=fixed, question=fixed,
    )  # fmt: skip
    return replace(policy, endpoint=endpoint, recogniser=replace(policy.recogniser, least=30_000))


class Following(Recorder):
    """A view that counts the turns that were answered."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = 0
        self.now = Phase.LISTENING
        self.interruptions: list[str] = []

    def phase(self, phase: Phase, muted: bool) -> None:
        super().phase(phase, muted)
        self.now = phase

    def interrupted(self, turn: int, heard: str) -> None:
        super().interrupted(turn, heard)
        self.interruptions.append(heard)

    def answered(self, turn: int) -> None:
        super().answered(turn)
        self.answers += 1


class Talking:
    """A conversation that runs, with both ends recorded."""

    def __init__(self, card: Card, sound: SoundCard, parts: Parts) -> None:
        self.card = card
        self.view = Following()
        self.traces: list[Trace] = []
        self.loop = Loop(replace(parts, keep=self.traces.append), sound, self.view)
        self._tail = parts.policy.interruption.tail / 1_000
        self.said_at: list[tuple[float, Samples]] = []

    async def say(self, clip: Samples) -> None:
        """Speak; returns when it was said."""
        self.said_at.append((time.monotonic(), clip))
        await asyncio.to_thread(self.card.say, clip)

    async def answered(self, turns: int, seconds: float = 60) -> None:
        """Wait until so many turns are over, and the microphone is open again after them."""
        view = self.view
        await becomes(lambda: view.answers >= turns and view.now is Phase.LISTENING, seconds)
        await asyncio.sleep(2 * self._tail)

    async def exchanges(self, clip: Samples) -> None:
        """Say a recording and hear the answer out; again, where it was not understood.

        That happens to one or the other now and then, and is counted elsewhere: here, time is.
        """
        answers = self.view.answers
        for _ in range(3):
            await self.say(clip)
            await self.until(lambda: self.view.now is Phase.LISTENING)
            await asyncio.sleep(2 * self._tail)
            if self.view.answers > answers:
                return
            self.said_at.pop()
        raise AssertionError("three times not understood: " + "; ".join(self.view.lines[-8:]))

    async def asks(self, clip: Samples) -> None:
        """Say a recording until LILA speaks; again, where it was not understood."""
        for _ in range(3):
            await self.say(clip)
            await self.until(lambda: self.view.now in (Phase.SPEAKING, Phase.LISTENING))
            if self.view.now is Phase.SPEAKING:
                return
            await asyncio.sleep(2 * self._tail)
        raise AssertionError("three times not understood: " + "; ".join(self.view.lines[-8:]))

    async def until(self, true: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until something is so."""
        await becomes(true, seconds)

    def tells(self, text: str) -> bool:
        """Whether the person was told this."""
        return any(line.startswith("told:") and text in line for line in self.view.lines)

    async def speaking(self, seconds: float = 60) -> None:
        """Wait until LILA speaks."""
        await becomes(lambda: self.view.now is Phase.SPEAKING, seconds)


async def becomes(true: Callable[[], bool], seconds: float) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 (what is waited for has no event)
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def talking(
    card: Card,
    sound: SoundCard,
    having: Senses,
    policy: VoicePolicy,
    reply: str | Conversation,
) -> AsyncIterator[Talking]:
    """A conversation that is ready to hear; `reply` is who answers, or what always is answered."""
    answers = ScriptedModel(words(reply)) if isinstance(reply, str) else reply
    parts = Parts(
        policy, having.activity, having.recogniser, having.synthesiser,
        answers, partial(speakable, language="en"), lambda trace: None,
    )  # fmt: skip
    talk = Talking(card, sound, parts)
    task = asyncio.create_task(talk.loop.run())
    try:
        await becomes(lambda: bool(talk.view.levels) or task.done(), 30)
        yield talk
    except TimeoutError as error:
        error.add_note("\n".join(talk.view.lines))
        raise
    finally:
        talk.loop.press("quit")
        await task


def near(clip: Samples) -> Samples:
    """A recording as loud as somebody who is nearer to their microphone than the speaker is."""
    return (clip * (20_000 / np.abs(clip).max())).astype(np.int16)


@dataclass(frozen=True)
class Heard:
    """A recording of both ends; times in seconds of `time.monotonic`."""

    microphone: Recording
    speaker: Recording

    def said(self, at: float, clip: Samples) -> tuple[float, float]:
        """When a recording's voice began and its last loud sample was, begun at about `at`."""
        begin, end = blocks(clip, _VOICE)[0], blocks(clip)[-1] + 1
        start = max(0, round((at - self.microphone.began) * RATE))
        whole = self.microphone.samples[start : start + len(clip) + 5 * RATE].astype(np.float64)
        place = int(np.argmax(correlate(whole, clip.astype(np.float64), "valid", "fft")))
        begun = self.microphone.began + (start + place) / RATE
        return begun + begin * _BLOCK / RATE, begun + end * _BLOCK / RATE

    def first_sound(self, after: float) -> float:
        """When the speaker first sounded after a time."""
        return self._sounds(after)[0]

    def last_sound(self, after: float, before: float) -> float:
        """When it last sounded between two times; `after` where it did not."""
        found = [at for at in self._sounds(after) if at < before]
        return found[-1] + _BLOCK / RATE if found else after

    def _sounds(self, after: float) -> list[float]:
        samples = self.speaker.samples
        times = [self.speaker.began + at * _BLOCK / RATE for at in blocks(samples)]
        return [at for at in times if at >= after]


def blocks(samples: Samples, share: float = _LOUD) -> list[int]:
    """The numbers of the 10 ms that are loud: more than a share of the loudest."""
    whole = samples[: len(samples) // _BLOCK * _BLOCK].astype(np.float64).reshape(-1, _BLOCK)
    loudness = np.sqrt((whole**2).mean(axis=1))
    return [int(at) for at in np.flatnonzero(loudness > share * loudness.max())]


async def voice_to_voice(
    card: Card,
    having: Senses,
    policy: VoicePolicy,
    clips: Sequence[Samples],
    reply: str | Conversation = SHORT,
) -> tuple[list[int], list[Trace]]:
    """Milliseconds from the last sound of each recording to the first of the reply."""
    with (
        card.recording("lila_mic.monitor") as microphone,
        card.recording("lila_spk.monitor") as speaker,
    ):
        async with talking(card, SoundCard(), having, policy, reply) as talk:
            for clip in clips:
                await talk.exchanges(clip)
    heard = Heard(microphone, speaker)
    found: list[int] = []
    for at, clip in talk.said_at:
        _, end = heard.said(at, clip)
        found.append(round(1_000 * (heard.first_sound(end) - end)))
    return found, talk.traces


async def barge_in(
    card: Card,
    sound: SoundCard,
    having: Senses,
    policy: VoicePolicy,
    question: Samples,
    interruptions: Sequence[Samples],
    speaker: str = "lila_spk.monitor",
) -> list[int]:
    """Milliseconds from the first sound of an interruption to the last of the reply."""
    with card.recording("lila_mic.monitor") as mic, card.recording(speaker) as out:
        async with talking(card, sound, having, policy, LONG) as talk:
            await talk.asks(question)
            for clip in interruptions:
                await talk.speaking()
                await asyncio.sleep(1.5)
                await talk.say(clip)
            await talk.speaking()
    heard = Heard(mic, out)
    found: list[int] = []
    for at, clip in talk.said_at[-len(interruptions) :]:
        onset, end = heard.said(at, clip)
        found.append(round(1_000 * (heard.last_sound(onset, end) - onset)))
    return found

"""Conversations that are simulated: what is said when, and what came of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lila_app.voice.model import FRAME, RATE, Phase
from lila_app.voice.parts import Parts
from lila_app.voice.policy import VoicePolicy
from lila_app.voice.ports import Activity, Recogniser, Synthesiser
from lila_app.voice.simulation import Given, Room, Simulation
from lila_app.voice.testing import (
    Answer,
    FakeConversation,
    Loudness,
    Recorder,
    ToneRecogniser,
    Tones,
    ToneSynthesiser,
    as_written,
)
from lila_app.voice.trace import Trace
from lila_app.voice.virtual import Pace

Samples = NDArray[np.int16]


def silence(ms: int) -> Samples:
    return np.zeros(ms * RATE // 1_000, np.int16)


def noise(ms: int, loudness: int, seed: int = 1) -> Samples:
    random = np.random.default_rng(seed)
    return (random.standard_normal(ms * RATE // 1_000) * loudness).astype(np.int16)


def framed(sound: Samples) -> Iterator[Samples]:
    whole = np.concatenate((sound, silence(32)))
    yield from whole[: len(whole) // FRAME * FRAME].reshape(-1, FRAME)


def words(text: str) -> list[str]:
    """A reply that comes word by word."""
    return [f"{word} " for word in text.split()]


def repeats(text: str) -> list[str]:
    return words(f"You said {text.rstrip('?.')}. That is all.")


def never(turn: int, count: int) -> int | None:
    """A model that says nothing."""
    del turn, count


@dataclass
class Scene:
    """Somebody speaks tones to LILA, who speaks tones."""

    policy: VoicePolicy
    answer: Answer = repeats
    tones: Tones = field(default_factory=Tones)
    parts: list[Samples] = field(default_factory=list)
    activity: Activity = field(default_factory=Loudness)
    recogniser: Recogniser | None = None
    log: list[str] = field(default_factory=list)
    view: Recorder = field(default_factory=Recorder)
    traces: list[Trace] = field(default_factory=list)
    conversation: FakeConversation = field(init=False)
    synthesiser: ToneSynthesiser = field(init=False)
    voice: Synthesiser | None = None
    """Speaks in place of tones."""
    reader: ToneRecogniser = field(init=False)
    sound: str = ""
    """The hash of all that left the speaker."""
    output: Samples = field(default_factory=lambda: silence(0))
    ended: int = 0

    def __post_init__(self) -> None:
        self.conversation = FakeConversation(self.answer)
        self.synthesiser = ToneSynthesiser(self.tones)
        self.reader = ToneRecogniser(self.tones)

    def says(self, text: str, *, after: int = 0) -> Scene:
        """Somebody says this, after a silence (ms)."""
        self.parts += [silence(after), self.tones.speak(text)]
        return self

    def silent(self, ms: int) -> Scene:
        self.parts.append(silence(ms))
        return self

    def hears(self, sound: Samples) -> Scene:
        self.parts.append(sound)
        return self

    def at(self) -> int:
        """The ms of all that was put in so far."""
        return sum(len(part) for part in self.parts) * 1_000 // RATE

    def play(
        self,
        *,
        duplex: bool = True,
        script: Iterable[tuple[int, Given]] = (),
        room: Room | None = None,
        pace: Pace | None = None,
        push_to_talk: bool = False,
    ) -> Scene:
        heard: list[Samples] = []
        sound = np.concatenate([silence(0), *self.parts])
        parts = self._made(push_to_talk)
        simulation = Simulation(
            parts,
            self.view,
            framed(sound),
            heard.append,
            duplex=duplex,
            script=script,
            room=room,
            pace=pace,
            log=self.log.append,
        )
        self.ended = asyncio.run(simulation.run())
        self.playback = simulation.playback
        self.output = np.concatenate(heard)
        self.sound = hashlib.sha256(self.output.tobytes()).hexdigest()
        return self

    def stream(self, source: Iterator[Samples]) -> Scene:
        """Play frames that are made as they are heard, and keep no sound and no log."""
        simulation = Simulation(self._made(False), self.view, source, lambda _: None)
        self.ended = asyncio.run(simulation.run())
        self.playback = simulation.playback
        return self

    def _made(self, push_to_talk: bool) -> Parts:
        return Parts(
            policy=self.policy,
            activity=self.activity,
            recogniser=self.recogniser or self.reader,
            synthesiser=self.voice or self.synthesiser,
            conversation=self.conversation,
            speakable=as_written,
            keep=self.traces.append,
            push_to_talk=push_to_talk,
        )

    @property
    def spoken(self) -> str:
        """What left the speaker, in words."""
        return self.tones.read(self.output)

    @property
    def phases(self) -> list[str]:
        known = {str(phase) for phase in Phase}
        return [line for line in self.view.lines if line in known]

    def lines(self, *with_words: str) -> list[str]:
        """The lines of the view that hold one of these."""
        return [line for line in self.view.lines if any(each in line for each in with_words)]

    def when(self, *with_words: str) -> int:
        """The time of the first line of the log that holds all of these."""
        return int(next(line for line in self.log if all(w in line for w in with_words)).split()[0])


def in_order(lines: Sequence[str], *wanted: str) -> bool:
    """Whether these occur among the lines in this order."""
    left = iter(lines)
    return all(any(each in line for line in left) for each in wanted)

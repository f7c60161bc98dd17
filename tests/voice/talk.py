"""A conversation with the machine by hand: frames in, actions out, and a clock of 32 ms steps."""

from __future__ import annotations

from typing import TypeVar

from lila_app.context import Source
from lila_app.paths import shipped
from lila_app.voice.machine import Rules, State, start, step
from lila_app.voice.model import (
    FRAME_MS,
    Action,
    Ask,
    Audible,
    Event,
    Frame,
    Hold,
    Paused,
    Recognise,
    Recognised,
    ReplyEnded,
    ReplyText,
    Say,
    Show,
    Silent,
    Tick,
)
from lila_app.voice.policy import VoicePolicy, load

A = TypeVar("A", bound=Action)

LOUD, QUIET = 950, 20
QUESTION = "What is the capital of France?"
HEARD = "The capital of"


def policy(*, fast: bool = False, own: str = "") -> VoicePolicy:
    """The shipped table, with a person's own laid over it."""
    path = shipped("policies") / "voice.toml"
    sources = [Source("voice.toml", path.read_text("utf-8"))]
    return load([*sources, Source("own/voice.toml", own)] if own else sources, fast=fast)


class Talk:
    """Feeds events and keeps what was to be done; `log` without what is only shown."""

    def __init__(
        self, *, duplex: bool = True, push_to_talk: bool = False, fast: bool = False
    ) -> None:
        self.state: State = start(Rules(policy(fast=fast), push_to_talk), duplex=duplex)
        self.now = 0
        self.frames = 0
        self.log: list[Action] = []
        self.shown: list[Show] = []
        self.at: dict[Action, int] = {}

    def send(self, *events: Event) -> list[Action]:
        """What is to be done after these events, at the present time."""
        done: list[Action] = []
        for event in events:
            self.state, actions = step(self.state, event, self.now)
            done += actions
        for action in done:
            self.at.setdefault(action, self.now)
        self.shown += [action for action in done if isinstance(action, Show)]
        rest: list[Action] = [action for action in done if not isinstance(action, Show)]
        self.log += rest
        return rest

    def hear(self, count: int, speech: int = LOUD) -> list[Action]:
        """So many frames, one every 32 ms."""
        done: list[Action] = []
        for _ in range(count):
            self.now += FRAME_MS
            done += self.send(Frame(self.frames, speech))
            self.frames += 1
        return done

    def speak(self, ms: int = 1_000) -> list[Action]:
        """Speech for so long."""
        return self.hear(-(-ms // FRAME_MS))

    def quiet(self, ms: int) -> list[Action]:
        """Silence for so long."""
        return self.hear(-(-ms // FRAME_MS), QUIET)

    def wait(self, ms: int) -> list[Action]:
        """Time goes on, nothing is heard."""
        done: list[Action] = []
        for _ in range(-(-ms // FRAME_MS)):
            self.now += FRAME_MS
            done += self.send(Tick())
        return done

    def read(self, text: str, *, echo: bool = False) -> list[Action]:
        """The recogniser answers the last job."""
        job = self.last(Recognise)
        return self.send(Recognised(job.turn, job.revision, text, echo=echo))

    def say(self, text: str, *, ms: int = 1_000) -> list[Action]:
        """The person says it, and it is read 192 ms into the silence after it."""
        done = self.speak(ms) + self.quiet(200)
        return done + self.read(text)

    def write(self, *pieces: str, end: bool = False) -> list[Action]:
        """The model writes on the last reply asked for."""
        ask = self.last(Ask)
        events: list[Event] = [ReplyText(ask.turn, ask.revision, piece) for piece in pieces]
        return self.send(*events, *([ReplyEnded(ask.turn, ask.revision)] if end else []))

    def sound(self) -> list[Action]:
        """The reply begins to be heard."""
        said = self.last(Say)
        return self.send(Audible(said.turn, said.revision))

    def played(self) -> list[Action]:
        """All that was said was heard."""
        said = self.last(Say)
        count = sum(
            isinstance(one, Say) and (one.turn, one.revision) == (said.turn, said.revision)
            for one in self.log
        )
        return self.send(Silent(said.turn, said.revision, count))

    def paused(self, heard: str) -> list[Action]:
        """The last hold was carried out."""
        held = self.last(Hold)
        return self.send(Paused(held.turn, held.revision, heard))

    def last(self, kind: type[A]) -> A:
        """The last action of a kind."""
        return next(action for action in reversed(self.log) if isinstance(action, kind))

    def kinds(self) -> list[str]:
        """The names of what was done, in order."""
        return [type(action).__name__ for action in self.log]


def answered(talk: Talk, question: str = QUESTION) -> Talk:
    """LILA is speaking its reply: two sentences, the first of them sounding."""
    talk.say(question)
    talk.quiet(400)
    talk.write("The capital of France is Paris. ", "It has two million people.", end=True)
    talk.sound()
    return talk

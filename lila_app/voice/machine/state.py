"""What the machine knows between two events."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lila_app.voice.chunks import Buffer
from lila_app.voice.model import Action, Part, Phase
from lila_app.voice.policy import VoicePolicy


@dataclass(frozen=True, slots=True)
class Rules:
    """What a conversation is decided by."""

    policy: VoicePolicy
    push_to_talk: bool = False


@dataclass(frozen=True, slots=True)
class Hearing:
    """A turn while the person has the word. Frames are numbers, times ms.

    `last` is the last voiced frame, `seen` the last of all. `revision` is the last reading asked
    for, `reading` the one that is being made (of frames before `read_end`), `read` says that one
    was asked for since they fell silent, `again` that a second was; `blank` that the last found no
    words where somebody may have spoken. `words` are the last that were accepted, `wait` the
    silence that ends the turn by them. `resumed` counts voiced frames since speech went on after a
    reading. `key`: held open by a key, so no silence ends it. `final`: over as soon as it is read.
    `soon`: begun over a reply so soon after the turn it answers that it may be the rest of that.
    """

    turn: int
    first: int
    last: int
    voiced: int
    wait: int
    seen: int
    silent: bool = False
    revision: int = 0
    reading: int | None = None
    read: bool = False
    again: bool = False
    blank: bool = False
    read_at: int = 0
    read_end: int = 0
    words: str = ""
    resumed: int = 0
    asks: int = 0
    key: bool = False
    final: bool = False
    soon: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, from `Ask` to the last sound of it.

    `settled` is when its words were final (None: they may not be all of them), `buffer` what is
    written and not yet said, `said` the number of pieces handed over and `done` of those that were
    heard to their end. `held` is when it was told to be silent, `heard` the answer, `alarms` how
    often that was for a noise.
    """

    turn: int
    revision: int
    text: str
    settled: int | None = None
    hearing: Hearing | None = None
    buffer: Buffer = field(default_factory=Buffer)
    written: str = ""
    fed_at: int = 0
    said: int = 0
    done: int = 0
    audible: bool = False
    ended: bool = False
    failure: tuple[str, str] | None = None
    held: int | None = None
    heard: str | None = None
    alarms: int = 0

    @property
    def sounding(self) -> bool:
        """Whether something of it may be leaving the speaker."""
        return self.audible and self.done < self.said and self.held is None


@dataclass(frozen=True, slots=True)
class Cutting:
    """A reply that is over for the machine, while it is not yet known what was heard of it."""

    turn: int
    revision: int
    written: str
    since: int


@dataclass(frozen=True, slots=True)
class State:
    """The whole of what is known; made by `start`, changed by `step` alone."""

    rules: Rules
    duplex: bool
    microphone: bool = True
    speaker: bool = True
    gone: frozenset[Part] = frozenset()
    """Parts whose device is not there, of those that are lost."""
    speaker_lost: int = 0
    muted: bool = False
    turns: int = 0
    hearing: Hearing | None = None
    reply: Reply | None = None
    cutting: Cutting | None = None
    asked: bool = False
    """Whether LILA's last words were a question."""
    shut_until: int = 0
    """Without duplex the microphone is shut until then: the room still sounds."""
    floor: int | None = None
    """The first frame that may be read; None while none may."""
    run: int = 0
    """Voiced frames in a row, of a speech that has not begun yet or not yet gone on."""
    run_since: int = 0
    quiet_first: bool = False
    """A noise that was no interruption must end before the next one can begin."""
    leaving: bool = False
    ended: bool = False

    @property
    def over(self) -> bool:
        """Whether somebody speaks while a reply that was settled is not done."""
        return self.hearing is not None and self.settled is not None

    @property
    def settled(self) -> Reply | None:
        """The reply whose turn is over."""
        return self.reply if self.reply and self.reply.settled is not None else None

    @property
    def phase(self) -> Phase:
        """What a person is shown."""
        if self.ended:
            return Phase.ENDED
        if self.over or (self.cutting and not self.hearing and not self.reply):
            return Phase.HELD
        if self.hearing:
            return Phase.MAYBE_END if self.hearing.read else Phase.HEARING
        if self.reply:
            return self._answering(self.reply)
        return self._waiting

    def _answering(self, reply: Reply) -> Phase:
        if not self.speaker and (reply.said or reply.ended):
            return Phase.UNHEARD
        return Phase.SPEAKING if reply.audible else Phase.THINKING

    @property
    def _waiting(self) -> Phase:
        if not self.microphone:
            return Phase.NO_MICROPHONE if "microphone" in self.gone else Phase.DEAF
        return Phase.READY if self.rules.push_to_talk else Phase.LISTENING


def start(rules: Rules, *, duplex: bool) -> State:
    """A conversation before its first event: both ends of the sound are there, nobody speaks.

    `duplex`: whether LILA may listen while it speaks. Where an end is missing, tell so by `Lost`.
    """
    return State(rules, duplex)


@dataclass(slots=True)
class Move:
    """One step while it is made: the state so far and what is to be done."""

    state: State
    now: int
    actions: list[Action] = field(default_factory=list[Action])

    def do(self, *actions: Action) -> None:
        """Have something done."""
        self.actions.extend(actions)

    def put(self, **changes: Any) -> None:
        """Change fields of the state."""
        self.state = replace(self.state, **changes)

    def hear(self, **changes: Any) -> Hearing:
        """Change fields of the turn that is heard, and give it back."""
        assert self.state.hearing is not None
        hearing = replace(self.state.hearing, **changes)
        self.put(hearing=hearing)
        return hearing

    def answer(self, **changes: Any) -> Reply:
        """Change fields of the reply, and give it back."""
        assert self.state.reply is not None
        reply = replace(self.state.reply, **changes)
        self.put(reply=reply)
        return reply

    @property
    def policy(self) -> VoicePolicy:
        """The thresholds."""
        return self.state.rules.policy

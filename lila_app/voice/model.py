"""What the loop's parts tell each other: events, what is to be done, and sound with its words.

A *turn* is one time the person speaks, numbered from 1; a *revision* is one reading of it. Whoever
goes on speaking before anything was answered makes a new revision of the same turn. Every event and
action carries both, so that work which comes too late is known by its numbers and dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE = 16_000
"""Samples a second of everything heard: what voice activity and recogniser were trained with."""

FRAME = 512
"""Samples of a frame: one step of the voice activity model."""

FRAME_MS = 32
"""Milliseconds of a frame."""


class Phase(StrEnum):
    """What LILA is doing, in the word a person is shown."""

    LISTENING = "listening"
    READY = "ready"
    """Push-to-talk, and no key is down: nobody is listened to."""
    NO_MICROPHONE = "no microphone"
    DEAF = "cannot hear you"
    """The microphone is there, and nothing comes of it: muted by the system, or a model hangs."""
    HEARING = "hearing you"
    MAYBE_END = "waiting"
    THINKING = "thinking"
    SPEAKING = "speaking"
    HELD = "interrupted"
    """The sound is held: somebody speaks over it, and it is not yet known whether to LILA; or a key
    stopped it, and it is not yet known what was heard."""
    UNHEARD = "cannot be heard"
    """A reply waits: the speaker is gone, or LILA's voice makes no sound."""
    ENDED = "ended"

    @property
    def idle(self) -> bool:
        """Whether nobody has the word: no turn is heard, and none is answered."""
        return self in (Phase.LISTENING, Phase.READY, Phase.NO_MICROPHONE, Phase.DEAF)


Key = Literal["mute", "stop", "talk", "talk_end", "quit"]
"""`talk` and `talk_end` are the ends of push-to-talk; `mute` closes and opens the microphone."""

Part = Literal["microphone", "speaker"]


# -- events ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame was heard: its number since the start, and how likely it is speech (per mille)."""

    number: int
    speech: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time went on without a frame (no microphone, or muted); comes about every 32 ms."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was said, by the recogniser; `text` is "" where it is nothing anybody said.

    `why` says why it was refused then. `echo` marks LILA's own words, heard through the microphone.
    """

    turn: int
    revision: int
    text: str
    why: str = ""
    echo: bool = False


@dataclass(frozen=True, slots=True)
class ReplyText:
    """The next piece of the reply, as the model writes it."""

    turn: int
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The reply is whole (or was ended by its model)."""

    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class ReplyFailed:
    """No (further) reply will come; `message` and `hint` are for the person."""

    turn: int
    revision: int
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Audible:
    """The first sample of a reply is leaving the speaker."""

    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class Silent:
    """All that was to be said of a reply so far has left the speaker.

    `said` counts the pieces (`Say`) of this revision that have, those without a sound too: one that
    was handed over meanwhile is not among them, and LILA is not taken to have ended.
    """

    turn: int
    revision: int
    said: int


@dataclass(frozen=True, slots=True)
class Paused:
    """A `Hold` was carried out; `heard` is what was heard of the reply, as the model wrote it."""

    turn: int
    revision: int
    heard: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """The person pressed a key."""

    key: Key


@dataclass(frozen=True, slots=True)
class Lost:
    """A part of the sound system went away; `why` says so and what to do about it.

    `gone` False: the device is there, and of no use as it is.
    """

    part: Part
    why: str
    gone: bool = True


@dataclass(frozen=True, slots=True)
class Back:
    """It is there (again). `duplex` False: what is spoken reaches the microphone as an echo."""

    part: Part
    duplex: bool = False


Event = (
    Frame
    | Tick
    | Recognised
    | ReplyText
    | ReplyEnded
    | ReplyFailed
    | Audible
    | Silent
    | Paused
    | Pressed
    | Lost
    | Back
)


# -- actions --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Open:
    """Somebody begins to speak: note the time, have the model read what stands before the words."""

    turn: int


@dataclass(frozen=True, slots=True)
class Recognise:
    """Read the frames from `first` up to, not with, `end`; who comes later, supersedes."""

    turn: int
    revision: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask for the reply to these words, which may still turn out not to be all of them."""

    turn: int
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class Settle:
    """The words of this revision are the turn's."""

    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class Drop:
    """End whatever is done for this revision; what still comes of it is thrown away.

    `words` False: nobody said anything, so what was kept of its words goes too.
    """

    turn: int
    revision: int
    words: bool = True


@dataclass(frozen=True, slots=True)
class Say:
    """Speak this piece of the reply after what is queued, as the model wrote it."""

    turn: int
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Be silent within a few milliseconds and keep what is queued; answered by `Paused`."""

    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Speak on from the last word that was heard."""

    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Throw the rest of a reply away, queued or not yet written; `heard` is what stays of it."""

    turn: int
    revision: int
    heard: str


@dataclass(frozen=True, slots=True)
class Show:
    """LILA is in another phase, or the microphone was muted or opened."""

    phase: Phase
    muted: bool


@dataclass(frozen=True, slots=True)
class Tell:
    """Something a person should know, not spoken."""

    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Unspoken:
    """Show a whole reply, as the model wrote it: nobody can hear it."""

    turn: int
    text: str


Action = Open | Recognise | Ask | Settle | Drop | Say | Hold | Resume | Cut | Show | Tell | Unspoken


# -- sound ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Word:
    """A word in synthesised sound: when it begins (ms), and where it stands in the spoken text."""

    at: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sound:
    """A stretch of speech: mono samples of 16 bits, and the words that begin in it.

    `Word.at` counts from the beginning of the text's sound, not of this stretch.
    """

    samples: NDArray[np.int16]
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    """A text as it is said, and for each of its characters its place in the written text."""

    text: str
    origin: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a recogniser made of a stretch of audio; `text` is "" where it refused (`why`)."""

    text: str
    why: str = ""
    language: str = ""
    again: bool = False
    """Whether it was read a second time, padded in full, because the first went in circles."""

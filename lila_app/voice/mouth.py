"""From a piece of a reply to a job for the synthesiser, and what becomes of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event as Flag

from lila_app.voice import endpoint
from lila_app.voice.echo import is_echo
from lila_app.voice.model import Cut, Drop, Recognise, Recognised, Recognition, Say, Spoken
from lila_app.voice.parts import Tell, explained
from lila_app.voice.playback import Piece, Playback
from lila_app.voice.policy import VoicePolicy

AHEAD_MS = 20_000
"""Speech is made so far ahead of what is heard: more would be memory for a reply nobody may hear
to its end, and 20 s outlast any pause of a model or a synthesiser."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece that is to be synthesised; `cancel` is set when nobody wants it any more."""

    piece: Piece
    text: str
    cancel: Flag


class Mouth:
    """Queues pieces to be heard and takes them back; used on the loop's thread alone."""

    def __init__(self, playback: Playback, speakable: Callable[[str], Spoken], tell: Tell) -> None:
        self._playback = playback
        self._speakable = speakable
        self._tell = tell
        self._cancel: dict[tuple[int, int], Flag] = {}

    def say(self, action: Say) -> Utterance:
        """Queue a piece; whoever gets the job gives it its sound and finishes it."""
        reply = action.turn, action.revision
        if reply not in self._cancel:  # pieces of one reply at a time: the others are over
            for over in self._cancel.values():
                over.set()
            self._cancel = {reply: Flag()}
        try:
            spoken = self._speakable(action.text)
        except Exception as error:  # a piece that is not queued would be waited for
            self._tell(*explained("making the reply speakable", error))
            spoken = _as_written(action.text)
        piece = self._playback.begin(*reply, action.text, spoken)
        return Utterance(piece, spoken.text, self._cancel[reply])

    def end(self, action: Cut | Drop) -> None:
        """Throw away what is queued of a reply."""
        self._playback.cut(action.turn, action.revision)
        if flag := self._cancel.pop((action.turn, action.revision), None):
            flag.set()


def understood(
    action: Recognise,
    found: Recognition,
    span: tuple[int, int],
    playback: Playback,
    policy: VoicePolicy,
) -> Recognised:
    """What a reading says to the machine; `span` is when its sound was heard, by the loop's clock.

    LILA's own words are known only where LILA was heard then or just before: what a person repeats
    afterwards is theirs, and so is a word that stops LILA.
    """
    rules = policy.interruption
    first, last = span
    echo = (
        bool(found.text)
        and playback.sounded(first - rules.tail, last)
        and not endpoint.among(found.text, policy.words.stop)
        and is_echo(found.text, playback.said(first - rules.echo_window), rules.echo_share)
    )
    return Recognised(action.turn, action.revision, found.text, found.why, echo)


def _as_written(text: str) -> Spoken:
    return Spoken(text, tuple(range(len(text))))

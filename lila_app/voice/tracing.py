"""Taking the times of turns from the events and actions that go by."""

from __future__ import annotations

from collections.abc import Callable

from lila_app.voice.model import (
    Action,
    Ask,
    Audible,
    Cut,
    Drop,
    Event,
    Frame,
    Open,
    Phase,
    Recognise,
    Recognised,
    ReplyFailed,
    ReplyText,
    Say,
    Settle,
    Show,
)
from lila_app.voice.trace import Keep, Trace


class Tracing:
    """Follows turns; two at once where somebody speaks over a reply.

    A turn in which nothing was asked for leaves no trace.
    """

    def __init__(
        self,
        ends: int,
        keep: Keep,
        heard_at: Callable[[int], int | None],
        starved: Callable[[], int] = lambda: 0,
    ) -> None:
        """`ends` is the chance (per mille) of speech from which a frame is still part of it.

        `heard_at` says when a frame came, whenever it was weighed; `starved` how much silence (ms)
        there was within speech so far, for want of sound.
        """
        self._ends = ends
        self._keep = keep
        self._heard_at = heard_at
        self._starved = starved
        self._starved_before = 0
        self._voiced: int | None = None
        self._open: dict[int, Trace] = {}
        self._settled = 0
        """The last turn whose words were taken for final."""

    def event(self, event: Event, now: int) -> None:
        """Something happened."""
        match event:
            case Frame(number=number, speech=speech):
                if speech >= self._ends:
                    self._voiced = number
            case Recognised() | ReplyText() | ReplyFailed() | Audible():
                if trace := self._of(event.turn, event.revision):
                    _note(trace, event, now)
            case _:
                pass

    def sounded(self, turn: int, revision: int, now: int) -> None:
        """The first sound of a piece was made."""
        trace = self._of(turn, revision)
        if trace is not None and trace.first_sound is None:
            trace.first_sound = now

    def finished(self, turn: int, now: int, last: int | None = None) -> None:
        """The person is taken to have finished, whether or not their words are known by now.

        `last` is their last frame of speech; None takes the last that was any. What crackles in the
        silence after it is no speech of theirs.
        """
        trace = self._open.get(turn)
        if trace is not None and trace.endpoint is None:
            trace.endpoint, trace.voiced = now, self._at(last)

    def due(self, turn: int, wait: int, now: int, last: int | None = None) -> None:
        """The turn is settled, and its words asked for a silence of `wait` ms before that.

        What went on beyond it was the reading of the words, not the wait for an end.
        """
        voiced = self._at(last)
        self.finished(turn, now if voiced is None else min(now, voiced + wait), last)

    def _at(self, last: int | None) -> int | None:
        number = self._voiced if last is None else last
        return None if number is None else self._heard_at(number)

    def action(self, action: Action, now: int) -> None:
        """Something is done."""
        match action:
            case Open(turn=turn):
                self._open[turn] = Trace(turn)
                self._starved_before = self._starved()
            case Recognise() | Ask() | Say() | Cut():
                if trace := self._open.get(action.turn):
                    _act(trace, action, now)
                if isinstance(action, Cut):
                    self._end(action.turn, now)
            case Settle(turn=turn):
                for earlier in [number for number in self._open if number < turn]:
                    self._end(earlier, now)
                self.finished(turn, now)
                self._settled = turn
            case Drop(turn=turn, words=False):
                self._open.pop(turn, None)
            case Drop(turn=turn):
                self._goes_on(turn)
            case Show(phase=phase):
                self._shown(phase, now)
            case _:
                pass

    def end(self, now: int) -> None:
        """Nothing more comes of any turn."""
        for turn in list(self._open):
            self._end(turn, now)

    def _shown(self, phase: Phase, now: int) -> None:
        if phase.idle or phase is Phase.ENDED:
            self.end(now)

    def _goes_on(self, turn: int) -> None:
        """A turn that was over is not: what its void reply took is nobody's wait."""
        trace = self._open.get(turn)
        if trace is not None and turn == self._settled:
            self._open[turn] = Trace(turn, asked=trace.asked)
            self._settled = 0

    def _end(self, turn: int, now: int) -> None:
        trace = self._open.pop(turn, None)
        if trace is not None and trace.asked:
            trace.ended = now
            trace.starved = self._starved() - self._starved_before
            self._keep(trace)

    def _of(self, turn: int, revision: int) -> Trace | None:
        trace = self._open.get(turn)
        return trace if trace is not None and trace.revision == revision else None


def _note(trace: Trace, event: Recognised | ReplyText | ReplyFailed | Audible, now: int) -> None:
    match event:
        case Recognised():
            trace.recognised = now
        case ReplyText():
            trace.first_token = now if trace.first_token is None else trace.first_token
        case ReplyFailed():
            trace.failed = True
        case Audible():
            trace.audible = now if trace.audible is None else trace.audible


def _act(trace: Trace, action: Recognise | Ask | Say | Cut, now: int) -> None:
    match action:
        case Recognise(revision=revision):
            trace.revision, trace.recognise, trace.recognised = revision, now, None
        case Ask(revision=revision):
            trace.revision, trace.ask = revision, now
            trace.asked += 1
            trace.first_token = trace.first_piece = trace.first_sound = None
            trace.speculated = trace.endpoint is None
        case Say(text=text):
            trace.first_piece = now if trace.first_piece is None else trace.first_piece
            trace.said += len(text)
            trace.heard = trace.said
        case Cut(heard=heard):
            trace.interrupted, trace.heard = now, len(heard)

"""Taking the times of turns from the events and actions that go by."""

from __future__ import annotations

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
    """Follows one turn after the other; a turn in which nothing was asked for leaves no trace."""

    def __init__(self, ends: int, keep: Keep) -> None:
        """`ends` is the chance (per mille) of speech from which a frame is still part of it."""
        self._ends = ends
        self._keep = keep
        self._voiced: int | None = None
        self._turn: Trace | None = None

    def event(self, event: Event, now: int) -> None:
        """Something happened."""
        if isinstance(event, Frame):
            if event.speech >= self._ends:
                self._voiced = now
            return
        trace = self._turn
        if trace is None:
            return
        match event:
            case Recognised(turn=turn, revision=revision) if self._is(trace, turn, revision):
                trace.recognised = now
            case ReplyText(turn=turn, revision=revision) if self._is(trace, turn, revision):
                if trace.first_token is None:
                    trace.first_token = now
            case ReplyFailed(turn=turn, revision=revision) if self._is(trace, turn, revision):
                trace.failed = True
            case Audible(turn=turn, revision=revision) if self._is(trace, turn, revision):
                if trace.audible is None:
                    trace.audible = now
            case _:
                pass

    def sounded(self, turn: int, revision: int, now: int) -> None:
        """The first sound of a piece was made."""
        trace = self._turn
        if trace is not None and self._is(trace, turn, revision) and trace.first_sound is None:
            trace.first_sound = now

    def action(self, action: Action, now: int) -> None:
        """Something is done."""
        if isinstance(action, Open):
            self.end(now)
            self._turn = Trace(action.turn)
            return
        trace = self._turn
        if trace is None:
            return
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
            case _:
                self._ending(trace, action, now)

    def _ending(self, trace: Trace, action: Action, now: int) -> None:
        match action:
            case Settle():
                self._endpoint(trace, now)
            case Cut(heard=heard):
                trace.interrupted, trace.heard = now, len(heard)
            case Drop(words=False):
                self._turn = None
            case Show(phase=Phase.THINKING):
                self._endpoint(trace, now)
            case Show(phase=Phase.HEARING) if trace.audible is None:
                trace.endpoint = None
            case Show(phase=Phase.LISTENING | Phase.ENDED):
                self.end(now)
            case _:
                pass

    def end(self, now: int) -> None:
        """The turn is over: its trace is kept."""
        trace, self._turn = self._turn, None
        if trace is not None and trace.asked:
            trace.ended = now
            self._keep(trace)

    def _endpoint(self, trace: Trace, now: int) -> None:
        if trace.endpoint is None:
            trace.endpoint, trace.voiced = now, self._voiced

    @staticmethod
    def _is(trace: Trace, turn: int, revision: int) -> bool:
        return (trace.turn, trace.revision) == (turn, revision)

"""The wheel that turns: an event comes, the machine decides, hands do it, a view is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from lila_app.voice.model import (
    Action,
    Ask,
    Cut,
    Drop,
    Event,
    Open,
    Phase,
    Say,
    Settle,
    Show,
    Tell,
)
from lila_app.voice.tracing import Tracing
from lila_app.voice.view import View

S = TypeVar("S")

Step = Callable[[S, Event, int], tuple[S, tuple[Action, ...]]]
"""The machine: `(state, event, now) -> (state, actions)`."""


class Hands(Protocol):
    """Does what the machine says. Returns at once; what comes of it comes as events, later."""

    def do(self, action: Action, now: int) -> None:
        """Begin (or end) what an action says, or do nothing where it is for the view alone."""
        ...


class Driver(Generic[S]):
    """Holds the machine's state; not thread-safe, and not to be entered again from an action."""

    def __init__(
        self, step: Step[S], state: S, hands: Hands, showing: Showing, tracing: Tracing
    ) -> None:
        self._step = step
        self._state = state
        self._hands = hands
        self._showing = showing
        self._tracing = tracing

    def take(self, event: Event, now: int) -> tuple[Action, ...]:
        """Have the machine decide about an event, and see to what it decided."""
        self._tracing.event(event, now)
        self._state, actions = self._step(self._state, event, now)
        for action in actions:
            self._tracing.action(action, now)
            self._hands.do(action, now)
            self._showing.action(action)
        return actions

    @property
    def phase(self) -> Phase:
        """What LILA is doing."""
        return self._showing.phase


class Showing:
    """Tells a view what it should know of actions."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.phase = Phase.LISTENING
        self.muted = False
        self._turn = 0
        self._words = ""
        self._told: tuple[str, str] | None = None

    def action(self, action: Action) -> None:
        """Show what an action means for the person."""
        view = self._view
        match action:
            case Open(turn=turn):
                self._over()
                self._turn, self._words = turn, ""
            case Ask(turn=turn, text=text):
                self._words = text
                view.heard(turn, text, False)
            case Settle(turn=turn):
                view.heard(turn, self._words, True)
            case Drop(turn=turn, words=False):
                if self._words:
                    view.heard(turn, "", True)
                self._words = ""
            case Say(turn=turn, text=text):
                view.said(turn, text)
            case Cut(turn=turn, heard=heard):
                view.interrupted(turn, heard)
            case Tell(text=text, hint=hint):
                self.tell(text, hint)
            case Show(phase=phase, muted=muted):
                self._show(phase, muted)
            case _:
                pass

    def tell(self, text: str, hint: str = "") -> None:
        """Tell the person something, once until it is something else or a turn goes by."""
        if self._told != (text, hint):
            self._told = (text, hint)
            self._view.told(text, hint)

    def _show(self, phase: Phase, muted: bool) -> None:
        if phase in (Phase.LISTENING, Phase.ENDED):
            self._over()
        if (phase, muted) != (self.phase, self.muted):
            self.phase, self.muted = phase, muted
            self._view.phase(phase, muted)

    def _over(self) -> None:
        turn, self._turn = self._turn, 0
        if turn:
            self._told = None
            self._view.answered(turn)

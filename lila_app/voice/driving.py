"""The wheel that turns: an event comes, the machine decides, hands do it, a view is told."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from lila_app.voice.machine import State, step
from lila_app.voice.machine.state import Hearing
from lila_app.voice.model import (
    Action,
    Ask,
    Cut,
    Drop,
    Event,
    Open,
    Phase,
    Settle,
    Show,
    Tell,
    Unspoken,
)
from lila_app.voice.playback import Begun
from lila_app.voice.tracing import Tracing
from lila_app.voice.view import View


class Hands(Protocol):
    """Does what the machine says. Returns at once; what comes of it comes as events, later."""

    def do(self, action: Action, now: int) -> None:
        """Begin (or end) what an action says, or do nothing where it is for the view alone."""
        ...


class Driver:
    """Holds the machine's state; not thread-safe, and not to be entered again from an action."""

    def __init__(self, state: State, hands: Hands, showing: Showing, tracing: Tracing) -> None:
        self._state = state
        self._hands = hands
        self._showing = showing
        self._tracing = tracing

    def take(self, event: Event, now: int) -> tuple[Action, ...]:
        """Have the machine decide about an event, and see to all that it decided.

        What one action or view raises keeps no other from being done; the first is raised then.
        """
        self._tracing.event(event, now)
        hearing = self._state.hearing
        self._state, actions = step(self._state, event, now)
        if (settled := self._state.settled) is not None:
            hearing = settled.hearing or hearing
        failed: list[Exception] = []
        for action in actions:
            if isinstance(action, Settle) and hearing is not None:
                self._tracing.due(action.turn, hearing.wait, now, self._last(hearing))
            self._tracing.action(action, now)
            for see_to in (partial(self._hands.do, now=now), self._showing.action):
                try:
                    see_to(action)
                except Exception as error:
                    failed.append(error)
        heard = self._state.hearing
        if heard is not None and heard.final:
            self._tracing.finished(heard.turn, now, self._last(heard))
        if failed:
            raise failed[0]
        return actions

    def _last(self, hearing: Hearing) -> int | None:
        """The last frame of speech; with a key held down, every frame is the turn's."""
        return None if self._state.rules.push_to_talk else hearing.last


class Showing:
    """Tells a view what it should know of actions."""

    def __init__(self, view: View, phase: Phase = Phase.LISTENING) -> None:
        """`phase` is that of the machine before its first event."""
        self._view = view
        self.phase = phase
        self.muted = False
        self._words: dict[int, str] = {}
        """Of the turns that are not over."""
        self._final: set[int] = set()
        """Those of them whose words are final."""
        self._told: tuple[str, str] | None = None

    def action(self, action: Action) -> None:
        """Show what an action means for the person."""
        match action:
            case Open() | Ask() | Settle() | Drop():
                self._person(action)
            case Cut(turn=turn, heard=heard):
                self._view.interrupted(turn, heard)
                self._over(turn)
            case Tell(text=text, hint=hint):
                self.tell(text, hint)
            case Unspoken(turn=turn, text=text):
                self._view.unspoken(turn, text)
            case Show(phase=phase, muted=muted):
                self._show(phase, muted)
            case _:
                pass

    def said(self, begun: Begun) -> None:
        """Show a piece of the reply as it begins to be heard, unless the reply is over by now."""
        if begun.turn in self._final:
            self._view.said(begun.turn, begun.text)

    def tell(self, text: str, hint: str = "") -> None:
        """Tell the person something, but not the same again within a turn."""
        if self._told != (text, hint):
            self._told = (text, hint)
            self._view.told(text, hint)

    def _person(self, action: Open | Ask | Settle | Drop) -> None:
        match action:
            case Open(turn=turn):
                self._words[turn] = ""
                self._told = None
            case Ask(turn=turn, text=text):
                self._words[turn] = text
                self._view.heard(turn, text, False)
            case Settle(turn=turn):
                for earlier in [number for number in self._words if number < turn]:
                    self._over(earlier)
                self._final.add(turn)
                self._view.heard(turn, self._words.get(turn, ""), True)
            case Drop(turn=turn, words=words):
                self._dropped(turn, words)

    def _dropped(self, turn: int, words: bool) -> None:
        final = turn in self._final
        self._final.discard(turn)
        if words and final:
            self._view.heard(turn, self._words.get(turn, ""), False)
        elif not words and self._words.pop(turn, ""):
            self._view.heard(turn, "", True)

    def _show(self, phase: Phase, muted: bool) -> None:
        if phase.idle or phase is Phase.ENDED:
            for turn in list(self._words):
                self._over(turn)
        if (phase, muted) != (self.phase, self.muted):
            self.phase, self.muted = phase, muted
            self._view.phase(phase, muted)

    def _over(self, turn: int) -> None:
        self._final.discard(turn)
        if self._words.pop(turn, ""):
            self._view.answered(turn)

"""One exchange of the transcript as plain data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from lila_app.views import TurnInfo

Kind = Literal["notice", "error"]


@dataclass(frozen=True, slots=True)
class ExchangeNote:
    """Something said below a reply that is not part of it."""

    kind: Kind
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the person said and what LILA answered; `stopped` marks a partial reply."""

    user: str
    reply: str = ""
    stopped: bool = False
    notes: tuple[ExchangeNote, ...] = ()

    def noted(self, kind: Kind, text: str, hint: str = "") -> Exchange:
        """This exchange with one more note."""
        return replace(self, notes=(*self.notes, ExchangeNote(kind, text, hint)))

    def ended(self, reply: str, *, stopped: bool) -> Exchange:
        """This exchange with its reply."""
        return replace(self, reply=reply, stopped=stopped)


def from_turn(turn: TurnInfo) -> Exchange:
    """A stored turn as an exchange."""
    if turn.reply is None:
        return Exchange(turn.user).noted("notice", "this message was not answered")
    return Exchange(turn.user, turn.reply, turn.stopped)

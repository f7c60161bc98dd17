"""What a front-end shows of a spoken conversation."""

from __future__ import annotations

from typing import Protocol

from lila_app.voice.model import Phase


def status(phase: Phase, muted: bool) -> str:
    """What goes on, as a status line says it: the same words in every front-end."""
    if not muted:
        return str(phase)
    return "muted" if phase in (Phase.LISTENING, Phase.READY) else f"{phase}, muted"


class View(Protocol):
    """What shows a spoken conversation. Called on the event loop's thread; must return at once."""

    def phase(self, phase: Phase, muted: bool) -> None:
        """LILA does something else now, or the microphone was muted or opened."""
        ...

    def heard(self, turn: int, text: str, final: bool) -> None:
        """A turn's words, in place of those told of it before; "" takes them back.

        Until they are `final` they may still change. Words that were `final` and are told again
        take what was said of a reply back too: the person went on.
        """
        ...

    def said(self, turn: int, text: str) -> None:
        """The next piece of the reply, as its model wrote it, begins to be heard."""
        ...

    def unspoken(self, turn: int, text: str) -> None:
        """The whole reply, as its model wrote it, which nobody can hear; it is to be read."""
        ...

    def interrupted(self, turn: int, heard: str) -> None:
        """The reply ends here: `heard`, in place of all that was told of it, is what was heard."""
        ...

    def answered(self, turn: int) -> None:
        """A turn is over; nothing more comes of it."""
        ...

    def told(self, text: str, hint: str) -> None:
        """Something a person should know that nobody says."""
        ...

    def level(self, level: int) -> None:
        """How loud the microphone is, per mille of the loudest; about ten times a second."""
        ...

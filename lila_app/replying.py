"""What came of a reply so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from lila_app.gateway.port import Call, Carried, Finished, ProviderEvent, TextDelta, Usage

GAP = "\n\n"
"""Between what was said before tools were asked for and what was said after."""


@dataclass(slots=True)
class Reply:
    """One answer of a model within a turn, and how it ended ("" while it has not).

    `earlier` is what the person saw of the turn's answers before it, which asked for tools.
    """

    earlier: str = ""
    pieces: list[str] = field(default_factory=list[str])
    calls: list[Call] = field(default_factory=list[Call])
    carried: list[Carried] = field(default_factory=list[Carried])
    usage: Usage = field(default_factory=Usage)
    finished: str = ""

    @property
    def said(self) -> str:
        """The visible text of this answer."""
        return "".join(self.pieces)

    @property
    def text(self) -> str:
        """What the person saw, of the whole turn."""
        return self.earlier + (GAP if self.earlier and self.said else "") + self.said

    @property
    def asks(self) -> bool:
        """Whether it ended by asking for tools; one that was cut asks for nothing."""
        return bool(self.calls) and self.finished != "length"

    def shown(self, text: str) -> str:
        """The next piece as the person is to see it."""
        return GAP + text if self.earlier and text and not self.said else text

    def take(self, event: ProviderEvent) -> None:
        """Keep what an event says."""
        match event:
            case TextDelta(text=text):
                self.pieces.append(text)
            case Call():
                self.calls.append(event)
            case Carried():
                self.carried.append(event)
            case Usage():
                self.usage = event
            case Finished(reason=reason):
                self.finished = reason
            case _:
                pass

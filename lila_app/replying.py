"""What came of a reply so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from lila_app.gateway.port import Finished, ProviderEvent, TextDelta, Usage


@dataclass(slots=True)
class Reply:
    """The visible text, what the provider reported, and how it ended ("" while it has not)."""

    pieces: list[str] = field(default_factory=list[str])
    usage: Usage = field(default_factory=Usage)
    finished: str = ""

    @property
    def text(self) -> str:
        """What the person saw."""
        return "".join(self.pieces)

    def take(self, event: ProviderEvent) -> None:
        """Keep what an event says."""
        match event:
            case TextDelta(text=text):
                self.pieces.append(text)
            case Usage():
                self.usage = event
            case Finished(reason=reason):
                self.finished = reason
            case _:
                pass

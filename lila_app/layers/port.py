"""What a layer is asked, and the protocol it answers by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lila_app.context.items import Item
from lila_app.context.policy import FORMER_PAST, Policy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Question:
    """One turn's question to the layers.

    `text` is the query by the declared rule, `vector` gives its embedding (float32 [384], computed
    once for all layers; blocks until it is there). `before_sequence` hides the turn being
    answered. `pack` are the memory ids frozen into the profile at the start of the epoch; None
    takes what is core now. `now` is ISO 8601 with zone. `past` and `whole` are the use case's: how
    many earlier turns may be offered, and whether each is to stand whole and by itself.
    """

    text: str
    vector: Callable[[], NDArray[np.float32]]
    session_id: str | None
    before_sequence: int | None
    pack: tuple[str, ...] | None
    now: str
    policy: Policy
    past: int = FORMER_PAST
    whole: bool = False


class Layer(Protocol):
    """Something that knows one kind of thing about the person."""

    @property
    def name(self) -> str:
        """One of the five names of the policy."""
        ...

    @property
    def source(self) -> str:
        """Where it knows it from, in words, for the record."""
        ...

    def offer(self, question: Question) -> tuple[Item, ...]:
        """Candidates for this question; reads, never writes. Safe to call from any thread."""
        ...

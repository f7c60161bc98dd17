"""What a layer offers: items, each atomic, each with the few fixed forms it may take.

Everything here is frozen plain data. An item's bytes depend on the item and the policy version
alone, never on its siblings. The full form is rendered by the layer before the assembler chooses;
the shorter ones, which one item in forty is taken in, when they are first looked at (`Forms`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import overload

Counter = Callable[[str], int]
"""Tokens of a text under the one declared tokenizer; total and deterministic."""

TOP_SCORE = 10_000
"""Scores are integers from 0 to this, calibrated per layer so that a floor means something."""


class Placement(StrEnum):
    """Where an item is rendered, which decides whether its tokens are standing or recalled."""

    PROFILE = "profile"
    """L2, once per epoch: core memory and style. Standing, from memory's share."""
    GOAL = "goal"
    """L3, pinned goals. Standing, from session's share."""
    TURN = "turn"
    """L3, a whole turn of this session's window. Standing, from conversation's share."""
    RECALLED = "recalled"
    """L4, fresh on every request."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One fixed form of an item: `full`, `half`, `quarter` or `stub`, longest first.

    `text` is the rendered form, without a trailing newline. For a turn it is what the person
    said and `reply` what LILA answered; for anything else `reply` is None. `tokens` is the count
    of the form as it stands in the prompt, with its line end and, for a turn, its role lines: make
    variants with `recalled` and `exchange`, which count them so.
    """

    name: str
    text: str
    tokens: int
    reply: str | None = None


class Forms(Sequence[Variant]):
    """The forms of an item of which the shorter ones are made once somebody looks past the first.

    `shorter` must follow from the item alone and give the same forms whenever it is called, the
    longest first, none of fewer than `least` tokens. To weigh the sentences of a passage takes
    0.4 ms, and most passages fit whole.
    """

    __slots__ = ("_held", "_least", "_shorter")

    def __init__(
        self, full: Variant, least: int, shorter: Callable[[], tuple[Variant, ...]]
    ) -> None:
        self._held = (full,)
        self._least = least
        self._shorter: Callable[[], tuple[Variant, ...]] | None = shorter

    @property
    def made(self) -> tuple[Variant, ...]:
        """The full form alone, or all, if a shorter one was looked at."""
        return self._held

    @property
    def least(self) -> int:
        """Tokens that the shortest form has at the least."""
        return self._least

    def _all(self) -> tuple[Variant, ...]:
        # Two threads may come here together: they make the same forms.
        if (shorter := self._shorter) is not None:
            self._held = (self._held[0], *shorter())
            self._shorter = None
        return self._held

    def __iter__(self) -> Iterator[Variant]:
        yield self._held[0]
        yield from self._all()[1:]

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Variant: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Variant, ...]: ...
    def __getitem__(self, index: int | slice) -> Variant | tuple[Variant, ...]:
        return self._held[0] if index == 0 else self._all()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Forms):
            return self._all() == other._all()
        return self._all() == other

    def __hash__(self) -> int:
        return hash(self._all())


def longest(variants: Sequence[Variant], room: int) -> tuple[int, int] | None:
    """Place and tokens of the longest form of at most `room` tokens; None if none is so short."""
    if (full := variants[0].tokens) <= room:
        return 0, full
    if isinstance(variants, Forms) and variants.least > room:
        return None
    return next((at for at in enumerate(v.tokens for v in variants) if at[1] <= room), None)


ROLE_LINE = "<|{role}|>\n"
"""How a message opens in the prompt text; the adapters turn it into the provider's own framing."""


def recalled(name: str, text: str, count: Counter) -> Variant:
    """A variant of anything but a turn, counted as it is rendered."""
    return Variant(name, text, count(text + "\n"))


def exchange(name: str, user: str, reply: str, count: Counter) -> Variant:
    """A variant of a turn, counted as it is rendered."""
    return Variant(name, user, count(exchange_text(user, reply)), reply)


def exchange_text(user: str, reply: str) -> str:
    """A turn as it stands in the prompt."""
    return f"{ROLE_LINE.format(role='user')}{user}\n{ROLE_LINE.format(role='assistant')}{reply}\n"


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate.

    `id` is unique over all layers ("m12", "r7", "d4.3", "t99"); `sequence` orders turns by event;
    `digest` is the HMAC storage keeps for the payload, so that records need no plain hash;
    `score` is 0..10,000; `source` says in words where it comes from; `at` is ISO 8601 with zone
    or empty. A superseded or private item is offered so that the record can say it was dropped,
    and so is a `duplicate`: one that says nothing another item of the layer does not say as well.
    Raises ValueError without a variant, or with a score off the scale.
    """

    id: str
    layer: str
    placement: Placement
    variants: Sequence[Variant]
    score: int = 0
    source: str = ""
    digest: str = ""
    at: str = ""
    sequence: int = 0
    external_ids: tuple[str, ...] = ()
    pinned: bool = False
    superseded: bool = False
    private: bool = False
    duplicate: bool = False

    def __post_init__(self) -> None:
        if next(iter(self.variants), None) is None or not 0 <= self.score <= TOP_SCORE:
            raise ValueError(f"item {self.id} has no variant, or the score {self.score}")


def tokens_of(items: Sequence[Item]) -> int:
    """Tokens of items in full."""
    return sum(item.variants[0].tokens for item in items)


@dataclass(frozen=True, slots=True)
class LayerAnswer:
    """What one layer offered for one turn, the query it was asked and how long it took.

    A layer that missed the deadline has `answered=False` and no items. `ms` is wall time in
    milliseconds, an input like any other: it is recorded and never influences the bytes.
    """

    layer: str
    query: str
    items: tuple[Item, ...]
    ms: int = 0
    answered: bool = True
    source: str = ""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What the answering model can take, frozen per epoch.

    `window` and `context_budget` are tokens (the budget is what LILA chooses to spend on this
    model); `token_ratio` is the largest seen ratio of the model's own tokens to the declared
    tokenizer's, in integer basis points (10,000 = equal). `tools` says whether it can call tools:
    one that cannot is offered none, so that their definitions cost it nothing.
    """

    window: int
    context_budget: int
    token_ratio: int = 10_000
    tools: bool = False

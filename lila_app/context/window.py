"""The conversation's window: cut on a grid with hysteresis, never one turn at a time.

A window that slides by a turn breaks the cached prefix on every turn. Here a cut takes out whole
grid steps at once and leaves a summary, as one event; until the next one the prefix only grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.context.items import Item, Variant, longest
from lila_app.context.policy import WindowPolicy


@dataclass(frozen=True, slots=True)
class Framed:
    """A turn in the form it takes in this window."""

    item: Item
    variant: Variant


@dataclass(frozen=True, slots=True)
class Window:
    """The turns that stay, those a cut takes out, and whether the cut could not wait."""

    kept: tuple[Framed, ...]
    cut: tuple[Framed, ...]

    @property
    def tokens(self) -> int:
        """Tokens of the turns that stay."""
        return sum(framed.variant.tokens for framed in self.kept)


def grid_step(room: int, policy: WindowPolicy) -> int:
    """The step g in tokens: the declared grid, at most half the window of a small model."""
    return max(1, min(policy.grid, room // 2))


def frame(turns: Sequence[Item], room: int, policy: WindowPolicy) -> tuple[Framed, ...]:
    """Every turn in its longest form of at most room/keep_turns tokens, else its shortest.

    The ceiling follows the policy and the limits alone, so a turn keeps its bytes for a whole
    epoch, and the last `keep_turns` turns fit the window together. Only where not even a stub is
    short enough do they outgrow it: the last turns stay, whatever the share says.
    """
    ceiling = room // policy.keep_turns
    ordered = sorted(turns, key=lambda turn: (turn.sequence, turn.id))
    return tuple(Framed(turn, _framed(turn.variants, ceiling)) for turn in ordered)


def _framed(variants: Sequence[Variant], ceiling: int) -> Variant:
    found = longest(variants, ceiling)
    return variants[-1] if found is None else variants[found[0]]


def due(turns: Sequence[Framed], room: int, policy: WindowPolicy) -> Window:
    """The window after the cut that is due once it holds more than `room` tokens."""
    total = sum(framed.variant.tokens for framed in turns)
    if total <= room:
        return Window(tuple(turns), ())
    step = grid_step(room, policy)
    goal = -(-(total - room) // step) * step
    return _cut(turns, goal, policy.keep_turns)


def forced(turns: Sequence[Framed], room: int, policy: WindowPolicy) -> Window:
    """The window for a request: it may overrun `room` by one grid step while a cut is pending."""
    total = sum(framed.variant.tokens for framed in turns)
    if total <= room + grid_step(room, policy):
        return Window(tuple(turns), ())
    return due(turns, room, policy)


def shrink(turns: Sequence[Framed], excess: int, room: int, policy: WindowPolicy) -> Window:
    """The window after a cut of at least `excess` tokens, in whole grid steps."""
    step = grid_step(room, policy)
    return _cut(turns, -(-excess // step) * step, policy.keep_turns)


def _cut(turns: Sequence[Framed], goal: int, keep: int) -> Window:
    gone = taken = 0
    while gone < goal and taken < len(turns) - keep:
        gone += turns[taken].variant.tokens
        taken += 1
    return Window(tuple(turns[taken:]), tuple(turns[:taken]))

"""Filling L4: which recalled items go in, in which variant, out of what the standing parts left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lila_app.context.allocate import allocate_tokens, fill_items
from lila_app.context.items import Item, Variant
from lila_app.context.policy import UseCase
from lila_app.context.screen import Dropped, Reason, Screened
from lila_app.errors import PinnedOverflowError


@dataclass(frozen=True, slots=True)
class Chosen:
    """A recalled item in the variant it takes."""

    item: Item
    variant: Variant


@dataclass(frozen=True, slots=True)
class Recall:
    """The outcome: items per layer in the order they were admitted, and tokens granted."""

    chosen: tuple[Chosen, ...]
    dropped: tuple[Dropped, ...]
    granted: tuple[int, ...]


def recall(
    screened: Sequence[Screened], row: UseCase, held: Mapping[str, int], pool: int
) -> Recall:
    """Fill `pool` tokens. `held[layer]` are the layer's standing tokens.

    Pinned items go in first, whole, within their layer's cap; PinnedOverflowError otherwise.
    `granted` is what capped D'Hondt gives each layer in tokens, standing ones included.
    """
    pins = [_pins(layer, row, held[layer.layer], pool) for layer in screened]
    pinned = [sum(item.variants[0].tokens for item in layer) for layer in pins]
    if sum(pinned) > pool:
        worst = max(range(len(pins)), key=lambda i: pinned[i])
        raise PinnedOverflowError(
            layer=screened[worst].layer,
            cap=pool,
            tokens=sum(pinned),
            items=tuple(item.id for layer in pins for item in layer),
        )
    free = [[item for item in layer.recalled if not item.pinned] for layer in screened]
    weights = [share.ratio for share in row.layers]
    start = [held[layer.layer] + pinned[i] for i, layer in enumerate(screened)]
    room = [max(0, share.cap - start[i]) for i, share in enumerate(row.layers)]
    demand = [sum(item.variants[0].tokens for item in items) for items in free]
    left = pool - sum(pinned)
    granted = allocate_tokens(
        left, weights, [min(r, d) for r, d in zip(room, demand, strict=True)], start
    )
    admitted = fill_items(
        left,
        weights,
        room,
        [[[v.tokens for v in item.variants] for item in items] for items in free],
        start,
    )
    chosen = [Chosen(item, item.variants[0]) for layer in pins for item in layer]
    for entry in admitted:
        item = free[entry.layer][entry.index]
        chosen.append(Chosen(item, item.variants[entry.variant]))
    taken = {(entry.layer, entry.index) for entry in admitted}
    spent = [sum(e.size for e in admitted if e.layer == i) for i in range(len(free))]
    dropped = tuple(
        Dropped(item, _reason(item, room[i] - spent[i]))
        for i, items in enumerate(free)
        for k, item in enumerate(items)
        if (i, k) not in taken
    )
    return Recall(tuple(chosen), dropped, tuple(g + s for g, s in zip(granted, start, strict=True)))


def _pins(layer: Screened, row: UseCase, held: int, pool: int) -> list[Item]:
    pins = [item for item in layer.recalled if item.pinned]
    cap = min(row.layer(layer.layer).cap - held, pool)
    tokens = sum(item.variants[0].tokens for item in pins)
    if tokens > cap:
        raise PinnedOverflowError(
            layer=layer.layer, cap=cap, tokens=tokens, items=tuple(item.id for item in pins)
        )
    return pins


def _reason(item: Item, room: int) -> Reason:
    """The cap is to blame where the smallest form would not fit under it, else the budget."""
    return Reason.LAYER_CAP if item.variants[-1].tokens > room else Reason.BUDGET


def edges(chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """Best first and second best last, the weakest in the middle, where models read least."""
    return tuple(chosen[::2]) + tuple(reversed(chosen[1::2]))

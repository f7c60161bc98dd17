"""Filling L4: which recalled items go in, in which variant, out of what the standing parts left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lila_app.context.allocate import allocate_tokens, fill_items
from lila_app.context.items import Item, Variant, longest, tokens_of
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


def pins_of(layer: Screened) -> tuple[Item, ...]:
    """What the layer recalls whatever the question."""
    return tuple(item for item in layer.recalled if item.pinned)


def recall(
    screened: Sequence[Screened],
    row: UseCase,
    held: Mapping[str, int],
    rooms: Mapping[str, int],
    pool: int,
) -> Recall:
    """Fill `pool` tokens, which hold at least the pinned items.

    `held[layer]` are the layer's standing tokens, `rooms[layer]` what its L4 block may hold
    besides its cap. Pinned items go in first, whole, within both; PinnedOverflowError otherwise.
    `granted` is what capped D'Hondt gives each layer in tokens, standing ones included.
    """
    pins = [_pins(layer, row, held[layer.layer], rooms[layer.layer]) for layer in screened]
    pinned = [tokens_of(layer) for layer in pins]
    free = [[item for item in layer.recalled if not item.pinned] for layer in screened]
    weights = [share.ratio for share in row.layers]
    start = [held[layer.layer] + pinned[i] for i, layer in enumerate(screened)]
    room = [
        max(0, min(share.cap - start[i], rooms[share.name] - pinned[i]))
        for i, share in enumerate(row.layers)
    ]
    demand = [tokens_of(items) for items in free]
    left = pool - sum(pinned)
    granted = allocate_tokens(
        left, weights, [min(r, d) for r, d in zip(room, demand, strict=True)], start
    )
    admitted = fill_items(
        left,
        weights,
        room,
        [[partial(longest, item.variants) for item in items] for items in free],
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


def _pins(layer: Screened, row: UseCase, held: int, room: int) -> tuple[Item, ...]:
    pins = pins_of(layer)
    cap = max(0, min(row.layer(layer.layer).cap - held, room))
    if (tokens := tokens_of(pins)) > cap:
        raise PinnedOverflowError(
            layer=layer.layer, cap=cap, tokens=tokens, items=tuple(item.id for item in pins)
        )
    return pins


def yielded(recall: Recall, overflow: int) -> Recall | None:
    """The recall without the items admitted last, `overflow` tokens of them and at least one.

    Pinned items stay; None where there is nothing else.
    """
    kept = list(recall.chosen)
    gone: list[Dropped] = []
    freed = 0
    while (freed < overflow or not gone) and kept and not kept[-1].item.pinned:
        last = kept.pop()
        freed += last.variant.tokens
        gone.append(Dropped(last.item, Reason.RECOUNT))
    if not gone:
        return None
    return replace(recall, chosen=tuple(kept), dropped=recall.dropped + tuple(gone))


def _reason(item: Item, room: int) -> Reason:
    """The cap is to blame where the smallest form would not fit under it, else the budget."""
    return Reason.LAYER_CAP if longest(item.variants, room) is None else Reason.BUDGET


def edges(chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """Best first and second best last, the weakest in the middle, where models read least."""
    return tuple(chosen[::2]) + tuple(reversed(chosen[1::2]))

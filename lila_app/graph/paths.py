"""A shortest path between two entities, searched from both ends at once.

From one end alone a search reads nearly every relation there is once it is three steps out; from
both ends it reads those within half the distance (8 ms against 0.3 ms at 10,000 relations,
tests/benchmarks, 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lila_app.graph.snapshot import Edge

Around = Callable[[int], "Sequence[Edge]"]
"""Gives the edges of an entity."""

Holds = Callable[["Edge"], bool]
Orders = tuple[Callable[[int], Any], Callable[["Edge"], Any]]
"""The keys by which entities and edges are sorted."""


def shortest_path(
    around: Around,
    one: int,
    other: int,
    holds: Holds,
    orders: Orders,
    longest: int | None = None,
) -> tuple[Edge, ...]:
    """The edges of a shortest path over those that hold; empty when none has at most `longest`.

    Direction does not matter for being connected. Among shortest paths the one is taken whose
    entities, read back from `other`, come first; among parallel edges the first of them.
    """
    if one == other:
        return ()
    ahead, behind = [{one}], [{other}]
    seen_ahead, seen_behind = {one}, {other}
    while not ahead[-1] & behind[-1]:
        if longest is not None and len(ahead) + len(behind) - 2 >= longest:
            return ()
        if len(ahead[-1]) <= len(behind[-1]):
            reached = _step(around, ahead, seen_ahead, holds)
        else:
            reached = _step(around, behind, seen_behind, holds)
        if not reached:
            return ()
    layers = _layers(around, ahead, behind, holds)
    return _read_back(around, other, layers, holds, orders)


def _step(around: Around, layers: list[set[int]], seen: set[int], holds: Holds) -> set[int]:
    """Add the layer one step further out, and return it."""
    found = {
        edge.other(known)
        for known in layers[-1]
        for edge in around(known)
        if edge.other(known) not in seen and holds(edge)
    }
    layers.append(found)
    seen |= found
    return found


def _layers(
    around: Around, ahead: list[set[int]], behind: list[set[int]], holds: Holds
) -> list[set[int]]:
    """By distance from the one end, every entity that lies on a shortest path."""
    middle = ahead[-1] & behind[-1]
    first, second = [middle], [middle]
    for layer in reversed(ahead[:-1]):
        first.append(_beside(around, layer, first[-1], holds))
    for layer in reversed(behind[:-1]):
        second.append(_beside(around, layer, second[-1], holds))
    return [*reversed(first), *second[1:]]


def _beside(around: Around, layer: set[int], on_path: set[int], holds: Holds) -> set[int]:
    """Those of a layer that touch one that is on a shortest path."""
    return {
        edge.other(known)
        for known in on_path
        for edge in around(known)
        if edge.other(known) in layer and holds(edge)
    }


def _read_back(
    around: Around,
    other: int,
    layers: Sequence[set[int]],
    holds: Holds,
    orders: Orders,
) -> tuple[Edge, ...]:
    steps: list[Edge] = []
    entity = other
    for layer in reversed(layers[:-1]):
        ways = [edge for edge in around(entity) if edge.other(entity) in layer and holds(edge)]
        before = min({way.other(entity) for way in ways}, key=orders[0])
        steps.append(min((way for way in ways if way.other(entity) == before), key=orders[1]))
        entity = before
    return tuple(reversed(steps))

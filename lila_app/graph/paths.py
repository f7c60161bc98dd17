"""A shortest path between two entities, searched from both ends at once.

From one end alone a search reads nearly every relation there is once it is three steps out; from
both ends it reads those within half the distance (8 ms against 0.3 ms at 10,000 relations,
tests/benchmarks, 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lila_app.storage.relations import RelationRow
from lila_app.storage.values import sort_key

Near = Mapping[str, Sequence[tuple[str, RelationRow]]]
"""The relations of each entity with the entity at their other end, by relation id."""

Holds = Callable[[RelationRow], bool]


def shortest_path(near: Near, one: str, other: str, holds: Holds) -> tuple[RelationRow, ...]:
    """The relations of a shortest path over those that hold; empty when there is none.

    Direction does not matter for being connected. Among shortest paths the one is taken whose
    entities, read back from `other`, come first by id; among parallel relations the first by id.
    """
    if one == other or one not in near or other not in near:
        return ()
    ahead, behind = [{one}], [{other}]
    seen_ahead, seen_behind = {one}, {other}
    while not ahead[-1] & behind[-1]:
        if len(ahead[-1]) <= len(behind[-1]):
            reached = _step(near, ahead, seen_ahead, holds)
        else:
            reached = _step(near, behind, seen_behind, holds)
        if not reached:
            return ()
    return _read_back(near, other, _layers(near, ahead, behind, holds), holds)


def _step(near: Near, layers: list[set[str]], seen: set[str], holds: Holds) -> set[str]:
    """Add the layer one step further out, and return it."""
    found = {
        entity
        for known in layers[-1]
        for entity, row in near[known]
        if entity not in seen and holds(row)
    }
    layers.append(found)
    seen |= found
    return found


def _layers(
    near: Near, ahead: list[set[str]], behind: list[set[str]], holds: Holds
) -> list[set[str]]:
    """By distance from the one end, every entity that lies on a shortest path."""
    middle = ahead[-1] & behind[-1]
    first, second = [middle], [middle]
    for layer in reversed(ahead[:-1]):
        first.append(_beside(near, layer, first[-1], holds))
    for layer in reversed(behind[:-1]):
        second.append(_beside(near, layer, second[-1], holds))
    return [*reversed(first), *second[1:]]


def _beside(near: Near, layer: set[str], on_path: set[str], holds: Holds) -> set[str]:
    """Those of a layer that touch one that is on a shortest path."""
    return {
        entity for known in on_path for entity, row in near[known] if entity in layer and holds(row)
    }


def _read_back(
    near: Near, other: str, layers: Sequence[set[str]], holds: Holds
) -> tuple[RelationRow, ...]:
    steps: list[RelationRow] = []
    entity = other
    for layer in reversed(layers[:-1]):
        ways = [(sort_key(found), found, row) for found, row in near[entity] if found in layer]
        # `near` is in the order of relation ids, so the first that holds is the first by id.
        _, before, row = min(
            ((key, found, row) for key, found, row in ways if holds(row)), key=lambda way: way[0]
        )
        steps.append(row)
        entity = before
    return tuple(reversed(steps))

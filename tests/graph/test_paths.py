"""Shortest paths, against networkx on the graph of what holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from lila_app.graph.paths import shortest_path
from lila_app.graph.snapshot import Edge

Drawn = tuple[int, int, bool]


def edge(number: int, drawn: Drawn) -> Edge:
    return Edge(number, drawn[0], "knows", drawn[1], "yes" if drawn[2] else None, None, "current")


def around(edges: Sequence[Edge]) -> Callable[[int], Sequence[Edge]]:
    near: dict[int, list[Edge]] = {}
    for one in edges:
        near.setdefault(one.subject, []).append(one)
        if one.object != one.subject:
            near.setdefault(one.object, []).append(one)
    return lambda entity: near.get(entity, ())


def expected(edges: Sequence[Edge], one: int, other: int) -> tuple[int, ...]:
    """By hand: of all shortest paths the one that read backwards has the smallest numbers."""
    graph: nx.Graph[int] = nx.Graph()
    for drawn in edges:
        if drawn.valid_from:
            graph.add_edge(drawn.subject, drawn.object)
    if one == other or one not in graph or other not in graph or not nx.has_path(graph, one, other):
        return ()
    paths = nx.all_shortest_paths(graph, one, other)
    best = min(paths, key=lambda path: list(reversed(path)))
    return tuple(
        min(
            drawn.id
            for drawn in edges
            if drawn.valid_from and {drawn.subject, drawn.object} == {a, b}
        )
        for a, b in pairwise(best)
    )


def by_id(drawn: Edge) -> int:
    return drawn.id


def found(edges: Sequence[Edge], one: int, other: int, longest: int | None) -> tuple[int, ...]:
    orders = (lambda entity: entity, by_id)
    path = shortest_path(
        around(edges), one, other, lambda drawn: bool(drawn.valid_from), orders, longest
    )
    return tuple(drawn.id for drawn in path)


entities = st.integers(1, 14)
drawings = st.lists(st.tuples(entities, entities, st.sampled_from([True, True, True, False])))


@given(drawings, entities, entities)
def test_a_path_is_the_shortest_over_what_holds_and_the_first_in_order(
    drawn: list[Drawn], one: int, other: int
) -> None:
    edges = [edge(number, row) for number, row in enumerate(drawn, 1)]
    assert found(edges, one, other, None) == expected(edges, one, other)


@given(drawings, entities, entities, st.integers(1, 4))
def test_a_path_longer_than_the_limit_is_none(
    drawn: list[Drawn], one: int, other: int, longest: int
) -> None:
    edges = [edge(number, row) for number, row in enumerate(drawn, 1)]
    path = expected(edges, one, other)
    assert found(edges, one, other, longest) == (path if len(path) <= longest else ())

"""Shortest paths, against networkx on the graph of what holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from lila_app.graph.paths import shortest_path
from lila_app.storage.relations import RelationRow

Edge = tuple[int, int, bool]


def relation(number: int, edge: Edge) -> RelationRow:
    return RelationRow(
        id=f"r{number}",
        subject_id=f"n{edge[0]}",
        subject=f"n{edge[0]}",
        predicate="knows",
        object_id=f"n{edge[1]}",
        object=f"n{edge[1]}",
        valid_from="yes" if edge[2] else None,
        valid_to=None,
        at="2026-11-30T00:00:00+00:00",
        digest="",
        source="",
    )


def laid_out(rows: Sequence[RelationRow]) -> Mapping[str, Sequence[tuple[str, RelationRow]]]:
    near: dict[str, list[tuple[str, RelationRow]]] = {}
    for row in rows:
        near.setdefault(row.subject_id, []).append((row.object_id, row))
        if row.object_id != row.subject_id:
            near.setdefault(row.object_id, []).append((row.subject_id, row))
    return near


def expected(rows: Sequence[RelationRow], one: str, other: str) -> tuple[str, ...]:
    """By hand: of all shortest paths the one that read backwards has the smallest numbers."""
    graph: nx.Graph[str] = nx.Graph()
    for row in rows:
        if row.valid_from:
            graph.add_edge(row.subject_id, row.object_id)
    if one == other or one not in graph or other not in graph or not nx.has_path(graph, one, other):
        return ()
    paths = nx.all_shortest_paths(graph, one, other)
    best = min(paths, key=lambda path: [int(entity[1:]) for entity in reversed(path)])
    return tuple(
        min(
            (row for row in rows if row.valid_from and {row.subject_id, row.object_id} == {a, b}),
            key=lambda row: int(row.id[1:]),
        ).id
        for a, b in pairwise(best)
    )


entities = st.integers(1, 14)
edges = st.lists(st.tuples(entities, entities, st.sampled_from([True, True, True, False])))


@given(edges, entities, entities)
def test_a_path_is_the_shortest_over_what_holds_and_the_first_by_id(
    drawn: list[Edge], one: int, other: int
) -> None:
    rows = [relation(number, edge) for number, edge in enumerate(drawn, 1)]
    found = shortest_path(laid_out(rows), f"n{one}", f"n{other}", lambda row: bool(row.valid_from))
    assert tuple(row.id for row in found) == expected(rows, f"n{one}", f"n{other}")

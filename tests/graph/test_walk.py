"""Personalised PageRank against networkx, and what of a neighbourhood is walked."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lila_app.graph.rules import Limits, Walk
from lila_app.graph.snapshot import Edge, Index, Names, Snapshot, Stamp
from lila_app.graph.walk import neighbourhood, pagerank, shares

NODES = 12
WALK = Walk(damping_bp=5_000, rounds=40, full_bp=2_000, nothing_bp=20, person_bp=1_000)
LIMITS = Limits(entities=6, relations=40, least=1, near=60, reach=100, path=6)
ends = st.integers(0, NODES - 1)


@given(
    st.lists(st.tuples(ends, ends), max_size=40),
    st.dictionaries(ends, st.integers(1, 5), min_size=1, max_size=4),
)
def test_ranks_are_those_of_networkx(edges: list[tuple[int, int]], weights: dict[int, int]) -> None:
    graph: nx.MultiGraph[int] = nx.MultiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_edges_from(edges)
    personal = {node: weights.get(node, 0) for node in range(NODES)}
    expected = nx.pagerank(graph, alpha=0.5, personalization=personal, dangling=personal, tol=1e-12)
    ranks = pagerank(
        NODES, edges, [float(personal[n]) for n in range(NODES)], damping=0.5, rounds=60
    )
    np.testing.assert_allclose(ranks, [expected[node] for node in range(NODES)], atol=1e-9)


@given(st.lists(st.tuples(ends, ends), min_size=1, max_size=40))
def test_all_edges_together_carry_all_the_walking_that_moves(edges: list[tuple[int, int]]) -> None:
    graph = drawn(edges)
    around = neighbourhood(graph, [edges[0][0]], (), always, never, LIMITS)
    carried = shares(graph, around, {edges[0][0]: 1.0}, WALK)
    assert abs(sum(carried.values()) - 1) < 1e-9
    assert min(carried.values()) >= 0


def test_one_of_d_relations_of_a_lone_entity_has_a_share_of_one_in_d() -> None:
    graph = drawn([(0, other) for other in range(1, 9)])
    around = neighbourhood(graph, [0], (), always, never, LIMITS)
    assert all(abs(one - 1 / 8) < 1e-9 for one in shares(graph, around, {0: 1.0}, WALK).values())


def test_relations_that_are_left_out_keep_their_part_of_the_share() -> None:
    graph = drawn([(0, other) for other in range(1, 11)])
    few = Limits(entities=6, relations=40, least=1, near=4, reach=100, path=6)
    around = neighbourhood(graph, [0], (), always, lambda edge: edge.id == 10, few)
    assert len(around.edges) == 4
    assert 10 in {edge.id for edge in around.edges}
    carried = shares(graph, around, {0: 1.0}, WALK)
    assert all(abs(one - 1 / 10) < 1e-9 for one in carried.values())


def test_a_neighbour_that_many_things_meet_in_is_not_walked_through() -> None:
    town = [(1, other) for other in range(2, 9)]
    graph = drawn([(0, 1), (0, 9), (9, 10), *town])
    narrow = Limits(entities=6, relations=40, least=1, near=60, reach=8, path=6)
    around = neighbourhood(graph, [0], (), always, never, narrow)
    assert {edge.id for edge in around.edges} == {1, 2, 3}
    wide = neighbourhood(graph, [0], (), always, never, LIMITS)
    assert len(wide.edges) == len(graph.edges)


def always(edge: Edge) -> bool:
    return True


def never(edge: Edge) -> bool:
    return False


def drawn(pairs: list[tuple[int, int]]) -> Snapshot:
    rows = {
        number: (number, one, "knows", other, None, None, "current")
        for number, (one, other) in enumerate(pairs, 1)
    }
    near: dict[int, list[int]] = {}
    for number, one, _, other, *_ in rows.values():
        for end in dict.fromkeys((one, other)):
            near.setdefault(end, []).append(number)
    nothing = Index({}, {})
    names = {entity: f"n{entity:02}" for entity in range(NODES)}
    return Snapshot(Stamp(0, 0, 0, 0), rows, near, Names(nothing, nothing, nothing), names, {})

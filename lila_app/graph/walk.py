"""Personalised PageRank over the neighbourhood of what a question names.

Nodes are sorted by name, sums run in the order of the edges, which are sorted by what they say:
equal graphs give equal numbers, to the bit, in whatever order they were built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lila_app.graph.rules import Limits, Walk
from lila_app.graph.snapshot import Edge, Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Wanted = Callable[[Edge], bool]


def neighbourhood(
    graph: Snapshot,
    seeds: Sequence[int],
    ends: Sequence[int],
    wanted: Wanted,
    asked: Wanted,
    limits: Limits,
) -> list[Edge]:
    """The edges within two steps of the seeds and one of the ends, sorted by what they say.

    The second step goes through no hub and not through the person. Of an entity with more edges
    than the limit, those asked for come first, then the newest.
    """
    me = graph.person()
    found: dict[int, Edge] = {}
    reached: dict[int, None] = {}
    for seed in (*seeds, *ends):
        for edge in _some(graph, graph.around(seed), wanted, asked, limits.near):
            found[edge.id] = edge
            if seed != me and seed not in ends:
                reached[edge.other(seed)] = None
    for entity in reached:
        edges = graph.around(entity)
        if entity == me or entity in seeds or len(edges) > limits.hub:
            continue
        for edge in edges:
            if edge.id not in found and wanted(edge):
                found[edge.id] = edge
    return sorted(found.values(), key=graph.edge_order)


def _some(
    graph: Snapshot, edges: Sequence[Edge], wanted: Wanted, asked: Wanted, limit: int
) -> Sequence[Edge]:
    able = [edge for edge in edges if wanted(edge)]
    if len(able) <= limit:
        return able
    able.sort(key=graph.edge_order)
    able.sort(key=lambda edge: edge.valid_from or "", reverse=True)
    able.sort(key=lambda edge: not asked(edge))
    return able[:limit]


def shares(
    graph: Snapshot, edges: Sequence[Edge], weights: Mapping[int, float], walk: Walk
) -> dict[int, float]:
    """How much of all the walking goes over each edge, 0..1, by edge id.

    The walker begins at the weighted entities, and from a node takes each of its edges equally
    often, in either direction; a loop counts once.
    """
    import numpy as np

    nodes = sorted(
        {*weights, *(end for e in edges for end in (e.subject, e.object))}, key=graph.order
    )
    place = {node: index for index, node in enumerate(nodes)}
    ranks = pagerank(
        len(nodes),
        [(place[edge.subject], place[edge.object]) for edge in edges],
        [weights.get(node, 0.0) for node in nodes],
        damping=walk.damping_bp / 10_000,
        rounds=walk.rounds,
    )
    degree = np.zeros(len(nodes))
    for edge in edges:
        for end in {edge.subject, edge.object}:
            degree[place[end]] += 1
    each = ranks / np.maximum(degree, 1)
    return {
        edge.id: float(sum(each[place[end]] for end in sorted({edge.subject, edge.object})))
        for edge in edges
    }


def pagerank(
    count: int,
    edges: Sequence[tuple[int, int]],
    weights: Sequence[float],
    *,
    damping: float,
    rounds: int,
) -> NDArray[np.float64]:
    """The personalised PageRank of `count` nodes over undirected edges, float64 [count], sum 1.

    A node without edges sends its walkers back to the beginning.
    """
    import numpy as np

    start = np.asarray(weights, dtype=np.float64)
    start = start / start.sum()
    pairs = [pair for one, other in edges for pair in dict.fromkeys([(one, other), (other, one)])]
    source = np.fromiter((one for one, _ in pairs), dtype=np.intp, count=len(pairs))
    target = np.fromiter((other for _, other in pairs), dtype=np.intp, count=len(pairs))
    degree = np.bincount(source, minlength=count).astype(np.float64)
    lost = degree == 0
    out = 1 / np.where(lost, 1, degree)
    ranks = start
    for _ in range(rounds):
        moved = np.bincount(target, weights=(ranks * out)[source], minlength=count)
        ranks = damping * (moved + ranks[lost].sum() * start) + (1 - damping) * start
    return ranks

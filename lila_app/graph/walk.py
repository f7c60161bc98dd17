"""Personalised PageRank over the neighbourhood of what a question names.

Nodes are sorted by name, sums run in the order of the edges, which are sorted by what they say:
equal graphs give equal numbers, to the bit, in whatever order they were built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.graph.rules import Limits, Walk
from lila_app.graph.snapshot import Edge, Snapshot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Wanted = Callable[[Edge], bool]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Edges around what a question names, sorted by what they say.

    `kept` is, by edge id, the part of an entity's edges that is here, where not all of them are.
    """

    edges: tuple[Edge, ...]
    kept: Mapping[int, float]


def neighbourhood(
    graph: Snapshot,
    seeds: Sequence[int],
    ends: Sequence[int],
    wanted: Wanted,
    asked: Wanted,
    limits: Limits,
) -> Neighbourhood:
    """What lies within two steps of the seeds and one of the ends.

    Nothing is walked through whose edges would get no share worth naming (`limits.reach`), nor
    the person. Of an entity with more edges than `limits.near`, those asked for come first, then
    those that began last.
    """
    me = graph.person()
    found: dict[int, Edge] = {}
    kept: dict[int, float] = {}
    through: dict[int, None] = {}
    for seed in (*seeds, *ends):
        able = [edge for edge in graph.around(seed) if wanted(edge)]
        some = _some(graph, able, asked, limits.near)
        for edge in some:
            found[edge.id] = edge
            if len(some) < len(able):
                kept[edge.id] = len(some) / len(able)
        if seed != me and seed not in ends:
            reach = limits.reach // max(1, len(able))
            others = (edge.other(seed) for edge in some)
            through.update((one, None) for one in others if 1 < graph.degree(one) <= reach)
    for entity in through:
        if entity != me and entity not in seeds:
            found.update((edge.id, edge) for edge in graph.around(entity) if wanted(edge))
    return Neighbourhood(tuple(sorted(found.values(), key=graph.edge_order)), kept)


def _some(graph: Snapshot, able: Sequence[Edge], asked: Wanted, limit: int) -> Sequence[Edge]:
    if len(able) <= limit:
        return able
    first = [edge for edge in able if asked(edge)]
    if len(first) < limit:
        begun = sorted(able, key=lambda edge: edge.valid_from or "", reverse=True)
        border = begun[limit - 1].valid_from or ""
        near = [edge for edge in begun if (edge.valid_from or "") >= border]
    else:
        near = []
    order = sorted({*first, *near}, key=graph.edge_order)
    order.sort(key=lambda edge: edge.valid_from or "", reverse=True)
    order.sort(key=lambda edge: not asked(edge))
    return order[:limit]


def shares(
    graph: Snapshot, around: Neighbourhood, weights: Mapping[int, float], walk: Walk
) -> dict[int, float]:
    """How much of all the walking goes over each edge, 0..1, by edge id.

    The walker begins at the weighted entities, and from a node takes each of its edges equally
    often, in either direction; a loop counts once.
    """
    ends = [(edge.subject, edge.object) for edge in around.edges]
    nodes = sorted({*weights, *(end for pair in ends for end in pair)}, key=graph.order)
    place = {node: index for index, node in enumerate(nodes)}
    pairs = [(place[one], place[other]) for one, other in ends]
    ranks = pagerank(
        len(nodes),
        pairs,
        [weights.get(node, 0.0) for node in nodes],
        damping=walk.damping_bp / 10_000,
        rounds=walk.rounds,
    ).tolist()
    degree = [0] * len(nodes)
    for one, other in pairs:
        degree[one] += 1
        if other != one:
            degree[other] += 1
    each = [rank / max(1, count) for rank, count in zip(ranks, degree, strict=True)]
    kept = around.kept
    return {
        edge.id: (each[one] + (each[other] if other != one else 0.0)) * kept.get(edge.id, 1.0)
        for edge, (one, other) in zip(around.edges, pairs, strict=True)
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
    ends = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    source, target = ends[:, 0].copy(), ends[:, 1].copy()
    degree = np.bincount(source, minlength=count)
    lost = np.flatnonzero(degree == 0)
    part = damping / degree[source]
    fresh = (1 - damping) * start
    ranks = start
    for _ in range(rounds):
        moved = np.bincount(target, ranks[source] * part, count) + fresh
        if lost.size:
            moved += damping * ranks[lost].sum() * start
        ranks = moved
    return ranks

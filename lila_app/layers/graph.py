"""The graph layer: how what the turn names is related, and what it asks about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from lila_app.context import Source
from lila_app.context.items import TOP_SCORE, Counter, Item, Placement, recalled
from lila_app.graph import rules, walk
from lila_app.graph.asking import Asked, predicate_key, read
from lila_app.graph.mirror import Mirror
from lila_app.graph.rules import Limits, Rules
from lila_app.graph.snapshot import Edge, Snapshot
from lila_app.layers.port import Question
from lila_app.memory import predicates
from lila_app.memory.predicates import Predicates
from lila_app.paths import read_text, shipped
from lila_app.storage.relations import RelationRow
from lila_app.storage.values import instant


@dataclass(frozen=True, slots=True)
class Declared:
    """The tables of the layer: how the graph answers, and how its predicates are said."""

    rules: Rules
    vocabulary: Predicates


@lru_cache(maxsize=4)
def declare(graph: tuple[Source, ...], vocabulary: tuple[Source, ...]) -> Declared:
    """What graph.toml and predicates.toml declare; the same texts are parsed once (8 ms)."""
    named = predicates.load(vocabulary)
    inverses = {one.name: one.inverse for one in named.named.values() if one.inverse}
    return Declared(rules.load(graph, inverses), named)


@lru_cache(maxsize=1)
def shipped_tables() -> Declared:
    """The tables as they are shipped."""
    paths = [shipped("policies") / f"{name}.toml" for name in ("graph", "predicates")]
    graph, vocabulary = (Source(str(path), read_text(path)) for path in paths)
    return declare((graph,), (vocabulary,))


@dataclass(frozen=True, slots=True)
class GraphLayer:
    """Facts as sentences with the interval in which they hold, and where they come from."""

    mirror: Mirror
    count: Counter
    declared: Callable[[], Declared] = field(default=shipped_tables)
    name: str = "graph"
    source: str = "relations, by roles, paths and personalised PageRank"

    def offer(self, question: Question) -> tuple[Item, ...]:
        """Relations around the entities the turn names; what it asks for comes first."""
        graph, declared = self.mirror.current(), self.declared()
        asked = read(question.text, instant(question.now), graph, declared.rules)
        if not asked.named:
            return ()
        scores = scored(graph, asked, declared.rules)
        best = _best(graph, scores, declared.rules.limits)
        rows = self.mirror.rows([edge.id for edge in best])
        return tuple(
            self._item(
                rows[edge.id],
                scores[edge],
                sentence(rows[edge.id], declared.vocabulary) + _doubts(graph, edge),
            )
            for edge in best
            if edge.id in rows
        )

    def _item(self, row: RelationRow, score: int, fact: str) -> Item:
        said = f", from {row.origin}" if row.origin else ""
        text = f"[{row.id}, {row.at[:10]}{said}] {fact}"
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=(recalled("full", text, self.count),),
            score=score,
            source=f"relation of {row.subject}{said}",
            digest=row.digest,
            at=row.at,
        )


def scored(graph: Snapshot, asked: Asked, rules: Rules) -> dict[Edge, int]:
    """What each relation is worth to a question, by the best evidence it has."""
    found: dict[Edge, int] = {}
    worth = rules.scores

    def note(edges: Sequence[Edge], score: int) -> None:
        for edge in edges:
            found[edge] = max(found.get(edge, 0), score)

    note(asked.answers, worth.answer)
    note(asked.directed, worth.directed)
    note(asked.partial, worth.partial)
    for path in _paths(graph, asked, rules):
        note(path, worth.connection if asked.connection else worth.path[len(path) - 2])
    for edge, score in _around(graph, asked, rules):
        note((edge,), score)
    return {
        edge: score * worth.elsewhen_bp // 10_000 if asked.period.elsewhen(edge) else score
        for edge, score in found.items()
    }


def _best(graph: Snapshot, scores: Mapping[Edge, int], limits: Limits) -> list[Edge]:
    """The edges worth most, best first, ties by what they say."""
    worth = sorted((score for score in scores.values() if score >= limits.least), reverse=True)
    last = worth[: limits.relations][-1] if worth else TOP_SCORE + 1
    found = [edge for edge, score in scores.items() if score >= last]
    found.sort(key=lambda edge: (-scores[edge], graph.edge_order(edge)))
    return found[: limits.relations]


def sentence(row: RelationRow, vocabulary: Predicates) -> str:
    """A relation in words: "Alex reports to Sarah (since 2024-03-01)"."""
    known = vocabulary.get(predicate_key(row.predicate))
    if known is None:
        fact = f"{row.subject} {row.predicate.replace('_', ' ')} {row.object}"
    else:
        fact = known.said(row.subject, row.object)
    begin = row.valid_from[:10] if row.valid_from else ""
    end = row.valid_to[:10] if row.valid_to else ""
    match begin, end:
        case "", "":
            return fact
        case _, "":
            return f"{fact} (since {begin})"
        case "", _:
            return f"{fact} (until {end})"
        case _:
            return f"{fact} ({begin} to {end})"


def _paths(graph: Snapshot, asked: Asked, rules: Rules) -> list[tuple[Edge, ...]]:
    """Shortest paths of at least two steps between any two that are named.

    The person counts only where a connection is asked for: nearly everything is near to them.
    """
    me = graph.person()
    ends = [one for one in asked.named if asked.connection or one != me]
    longest = rules.limits.path if asked.connection else len(rules.scores.path) + 1
    paths = [
        graph.path(one, other, asked.period.covers, longest)
        for one, other in combinations(ends[: rules.limits.entities], 2)
    ]
    return [path for path in paths if len(path) > 1]


def _around(graph: Snapshot, asked: Asked, rules: Rules) -> list[tuple[Edge, int]]:
    """Everything within two steps by its share of the walk, with what is asked for on top."""
    me = graph.person()
    ends = asked.ends[: rules.limits.entities]
    named = {*asked.named, *ends}
    around = walk.neighbourhood(
        graph,
        asked.named,
        ends,
        asked.period.covers,
        lambda edge: asked.wants(edge.predicate),
        rules.limits,
    )
    least = rules.walk.person_bp / 10_000
    weights = {one: least if one == me and len(named) > 1 else 1.0 for one in named}
    shares = walk.shares(graph, around, weights, rules.walk)
    others = named - {me}
    return [
        (edge, _worth(graph, asked, rules, shares[edge.id], others, edge)) for edge in around.edges
    ]


def _worth(
    graph: Snapshot,
    asked: Asked,
    rules: Rules,
    share: float,
    others: set[int],
    edge: Edge,
) -> int:
    scores = rules.scores
    ends = {edge.subject, edge.object}
    if len(ends) == 2 and ends <= {*asked.named, *asked.ends}:
        return scores.between
    touches = bool(ends & others)
    top = scores.near if touches or graph.person() not in ends else scores.near_me
    near = round(top * _height(share, rules))
    asks = asked.wants(edge.predicate) or any(
        asked.wants_name(graph.entities[end]) for end in ends if end not in asked.named
    )
    return min(TOP_SCORE, near + (scores.asked if asks else 0))


def _height(share: float, rules: Rules) -> float:
    """Where a share of the walk stands between nothing (0) and full worth (1), by its logarithm."""
    low, high = rules.walk.nothing_bp / 10_000, rules.walk.full_bp / 10_000
    if share <= low:
        return 0.0
    return min(1.0, math.log(share / low) / math.log(high / low))


def _doubts(graph: Snapshot, edge: Edge) -> str:
    """What makes a relation uncertain, in words: a contradiction, a name that means several."""
    doubts = ["contradicted by another entry"] if edge.status == "conflict" else []
    for end in dict.fromkeys((edge.subject, edge.object)):
        count = graph.namesakes(end)
        if count > 1:
            doubts.append(f"{graph.entities[end]} is one of {count} of that name")
    return f" [{'; '.join(doubts)}]" if doubts else ""

"""The graph layer: how the entities named in the turn relate, by one step or a shortest path."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lila_app.context.items import Counter, Item, Placement, recalled
from lila_app.graph.mirror import Mirror
from lila_app.layers.port import Question
from lila_app.storage.relations import RelationRow
from lila_app.storage.values import instant

MOST_ENTITIES, MOST_FACTS = 6, 40
BETWEEN, ON_PATH, NEAR, NEAR_ME = 9_500, 8_000, 5_500, 2_000
"""Scores: it relates two entities of the turn; it lies on a path between two; it touches one;
it touches the person, whom almost every turn names and almost every relation touches."""

ASKED_FOR = 2_500
"""Added when a word of the predicate or of the other entity stands in the turn."""

_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, slots=True)
class GraphLayer:
    """Facts as sentences with the interval in which they hold."""

    mirror: Mirror
    count: Counter
    name: str = "graph"
    source: str = "relations, one step and shortest paths"

    def offer(self, question: Question) -> tuple[Item, ...]:
        """Relations that hold now around the entities the turn names."""
        now = instant(question.now)
        graph = self.mirror.current()
        named = graph.named_in(question.text)[:MOST_ENTITIES]
        me = graph.person()
        words = {_stem(word) for word in _WORD.findall(question.text.lower())}
        scores: dict[str, int] = {}
        rows: dict[str, RelationRow] = {}
        for entity in named:
            for row in graph.around(entity, now):
                other = row.object_id if row.subject_id == entity else row.subject_id
                near = NEAR_ME if entity == me else NEAR
                value = BETWEEN if other in named else near + _asked(row, entity, words)
                rows[row.id] = row
                scores[row.id] = max(scores.get(row.id, 0), value)
        for place, one in enumerate(named):
            for other in named[place + 1 :]:
                for row in graph.path(one, other, now):
                    rows[row.id] = row
                    scores[row.id] = max(scores.get(row.id, 0), ON_PATH)
        best = sorted(rows, key=lambda id: (-scores[id], int(id[1:])))[:MOST_FACTS]
        return tuple(self._item(rows[id], scores[id]) for id in best)

    def _item(self, row: RelationRow, score: int) -> Item:
        return Item(
            id=row.id,
            layer=self.name,
            placement=Placement.RECALLED,
            variants=(recalled("full", f"[{row.id}, {row.at[:10]}] {sentence(row)}", self.count),),
            score=score,
            source=f"relation of {row.subject}",
            digest=row.digest,
            at=row.at,
        )


def sentence(row: RelationRow) -> str:
    """A relation in words: "Alex reports to Sarah (since 2024-03-01)"."""
    fact = f"{row.subject} {row.predicate.replace('_', ' ')} {row.object}"
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


def _asked(row: RelationRow, entity: str, words: set[str]) -> int:
    other = row.object if row.subject_id == entity else row.subject
    spoken = f"{row.predicate.replace('_', ' ')} {other}".lower()
    return ASKED_FOR if words & {_stem(word) for word in _WORD.findall(spoken)} else 0


def _stem(word: str) -> str:
    # Enough to see "reports" in "report" and "managed" in "manager"; a search engine it is not.
    return word[:5]

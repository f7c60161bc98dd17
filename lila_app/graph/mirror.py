"""A networkx mirror of the relations in the store, loaded when first needed.

The store is the truth; the mirror is read again when the store's generation moved, whichever
process moved it. Nodes are entity ids, edges carry the relation row under its id as key.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.storage import relations
from lila_app.storage.connection import Store
from lila_app.storage.relations import RelationRow
from lila_app.storage.values import sort_key

if TYPE_CHECKING:
    import networkx as nx

_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_LONGEST_NAME = 6
_SELF = ("me", "i", "my", "mine", "myself")
"""Words by which the person names themselves; they mean the entity called "me", if there is one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The graph at one generation of the store; what one question asks, it asks one snapshot.

    `near` are the relations of each entity with the entity at their other end, by relation id.
    """

    generation: int
    graph: nx.MultiDiGraph[str]
    names: Mapping[str, str]
    near: Mapping[str, Sequence[tuple[str, RelationRow]]]

    def named_in(self, text: str) -> tuple[str, ...]:
        """Ids of the entities named in a text, longest names first, each once, in text order."""
        words = [word.lower().removesuffix("'s") for word in _WORD.findall(text.replace("’s", ""))]
        found: dict[str, None] = {}
        position = 0
        while position < len(words):
            step = 1
            for length in range(min(_LONGEST_NAME, len(words) - position), 0, -1):
                spoken = " ".join(words[position : position + length])
                entity = self.names.get(relations.key("me" if spoken in _SELF else spoken))
                if entity is not None:
                    found[entity] = None
                    step = length
                    break
            position += step
        return tuple(found)

    def person(self) -> str | None:
        """The id of the entity called "me", if there is one."""
        return self.names.get("me")

    def around(self, entity: str, at: str) -> tuple[RelationRow, ...]:
        """Relations of an entity that hold at a time (ISO, UTC), by id."""
        return tuple(row for _, row in self.near.get(entity, ()) if holds(row, at))

    def paths(
        self, one: str, others: Collection[str], at: str
    ) -> dict[str, tuple[RelationRow, ...]]:
        """The relations of a shortest path from an entity to each of the others it leads to.

        Over what holds at a time; direction does not matter for being connected. Among shortest
        paths the first by entity id, and among parallel relations the first by id, is taken.
        """
        before: dict[str, RelationRow | None] = {one: None}
        missing = {other for other in others if other != one and other in self.near}
        layer = [one] if one in self.near else []
        while layer and missing:
            reached = self._step(layer, before, missing, at)
            before |= reached
            missing -= reached.keys()
            layer = sorted(reached, key=sort_key)
        found = ((other, _trace(before, one, other)) for other in others)
        return {other: rows for other, rows in found if rows}

    def _step(
        self,
        layer: Sequence[str],
        before: Collection[str],
        missing: Collection[str],
        at: str,
    ) -> dict[str, RelationRow]:
        """What one step from a layer reaches first, and how; complete only while any is missing."""
        reached: dict[str, RelationRow] = {}
        left = len(missing)
        for entity in layer:
            for neighbour, row in self.near[entity]:
                if neighbour not in before and neighbour not in reached and holds(row, at):
                    reached[neighbour] = row
                    left -= neighbour in missing
            if not left:
                break
        return reached

    def path(self, one: str, other: str, at: str) -> tuple[RelationRow, ...]:
        """The path of `paths` to one entity; empty when there is none."""
        return self.paths(one, (other,), at).get(other, ())


class Mirror:
    """The graph in memory; safe to use from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._loaded: Snapshot | None = None

    def current(self) -> Snapshot:
        """The graph as it is in the store now."""
        generation = relations.generation(self._store)
        with self._lock:
            if self._loaded is None or self._loaded.generation != generation:
                self._loaded = _load(self._store, generation)
            return self._loaded

    def warm(self) -> None:
        """Load now, so that the first question does not wait for it."""
        self.current()


def holds(row: RelationRow, at: str) -> bool:
    """Whether a relation holds at a time; its end is not part of its interval."""
    return (row.valid_from or "") <= at and (row.valid_to is None or at < row.valid_to)


def _load(store: Store, generation: int) -> Snapshot:
    import networkx as nx

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    names: dict[str, str] = {}
    near: dict[str, list[tuple[str, RelationRow]]] = {}
    for entity in relations.all_entities(store):
        graph.add_node(entity.id, name=entity.name)
        near[entity.id] = []
        for name in (entity.name, *entity.aliases):
            spoken = " ".join(word.lower() for word in _WORD.findall(name))
            names.setdefault(relations.key(spoken), entity.id)
    for row in relations.all_relations(store):
        graph.add_edge(row.subject_id, row.object_id, key=row.id, row=row)
        # Beside the graph, because following an edge there takes ten times as long.
        near[row.subject_id].append((row.object_id, row))
        if row.object_id != row.subject_id:
            near[row.object_id].append((row.subject_id, row))
    return Snapshot(generation, graph, names, near)


def _trace(
    before: Mapping[str, RelationRow | None], one: str, other: str
) -> tuple[RelationRow, ...]:
    steps: list[RelationRow] = []
    entity = other
    while entity != one:
        row = before.get(entity)
        if row is None:
            return ()
        steps.append(row)
        entity = row.subject_id if row.object_id == entity else row.object_id
    return tuple(reversed(steps))

"""A networkx mirror of the relations in the store, loaded when first needed.

The store is the truth; the mirror is read again when the store's generation moved, whichever
process moved it. Nodes are entity ids, edges carry the relation row under its id as key.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

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
class _Loaded:
    generation: int
    graph: nx.MultiDiGraph[str]
    names: dict[str, str]


class Mirror:
    """The graph in memory; safe to use from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def named_in(self, text: str) -> tuple[str, ...]:
        """Ids of the entities named in a text, longest names first, each once, in text order."""
        names = self._current().names
        words = [word.lower().removesuffix("'s") for word in _WORD.findall(text.replace("’s", ""))]
        found: dict[str, None] = {}
        position = 0
        while position < len(words):
            step = 1
            for length in range(min(_LONGEST_NAME, len(words) - position), 0, -1):
                spoken = " ".join(words[position : position + length])
                entity = names.get(relations.key("me" if spoken in _SELF else spoken))
                if entity is not None:
                    found[entity] = None
                    step = length
                    break
            position += step
        return tuple(found)

    def warm(self) -> None:
        """Load now, so that the first question does not wait for it."""
        self._current()

    def person(self) -> str | None:
        """The id of the entity called "me", if there is one."""
        return self._current().names.get("me")

    def around(self, entity: str, at: str) -> tuple[RelationRow, ...]:
        """Relations of an entity that hold at a time (ISO, UTC), by id."""
        graph = self._current().graph
        if entity not in graph:
            return ()
        edges = cast("Any", graph)  # networkx types what an edge carries as unknown
        near = _rows(edges.out_edges(entity, data="row"))
        near += _rows(edges.in_edges(entity, data="row"))
        unique = {row.id: row for row in near if holds(row, at)}
        return tuple(unique[id] for id in sorted(unique, key=sort_key))

    def path(self, one: str, other: str, at: str) -> tuple[RelationRow, ...]:
        """The relations of a shortest path between two entities, over what holds at a time.

        Direction does not matter for being connected. Among shortest paths the first by entity
        id, and among parallel relations the first by id, is taken. Empty when there is none.
        """
        graph = self._current().graph
        if one not in graph or other not in graph or one == other:
            return ()
        before: dict[str, RelationRow | None] = {one: None}
        layer = [one]
        while layer and other not in before:
            reached: dict[str, RelationRow] = {}
            for entity in layer:
                for row in self.around(entity, at):
                    neighbour = row.object_id if row.subject_id == entity else row.subject_id
                    if neighbour not in before and neighbour not in reached:
                        reached[neighbour] = row
            before |= reached
            layer = sorted(reached, key=sort_key)
        return _trace(before, one, other)

    def _current(self) -> _Loaded:
        generation = relations.generation(self._store)
        with self._lock:
            if self._loaded is None or self._loaded.generation != generation:
                self._loaded = _load(self._store, generation)
            return self._loaded


def holds(row: RelationRow, at: str) -> bool:
    """Whether a relation holds at a time; its end is not part of its interval."""
    return (row.valid_from or "") <= at and (row.valid_to is None or at < row.valid_to)


def _load(store: Store, generation: int) -> _Loaded:
    import networkx as nx

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    names: dict[str, str] = {}
    for entity in relations.all_entities(store):
        graph.add_node(entity.id, name=entity.name)
        for name in (entity.name, *entity.aliases):
            spoken = " ".join(word.lower() for word in _WORD.findall(name))
            names.setdefault(relations.key(spoken), entity.id)
    for row in relations.all_relations(store):
        graph.add_edge(row.subject_id, row.object_id, key=row.id, row=row)
    return _Loaded(generation, graph, names)


def _rows(edges: Iterable[Any]) -> list[RelationRow]:
    return [cast("RelationRow", edge[2]) for edge in edges]


def _trace(before: dict[str, RelationRow | None], one: str, other: str) -> tuple[RelationRow, ...]:
    steps: list[RelationRow] = []
    entity = other
    while entity != one:
        row = before.get(entity)
        if row is None:
            return ()
        steps.append(row)
        entity = row.subject_id if row.object_id == entity else row.object_id
    return tuple(reversed(steps))

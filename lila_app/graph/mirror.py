"""A networkx mirror of the relations in the store, loaded when first needed.

The store is the truth; the mirror is read again when the store's generation moved, whichever
process moved it. Nodes are entity ids, edges carry the relation row under its id as key.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.graph.paths import shortest_path
from lila_app.storage import relations
from lila_app.storage.connection import Store
from lila_app.storage.relations import RelationRow

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

    def known(self) -> Mapping[str, str]:
        """Every name the graph knows, as it is spoken, in lower case, with its entity's name."""
        return {spoken: self.graph.nodes[id]["name"] for spoken, id in self.names.items()}

    def around(self, entity: str, at: str) -> tuple[RelationRow, ...]:
        """Relations of an entity that hold at a time (ISO, UTC), by id."""
        return tuple(row for _, row in self.near.get(entity, ()) if holds(row, at))

    def path(self, one: str, other: str, at: str) -> tuple[RelationRow, ...]:
        """The relations of a shortest path over what holds at a time; empty when there is none."""
        return shortest_path(self.near, one, other, lambda row: holds(row, at))


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

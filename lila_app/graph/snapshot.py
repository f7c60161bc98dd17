"""The graph as it was at one moment: who is who, and what holds between them.

Nodes and edges are row numbers; an edge keeps only what walking needs, and the whole row is read
when it is offered. Nothing here changes once it is made: what one question asks, it asks one
snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from lila_app.graph.paths import shortest_path
from lila_app.storage.naming import base, folded, key, spoken

_TOKEN = re.compile(r"([^\W_]+(?:[-.][^\W_]+)*)(\)?['’]s\b|(?<=[sS])['’](?!\w))?")
_LONGEST_NAME = 6
_SELF = frozenset({"me", "i", "my", "mine", "myself"})
"""Words by which the person names themselves; they mean the entity called "me", if there is one."""

_MOST_OF_A_FIRST_NAME = 3
"""A first name alone is taken for this many people at most; of more it says nothing."""


class Edge(NamedTuple):
    """One relation by row numbers; its ends are the entities that stand for those it is about."""

    id: int
    subject: int
    predicate: str
    object: int
    valid_from: str | None
    valid_to: str | None
    status: str

    def other(self, entity: int) -> int:
        """The entity at the end that is not this one; itself where both are."""
        return self.object if self.subject == entity else self.subject


class Token(NamedTuple):
    """One word of a text in lower case; `possessive` where it ends in 's or says whose ("my")."""

    word: str
    possessive: bool
    capital: bool


class Mention(NamedTuple):
    """Entities a text names at tokens `first` to `last`; several where the name is ambiguous."""

    entities: tuple[int, ...]
    first: int
    last: int


class Stamp(NamedTuple):
    """By which a snapshot knows whether it is the latest, and from where to go on."""

    incarnation: int
    erasures: int
    generation: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Index:
    """Row numbers of entities by a form of their names: the first, and all where it is several."""

    first: Mapping[str, int]
    several: Mapping[str, tuple[int, ...]]

    def get(self, form: str) -> tuple[int, ...]:
        """Everyone of this form, by row number."""
        found = self.first.get(form)
        return () if found is None else self.several.get(form) or (found,)


@dataclass(frozen=True, slots=True)
class Names:
    """How entities are called, each as it was added, not as merged.

    `spoken` are full names, aliases and their other spellings; `bases` are distinguished names
    without what distinguishes them; `firsts` are first names.
    """

    spoken: Index
    bases: Index
    firsts: Index


Row = tuple[int, int, str, int, str | None, str | None, str]
"""An edge as it was read. An `Edge` is made of it where one is looked at: the collector of garbage
goes through every object of a class again and again, but not through tuples of numbers."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`near` are the edges of each entity, by id; `roots` whom each merged entity stands for.

    `looked_at` remembers the edges that were made.
    """

    stamp: Stamp
    edges: Mapping[int, Row]
    near: Mapping[int, Sequence[int]]
    names: Names
    entities: Mapping[int, str]
    roots: Mapping[int, int]
    looked_at: dict[int, tuple[Edge, ...]] = field(
        default_factory=dict[int, tuple[Edge, ...]], compare=False
    )

    def root(self, entity: int) -> int:
        """The entity that stands for this one: itself, unless it was merged."""
        return self.roots.get(entity, entity)

    def around(self, entity: int) -> tuple[Edge, ...]:
        """The edges of an entity, by id, whether they hold or not."""
        found = self.looked_at.get(entity)
        if found is None:
            edges = self.edges
            found = tuple(Edge._make(edges[id]) for id in self.near.get(entity, ()))
            self.looked_at[entity] = found
        return found

    def degree(self, entity: int) -> int:
        """How many edges an entity has, whether they hold or not."""
        return len(self.near.get(entity, ()))

    def order(self, entity: int) -> tuple[str, int]:
        """Sorts entities the same way whatever order they were added in: by name, then by id."""
        return self.entities[entity].casefold(), entity

    def edge_order(self, edge: Edge) -> tuple[str, str, str, str, int]:
        """Sorts edges by what they say, then by id."""
        names = self.entities
        return (
            *(names[edge.subject], edge.predicate, names[edge.object]),
            *(edge.valid_from or "", edge.id),
        )

    def person(self) -> int | None:
        """The entity called "me", if there is one."""
        found = self.names.spoken.first.get("me")
        return None if found is None else self.root(found)

    def of_name(self, name: str) -> tuple[int, ...]:
        """Everyone a name in lower case can mean, by name; first names only through `mentions`."""
        found = self.names.spoken.get(name) + self.names.bases.get(name)
        return self._sorted(found) if found else ()

    def namesakes(self, entity: int) -> int:
        """How many entities this one's name, without what distinguishes it, can mean."""
        return max(1, len(self.of_name(_called(self.entities[entity]))))

    def known(self) -> Mapping[str, str]:
        """Every name as it is spoken, in lower case, with the name to add something under.

        A name that means several is itself: what is said of "Alex" is about neither of two.
        """
        found = {name: base(self.entities[id]) for name, id in self.names.bases.first.items()}
        for name in self.names.spoken.first:
            roots = {self.root(id) for id in self.names.spoken.get(name)}
            own = [id for id in roots if key(self.entities[id]) == name]
            only = own or (list(roots) if len(roots) == 1 else [])
            found[name] = self.entities[only[0]] if only else name
        return found

    def path(
        self, one: int, other: int, holds: Callable[[Edge], bool], longest: int | None = None
    ) -> tuple[Edge, ...]:
        """A shortest path over the edges that hold, the same one however they were added.

        Empty where there is none of at most `longest` edges.
        """
        orders = (self.order, self.edge_order)
        return shortest_path(self.around, one, other, holds, orders, longest)

    def mentions(self, tokens: Sequence[Token]) -> tuple[Mention, ...]:
        """The entities named, longest names first, in text order."""
        found: list[Mention] = []
        position = 0
        while position < len(tokens):
            mention = self._at(tokens, position)
            if mention is not None:
                found.append(mention)
                position = mention.last
            position += 1
        return tuple(found)

    def _at(self, tokens: Sequence[Token], position: int) -> Mention | None:
        whole, bases = self.names.spoken.first, self.names.bases.first
        words = [token.word for token in tokens[position : position + _LONGEST_NAME]]
        if words[0] in _SELF:
            me = self.person()
            return None if me is None else Mention((me,), position, position)
        for length in range(len(words), 0, -1):
            name = " ".join(words[:length])
            known = name in whole or name in bases
            entities = self.of_name(name) if known else self._spelt(name)
            if entities:
                return Mention(entities, position, position + length - 1)
        if tokens[position].capital:
            entities = self._sorted(self.names.firsts.get(words[0]))
            if 0 < len(entities) <= _MOST_OF_A_FIRST_NAME:
                return Mention(entities, position, position)
        return None

    def _spelt(self, name: str) -> tuple[int, ...]:
        """By another spelling, where the name has anything to be spelt differently."""
        if name.isascii() and "-" not in name and "." not in name:
            return ()
        return self.of_name(folded(name))

    def _sorted(self, found: Iterable[int]) -> tuple[int, ...]:
        roots = {self.root(id) for id in found}
        return tuple(roots) if len(roots) < 2 else tuple(sorted(roots, key=self.order))


@lru_cache(maxsize=16_384)
def _called(name: str) -> str:
    """What an entity is called in a sentence, without what distinguishes it."""
    return spoken(base(name) or name)


def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text as names are compared."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        word = match[1]
        lower = word.lower() if word.isascii() else key(word)
        whose = match[2] is not None or lower in ("my", "mine")
        found.append(Token(lower, whose, word[0].isupper()))
    return tuple(found)


def holds(edge: Edge, at: str) -> bool:
    """Whether a relation holds at a time; its end is not part of its interval."""
    return (edge.valid_from or "") <= at and (edge.valid_to is None or at < edge.valid_to)

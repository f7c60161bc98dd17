"""What a question asks of the graph: of whom, by which roles, by which verb, about which time.

No grammar, but the few shapes in which people ask for a relation: "X's manager", "my sister's
husband", "the manager of Anna's brother", "who does Anna report to", "who reports to Anna". A shape
is read against the graph itself: a word is a role where it leads somewhere, so that any predicate
that was ever added can be asked for by its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lila_app.graph.rules import Role, Rules
from lila_app.graph.snapshot import Edge, Mention, Snapshot, Token, holds, tokens

MOST_STEPS = 3
_LONGEST_ROLE = 3
_BESIDE_ROLE = 2
"""Words that may stand between whose and what: "Alex's new line manager"."""
_MOST_ENDS = 8
"""Entities a step may lead to before it says nothing any more."""

_YEAR = re.compile(r"(?<![\d.,-])(?:19|20)\d\d(?![\d.,]*\d)")
_STOP = frozenset({
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "been", "but", "by", "can", "could", "did", "do", "does", "done", "for", "from",
    "get", "got", "had", "has", "have", "he", "her", "here", "him", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "just", "know", "let", "like", "me", "might", "mine",
    "more", "most", "my", "no", "not", "now", "of", "off", "on", "one", "or", "our", "out",
    "over", "please", "she", "should", "so", "some", "tell", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us", "very",
    "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
    "will", "with", "would", "you", "your",
})  # fmt: skip
"""Words by which nothing is asked for."""


@dataclass(frozen=True, slots=True)
class Period:
    """The time a question is about, besides now; `years` are empty where none is named."""

    now: str
    past: bool
    years: tuple[str, ...]

    def covers(self, edge: Edge) -> bool:
        """Whether a relation is worth offering: it holds now, or at the time asked about."""
        if holds(edge, self.now):
            return True
        if edge.valid_to is not None and edge.valid_to <= (edge.valid_from or ""):
            return False  # it was a mistake, and held at no time
        over = edge.valid_to is not None and edge.valid_to <= self.now
        return (self.past and over) or self.meets(edge)

    def meets(self, edge: Edge) -> bool:
        """Whether a relation held on a day of a year that was asked about."""
        begin, end = edge.valid_from or "", edge.valid_to
        return any(begin < f"{year}\uffff" and (end is None or end > year) for year in self.years)

    def elsewhen(self, edge: Edge) -> bool:
        """Whether years were asked about and it held in none of them."""
        return bool(self.years) and not self.meets(edge)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question says.

    `named` are the entities it names, in text order, `ends` those it spells out ("Alex's manager");
    `answers` are the edges it spells out in full, `partial` those of a way that ends early;
    `directed` the edges its verb points at.
    """

    period: Period
    named: tuple[int, ...]
    ends: tuple[int, ...]
    stems: frozenset[str]
    connection: bool
    answers: tuple[Edge, ...]
    partial: tuple[Edge, ...]
    directed: tuple[Edge, ...]

    def wants(self, predicate: str) -> bool:
        """Whether a word of the predicate stands in the question."""
        return not self.stems.isdisjoint(stems(predicate))

    def wants_name(self, name: str) -> bool:
        """Whether a word of a name does."""
        return not self.stems.isdisjoint(stems(name))


def read(text: str, now: str, graph: Snapshot, rules: Rules) -> Asked:
    """Read a question; `now` is a time as the store keeps it."""
    words = tokens(text)
    mentions = graph.mentions(words)[: rules.limits.entities]
    lower = f" {' '.join(token.word for token in words)} "
    period = Period(
        now,
        any(f" {phrase} " in lower for phrase in rules.past),
        tuple(_YEAR.findall(text)),
    )
    inside = {place for one in mentions for place in range(one.first, one.last + 1)}
    said: dict[str, int] = {}
    for place, token in enumerate(words):
        if place not in inside and len(token.word) > 2 and token.word not in _STOP:
            said.setdefault(stem(token.word), place)
    reader = _Reader(words, inside, graph, rules, period.covers, said)
    ways = [reader.way(mention) for mention in mentions]
    named = dict.fromkeys(entity for mention in mentions for entity in mention.entities)
    ends = [end for way in ways if way.whole for end in way.ends]
    return Asked(
        period=period,
        named=tuple(named),
        ends=tuple(one for one in dict.fromkeys(ends) if one not in named),
        stems=frozenset(said),
        connection=any(f" {phrase} " in lower for phrase in rules.connection),
        answers=_edges(way.edges for way in ways if way.whole),
        partial=_edges(way.edges for way in ways if not way.whole),
        directed=_edges(map(reader.directed, ways)),
    )


@lru_cache(maxsize=16_384)
def stems(name: str) -> frozenset[str]:
    """The stems of a predicate's or a name's words, without those that say nothing."""
    return frozenset(
        stem(word) for word in re.findall(r"[^\W_]{3,}", name.lower()) if word not in _STOP
    )


def stem(word: str) -> str:
    """Enough of a word to see "reports" in "report" and "managed" in "manager"."""
    for ending in ("ing", "ed", "es", "er", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@dataclass(frozen=True, slots=True)
class _Way:
    """From a mention over roles: the edges taken, where they end, whether every role led on."""

    edges: tuple[Edge, ...]
    ends: tuple[int, ...]
    whole: bool
    last: int


@dataclass(frozen=True, slots=True)
class _Reader:
    """Follows what one question spells out."""

    words: Sequence[Token]
    inside: set[int]
    graph: Snapshot
    rules: Rules
    wanted: Callable[[Edge], bool]
    verbs: Mapping[str, int]
    """Where each stem that may be a verb stands first."""

    def way(self, mention: Mention) -> _Way:
        """Follow "MENTION's role's role", then "role of role of" before it."""
        trails: dict[int, tuple[Edge, ...]] = {entity: () for entity in mention.entities}
        position, steps, whole = mention.last, 0, True
        while steps < MOST_STEPS and self.words[position].possessive:
            found = self._after(trails, position + 1)
            if found is None:
                break
            taken, position = found
            steps += 1
            if not taken:
                whole = False
                break
            trails = taken
        before = mention.first - 1
        while whole and steps < MOST_STEPS:
            found = self._before(trails, before)
            if found is None:
                break
            taken, before = found
            steps += 1
            whole = bool(taken)
            trails = taken or trails
        edges = _edges(trails.values())
        return _Way(edges, tuple(trails) if edges else mention.entities, whole, position)

    def directed(self, way: _Way) -> tuple[Edge, ...]:
        """Edges of where the way ends whose verb the question has, in its direction.

        The subject stands before its verb, the object behind it; "by" turns that round. After "my"
        or "Ana's" the verb is about what follows.
        """
        if not way.edges and self.words[way.last].possessive:
            return ()
        return tuple(
            edge
            for end in way.ends
            for edge in self.graph.around(end)
            if self._points(edge, end, way) and edge not in way.edges and self.wanted(edge)
        )

    def _points(self, edge: Edge, end: int, way: _Way) -> bool:
        """Whether the question has the verb of an edge or of its inverse, in its direction."""
        inverse = self.rules.inverses.get(predicate_key(edge.predicate), "")
        for predicate, other_way in ((edge.predicate, False), (inverse, True)):
            place = self.verbs.get(_verb(predicate))
            if place is None:
                continue
            by = any(token.word == "by" for token in self.words[place + 1 : place + 3])
            first = (place > way.last) is not (by is not other_way)
            if (edge.subject == end) is first:
                return True
        return False

    def _after(
        self, trails: dict[int, tuple[Edge, ...]], position: int
    ) -> tuple[dict[int, tuple[Edge, ...]], int] | None:
        """One role behind a possessive: where it leads and its last word; None without a role."""
        declared: int | None = None
        for first in range(position, position + _BESIDE_ROLE + 1):
            for last, name in self._names_from(first):
                taken = self._step(trails, self.rules.role(name))
                if taken:
                    return taken, last
                if declared is None and name in self.rules.roles:
                    declared = last
            if not self._may_pass(first):
                break
        return None if declared is None else ({}, declared)

    def _before(
        self, trails: dict[int, tuple[Edge, ...]], position: int
    ) -> tuple[dict[int, tuple[Edge, ...]], int] | None:
        """One role before "of": where it leads and the place before it; None without one."""
        while position > 0 and self.words[position].word in ("the", "my", "our"):
            position -= 1
        if position < 1 or self.words[position].word != "of":
            return None
        for first in range(max(0, position - _LONGEST_ROLE), position):
            span = range(first, position)
            if self.inside & {*span} or self.words[first].word in _STOP:
                continue
            name = " ".join(self.words[place].word for place in span)
            taken = self._step(trails, self.rules.role(name))
            if taken or name in self.rules.roles:
                return taken, first - 1
        return None

    def _names_from(self, first: int) -> Iterator[tuple[int, str]]:
        """Runs of words that may be a role, the longest first, with the place of the last."""
        longest = 0
        for place in range(first, min(first + _LONGEST_ROLE, len(self.words))):
            if place in self.inside or self.words[place].word in _STOP:
                break
            longest += 1
            if self.words[place].possessive:
                break
        for length in range(longest, 0, -1):
            span = self.words[first : first + length]
            yield first + length - 1, " ".join(token.word for token in span)

    def _may_pass(self, place: int) -> bool:
        return (
            place < len(self.words)
            and place not in self.inside
            and self.words[place].word not in _STOP
            and not self.words[place].possessive
        )

    def _step(self, trails: dict[int, tuple[Edge, ...]], role: Role) -> dict[int, tuple[Edge, ...]]:
        """Where a role leads from where the trails end; weak predicates only where others fail."""
        for forward, backward in (
            (role.forward, role.backward),
            (role.weak_forward, role.weak_backward),
        ):
            found: dict[int, tuple[Edge, ...]] = {}
            for entity, trail in trails.items():
                for edge in self.graph.around(entity):
                    name = predicate_key(edge.predicate)
                    leads = (name in forward and edge.subject == entity) or (
                        name in backward and edge.object == entity
                    )
                    if leads and self.wanted(edge):
                        end = edge.other(entity)
                        found[end] = (*found.get(end, ()), *trail, edge)
            if found:
                ends = sorted(found, key=self.graph.order)[:_MOST_ENDS]
                return {end: found[end] for end in ends}
        return {}


@lru_cache(maxsize=4_096)
def _verb(predicate: str) -> str:
    """The stem of a predicate's first word; "" where that says nothing."""
    first = predicate.replace("_", " ").partition(" ")[0].lower()
    return "" if first in _STOP else stem(first)


@lru_cache(maxsize=4_096)
def predicate_key(predicate: str) -> str:
    """A predicate as the tables write it: "Works at" is works_at."""
    return "_".join(predicate.casefold().replace("_", " ").split())


def _edges(groups: Iterable[Sequence[Edge]]) -> tuple[Edge, ...]:
    """The edges of all groups in order, each once."""
    return tuple(dict.fromkeys(edge for group in groups for edge in group))

"""`lila.graph`: how the entities in the person's life relate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from lila_app import moments, policies
from lila_app.errors import NotFoundError, UsageError
from lila_app.facade import convert
from lila_app.graph import rules
from lila_app.graph.snapshot import Edge, holds
from lila_app.graph.suggest import suggestions
from lila_app.resources import Resources
from lila_app.storage import entities, forget, merges, relations
from lila_app.storage.entities import EntityRow
from lila_app.storage.relations import RelationRow
from lila_app.storage.values import instant
from lila_app.views import ForgetReport, RelationInfo
from lila_app.views.graph import EntityInfo, MergeInfo, PartedInfo, SuggestionInfo

_ID = re.compile(r"e\d+")


class Graph:
    """Relations of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def add(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: str | None = None,
        valid_to: str | None = None,
        source: str = "",
    ) -> RelationInfo:
        """Keep a relation that holds from and to a day or a time (open where None)."""
        row = relations.add(
            self._store,
            subject,
            predicate,
            object,
            valid_from=self._moment(valid_from),
            valid_to=self._moment(valid_to),
            source=source,
            at=self._now(),
        )
        return convert.relation(row)

    def alias(self, entity: str, alias: str) -> EntityInfo:
        """Say that an entity also goes by another name."""
        name = self._entity(entity).name
        row = relations.add_entity(self._store, name, aliases=(alias,), at=self._now())
        return _info(row, self._counts())

    def list(self, limit: int | None = None) -> tuple[RelationInfo, ...]:
        """Every relation, by id; the newest `limit` of them."""
        rows = relations.all_relations(self._store)
        return tuple(convert.relation(row) for row in rows[-limit if limit else None :])

    def show(
        self,
        entity: str,
        now: datetime | str | None = None,
        *,
        as_of: str | None = None,
    ) -> tuple[RelationInfo, ...]:
        """Relations that hold now of everyone the name can mean, by id. Raises NotFoundError.

        What stands in several rows, as after a merge, is told once, with their ids in `also`. With
        `as_of` (a day, to its end, or a time) those that were believed then to hold.
        """
        rows: dict[str, RelationRow] = {}
        for found in self._entities(entity):
            if as_of is not None:
                known = relations.as_of(self._store, found.id, self._end(as_of))
            else:
                known = self._holding(found.id, self._at(now))
            rows.update((row.id, row) for row in known)
        ordered = sorted(rows.values(), key=lambda row: int(row.id[1:]))
        return _each_once(ordered)

    def path(self, a: str, b: str, now: datetime | str | None = None) -> tuple[RelationInfo, ...]:
        """A shortest path between two entities over what holds now; empty when there is none."""
        one, other = self._row(a), self._row(b)
        at = self._at(now)

        def holding(edge: Edge) -> bool:
            return holds(edge, at)

        edges = self._resources.mirror.current().path(one, other, holding)
        rows = self._resources.mirror.rows([edge.id for edge in edges])
        return tuple(convert.relation(rows[edge.id]) for edge in edges if edge.id in rows)

    def forget(self, id: str) -> ForgetReport:
        """Erase a relation and every trace of it."""
        return convert.forgotten(forget.forget_relation(self._store, id, at=self._now()))

    def aliases(self, entity: str | None = None) -> tuple[EntityInfo, ...]:
        """Every entity with its other names, by id; or everyone a name can mean."""
        found = entities.all_entities(self._store) if entity is None else self._entities(entity)
        counts = self._counts()
        return tuple(_info(one, counts) for one in found)

    def merged(self) -> tuple[MergeInfo, ...]:
        """Entities that are taken for one, by the merge's id."""
        return tuple(
            MergeInfo(one.id, one.names[0], one.names[1], one.why, one.at)
            for one in merges.list_merges(self._store)
        )

    def merge(self, kept: str, gone: str) -> MergeInfo:
        """Take one entity for another, each by a name or an id. Raises UsageError where it is."""
        one, other = self._entity(kept), self._entity(gone)
        if one.id == other.id:
            what = f"{one.name} ({one.id})"
            twice = f"{what} was named twice"
            raise UsageError(
                twice if kept == gone else f"{kept} and {gone} already are one: {what}",
                hint="name two that are known apart; `lila graph aliases` shows who is who",
            )
        made = merges.merge(self._store, one.id, other.id, at=self._now()).merge
        return MergeInfo(made.id, made.names[0], made.names[1], made.why, made.at)

    def unmerge(self, id: str) -> PartedInfo:
        """Take a merge back; what was learnt since stays with the kept entity, and is named."""
        parted = merges.unmerge(self._store, id, at=self._now())
        counts = self._counts()
        return PartedInfo(_info(parted.kept, counts), _info(parted.gone, counts), parted.later)

    def split(self, entity: str, name: str, relations: Sequence[str]) -> EntityInfo:
        """Give relations of an entity to another of a distinguished name ("Alex (work)")."""
        made = merges.split(self._store, self._entity(entity).id, name, relations, at=self._now())
        return _info(made, self._counts())

    def suggest(self) -> tuple[SuggestionInfo, ...]:
        """Entities that may be one, best reason first; nothing is merged."""
        declared = rules.load(policies.sources(self._resources.home, "graph"), {})
        told = (
            frozenset(entities.get_entity(self._store, end).id for end in (one.kept, one.gone))
            for one in merges.list_merges(self._store, undone=True)
        )
        found = suggestions(
            entities.all_entities(self._store), self._counts(), told, declared.nicknames
        )
        return tuple(
            SuggestionInfo(one.kept.id, one.kept.name, one.gone.id, one.gone.name, one.reason)
            for one in found
        )

    def _counts(self) -> dict[str, int]:
        graph = self._resources.mirror.current()
        return {f"e{entity}": len(edges) for entity, edges in graph.near.items()}

    def _holding(self, entity: str, at: str) -> Sequence[RelationRow]:
        graph = self._resources.mirror.current()
        ids = [edge.id for edge in graph.around(int(entity[1:])) if holds(edge, at)]
        return tuple(self._resources.mirror.rows(ids).values())

    def _row(self, name: str) -> int:
        return int(self._entity(name).id[1:])

    def _entities(self, name: str) -> Sequence[EntityRow]:
        found = (
            [entities.get_entity(self._store, name)]
            if _ID.fullmatch(name)
            else entities.called(self._store, name)
        )
        if not found:
            raise NotFoundError(
                f"nothing is known about {name!r}", hint="`lila graph add` makes it known"
            )
        return found

    def _entity(self, name: str) -> EntityRow:
        """The one that has the name itself, else the only one it can mean."""
        exact = None if _ID.fullmatch(name) else entities.find_entity(self._store, name)
        found = [exact] if exact else self._entities(name)
        if len(found) > 1:
            each = ", ".join(f"{one.name} ({one.id})" for one in found)
            raise UsageError(f"{name!r} can mean {each}", hint="give the id of the one you mean")
        return found[0]

    def _now(self) -> str:
        return moments.stored(self._resources.clock())

    def _moment(self, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return instant(text)
        # A day alone stays that day whatever zone it is read in, as it does for facts that are
        # learnt; a beginning where the person lives would be the day before in the store.
        return instant(datetime.combine(day, time(), UTC))

    def _end(self, text: str) -> str:
        """A time, or the last second of a day where the person lives; so is a time without zone."""
        zone = self._resources.settings.zone
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return instant(moments.in_zone(text, zone))
        after = datetime.combine(day + timedelta(days=1), time(), zone)
        return instant(after - timedelta(seconds=1))

    def _at(self, now: datetime | str | None) -> str:
        return moments.stored(moments.resolve(now, self._resources.clock))


def _each_once(rows: Sequence[RelationRow]) -> tuple[RelationInfo, ...]:
    """The relations, those that say the very same of the same two as one."""
    same: dict[tuple[str | None, ...], list[RelationRow]] = {}
    for row in rows:
        ends = (row.subject_id, row.predicate, row.object_id)
        same.setdefault((*ends, row.valid_from, row.valid_to, row.status), []).append(row)
    return tuple(
        replace(convert.relation(first), also=tuple(row.id for row in others))
        for first, *others in same.values()
    )


def _info(row: EntityRow, counts: dict[str, int]) -> EntityInfo:
    return EntityInfo(row.id, row.name, row.aliases, counts.get(row.id, 0))

"""`lila.graph`: how the entities in the person's life relate."""

from __future__ import annotations

from datetime import date, datetime, time

from lila_app import moments
from lila_app.errors import NotFoundError
from lila_app.facade import convert
from lila_app.resources import Resources
from lila_app.storage import forget, relations
from lila_app.storage.relations import EntityRow
from lila_app.storage.values import instant
from lila_app.views import ForgetReport, RelationInfo


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
            at=moments.stored(self._resources.clock()),
        )
        return convert.relation(row)

    def alias(self, entity: str, alias: str) -> None:
        """Say that an entity also goes by another name."""
        at = moments.stored(self._resources.clock())
        relations.add_entity(self._store, self._entity(entity).name, aliases=(alias,), at=at)

    def list(self) -> tuple[RelationInfo, ...]:
        """Every relation, by id."""
        return tuple(convert.relation(row) for row in relations.all_relations(self._store))

    def show(self, entity: str, now: datetime | str | None = None) -> tuple[RelationInfo, ...]:
        """Relations of an entity that hold now, by id. Raises NotFoundError."""
        rows = self._resources.mirror.current().around(self._entity(entity).id, self._at(now))
        return tuple(convert.relation(row) for row in rows)

    def path(self, a: str, b: str, now: datetime | str | None = None) -> tuple[RelationInfo, ...]:
        """A shortest path between two entities over what holds now; empty when there is none."""
        one, other = self._entity(a).id, self._entity(b).id
        rows = self._resources.mirror.current().path(one, other, self._at(now))
        return tuple(convert.relation(row) for row in rows)

    def forget(self, id: str) -> ForgetReport:
        """Erase a relation and every trace of it."""
        at = moments.stored(self._resources.clock())
        return convert.forgotten(forget.forget_relation(self._store, id, at=at))

    def _entity(self, name: str) -> EntityRow:
        found = relations.find_entity(self._store, name)
        if found is None:
            raise NotFoundError(
                f"nothing is known about {name!r}", hint="`lila graph add` makes it known"
            )
        return found

    def _moment(self, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return instant(text)
        # A day alone means its beginning where the person lives.
        return instant(datetime.combine(day, time(), self._resources.settings.zone))

    def _at(self, now: datetime | str | None) -> str:
        return moments.stored(moments.resolve(now, self._resources.clock))

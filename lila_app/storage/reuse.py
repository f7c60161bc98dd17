"""How soon a prefix is sent again: what a cache lifetime is chosen by.

A prefix is sent again when a later call of the same model and credential has the same hash at any
of its breakpoints. The last breakpoint of a prompt moves with the conversation, so its hash comes
only once; there the later call counts that stands in the same session and epoch on the same prefix
above (its `lineage`): within those nothing but an addition can have happened in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection
from lila_app.storage.values import moment

MOST = 200
"""How many of the latest calls are looked at: some weeks of one person's use."""

_EARLIER = (
    "(select max(e.at) from prefixes e where e.{column} = p.{column} and e.provider = p.provider "
    "and e.model = p.model and e.credential = p.credential and e.attempt_id < p.attempt_id)"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where prefixes end: a breakpoint of a use case under one model."""

    use_case: str
    provider: str
    model: str
    after: str


def gaps(source: Source, place: Place) -> tuple[float, ...]:
    """Seconds since the call before that had the same prefix, newest first, the latest 200.

    Infinity for a call that is the first of its prefix: nothing was there for it to read.
    """
    with reading(source) as connection:
        rows = connection.execute(
            f"select p.at, {_EARLIER.format(column='sha256')}, "
            f"{_EARLIER.format(column='lineage')} from prefixes p where p.use_case = ? "
            "and p.provider = ? and p.model = ? and p.after = ? and p.attempt_id is not null "
            "order by p.id desc limit ?",
            (place.use_case, place.provider, place.model, place.after, MOST),
        ).fetchall()
    return tuple(_gap(*row) for row in rows)


def places(source: Source) -> list[Place]:
    """Every breakpoint of which a call is kept, by name."""
    with reading(source) as connection:
        return _places(connection)


def _places(connection: Connection) -> list[Place]:
    rows = connection.execute(
        "select distinct use_case, provider, model, after from prefixes "
        "where attempt_id is not null order by 1, 2, 3, 4"
    )
    return [Place(*row) for row in rows]


def _gap(at: str, same: str | None, grown: str | None) -> float:
    before = max(same or "", grown or "")
    if not before:
        return math.inf
    # A clock that was set back makes no negative gap.
    return max(0.0, (moment(at) - moment(before)).total_seconds())

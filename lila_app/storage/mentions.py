"""Which names of the graph are likely to come up: those used most, and those used last."""

from __future__ import annotations

from itertools import chain

from lila_app.storage import entities
from lila_app.storage.connection import Source, reading

# A relation mentions both its ends when it is learned, and again whenever a reply used the memory
# it came from.
_MENTIONS = """
with both as (
    select id, fact_id, subject_id as entity, at from relations
    union all select id, fact_id, object_id, at from relations
), mentions as (
    select entity, at from both
    union all
    select both.entity, uses.at from both join facts on facts.id = both.fact_id
    join uses on uses.memory_id = facts.memory_id
)
select entity, count(*), max(at) from mentions group by entity
"""


def likely(source: Source, limit: int) -> list[str]:
    """Names, at most so many: in turns the one mentioned most and the one mentioned last.

    Of what was merged, the name that was kept. What has no capital letter is no name.
    """
    with reading(source) as connection:
        kept = entities.roots(connection)
        counts: dict[int, int] = {}
        last: dict[int, str] = {}
        for entity, count, at in connection.execute(_MENTIONS):
            root = kept.get(entity, entity)
            counts[root] = counts.get(root, 0) + count
            last[root] = max(last.get(root, ""), at)
        rows = connection.execute("select id, name from entities where name <> lower(name)")
        names: dict[int, str] = {row: name for row, name in rows if row in counts}
    most = sorted(names, key=lambda row: (-counts[row], row))
    newest = sorted(sorted(names, reverse=True), key=lambda row: last[row], reverse=True)
    mixed = dict.fromkeys(chain.from_iterable(zip(most, newest, strict=True)))
    return [names[row] for row in mixed][:limit]

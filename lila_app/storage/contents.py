"""Explicit caches held at a provider: their names there, so that they can be used and deleted."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection


@dataclass(frozen=True, slots=True)
class ContentRow:
    """`key` is the hash of what is in it; "" once something anywhere was forgotten.

    Such a one matches nothing any more; its name stays, for whoever made it to delete it.
    """

    name: str
    provider: str
    model: str
    key: str
    session_id: str
    tokens: int
    expires: str


def list_contents(source: Source, provider: str, model: str) -> tuple[ContentRow, ...]:
    """Those of one model, by name."""
    with reading(source) as connection:
        rows = connection.execute(
            "select name, provider, model, key, session_id, tokens, expires from contents "
            "where provider = ? and model = ? order by name",
            (provider, model),
        ).fetchall()
    return tuple(ContentRow(*row) for row in rows)


def keep(source: Source, row: ContentRow) -> None:
    """Keep one, or replace the one of its name."""
    with writing(source) as connection:
        connection.execute(
            "insert or replace into contents values (?, ?, ?, ?, ?, ?, ?)",
            (
                *(row.name, row.provider, row.model, row.key, row.session_id),
                *(row.tokens, row.expires),
            ),
        )


def drop(source: Source, name: str) -> None:
    """Forget one."""
    with writing(source) as connection:
        connection.execute("delete from contents where name = ?", (name,))


def disown(connection: Connection) -> None:
    """After a forgetting: no cache may be used again, and no hash of it is kept.

    Of all of them, because a hash does not say what is in it; making one anew costs a write.
    """
    connection.execute("update contents set key = ''")

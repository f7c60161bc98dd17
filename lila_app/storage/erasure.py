"""The erasure generation, by which background work notices that something was forgotten.

A worker reads `generation` before it reads what it will work on, and passes it to the function
that stores the outcome. That function compares it inside its own transaction and stores nothing
when it moved: nothing forgotten can come back through work that was already under way.
"""

from __future__ import annotations

from lila_app.errors import StorageError
from lila_app.storage.connection import Source, reading
from lila_app.storage.driver import Connection


class OvertakenError(StorageError):
    """Background work came too late; the worker starts again from what is left."""


def generation(source: Source) -> int:
    """How many forgettings there have been."""
    with reading(source) as connection:
        value: int = connection.execute(
            "select value from counters where name = 'erasures'"
        ).fetchone()[0]
        return value


def require(connection: Connection, since: int | None) -> None:
    """Raise `OvertakenError` if anything was forgotten since; None means no work was under way."""
    if since is not None and generation(connection) != since:
        raise OvertakenError(
            "something was forgotten while this was being worked out, so it was not stored",
            hint="do it again",
        )


def bump(connection: Connection) -> None:
    """Count one forgetting."""
    connection.execute("update counters set value = value + 1 where name = 'erasures'")

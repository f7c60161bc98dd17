"""The state of each provider's breaker, shared by all processes on one store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lila_app.storage.connection import Source, Store, reading
from lila_app.storage.driver import Connection

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BreakerRow:
    """`until` and `probing` are seconds since 1970, 0 for none; counts are in a row."""

    failures: int = 0
    until: float = 0.0
    probing: float = 0.0
    opened: int = 0
    reason: str = ""


def get(source: Source, key: str) -> BreakerRow:
    """The state under a key; that of a closed breaker if there is none."""
    with reading(source) as connection:
        return _get(connection, key)


def change(store: Store, key: str, work: Callable[[BreakerRow], tuple[BreakerRow, T]]) -> T:
    """Replace a state by what `work` makes of it.

    Read and written under one write lock, so that of two processes that find a breaker half-open
    only one becomes the probe.
    """
    with store.write() as connection:
        before = _get(connection, key)
        after, told = work(before)
        if after != before:
            connection.execute(
                "insert or replace into breakers values (?, ?, ?, ?, ?, ?)",
                (key, after.failures, after.until, after.probing, after.opened, after.reason),
            )
        return told


def _get(connection: Connection, key: str) -> BreakerRow:
    row = connection.execute(
        "select failures, until, probing, opened, reason from breakers where key = ?", (key,)
    ).fetchone()
    return BreakerRow() if row is None else BreakerRow(*row)

"""How many rows of a table hold a word, remembered until the full-text index changes.

The common words are the dear ones to count (0.4 ms each at 100,000 rows), and they are the ones
that are asked for again and again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from lila_app.storage.driver import Connection
from lila_app.storage.terms import quoted

_MOST_WORDS = 20_000
"""Words remembered for one state of an index; past it all are counted anew."""

Stamp = tuple[bytes, bytes, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """The rows of one state of a table, and how many hold each word asked for so far."""

    stamp: Stamp
    rows: int
    words: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])


class Frequencies:
    """Counts for the tables of one store; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[str, Counted] = {}

    def rows(self, connection: Connection, table: str) -> int:
        """Rows of the table."""
        return self._state(connection, table).rows

    def holding(
        self, connection: Connection, table: str, words: list[str], limit: int
    ) -> dict[str, int]:
        """Rows that hold each word, counted no further than one past the limit."""
        state = self._state(connection, table)
        found: dict[str, int] = {}
        for word in words:
            known = state.words.get((word, limit))
            if known is None:
                known = _count(connection, table, word, limit)
                if len(state.words) < _MOST_WORDS:
                    state.words[word, limit] = known
            found[word] = known
        return found

    def _state(self, connection: Connection, table: str) -> Counted:
        stamp = _stamp(connection, table)
        with self._lock:
            held = self._counted.get(table)
        if held is None or held.stamp != stamp:
            rows: int = connection.execute(f"select count(*) from {table}").fetchone()[0]
            held = Counted(stamp, rows)
            with self._lock:
                self._counted[table] = held
        return held


def _stamp(connection: Connection, table: str) -> Stamp:
    """What cannot stay the same when the index changes, in the snapshot of this connection.

    FTS5 keeps in row 10 of its data the structure with a count of the pages ever written, and in
    row 1 the number of rows and words: an insertion or an update moves the first, a deletion the
    second (fts5_index.c of SQLite 3.53, read 2026-11-30; a test goes through every kind of
    change). A backup that is put back has a history of its own, hence `incarnation`.
    """
    blocks = dict(
        connection.execute(f"select id, block from {table}_fts_data where id in (1, 10)").fetchall()
    )
    incarnation: int = connection.execute(
        "select value from counters where name = 'incarnation'"
    ).fetchone()[0]
    return bytes(blocks.get(10, b"")), bytes(blocks.get(1, b"")), incarnation


def _count(connection: Connection, table: str, word: str, limit: int) -> int:
    counted: int = connection.execute(
        f"select count(*) from (select 1 from {table}_fts where {table}_fts match ? limit ?)",
        (quoted(word), limit + 1),
    ).fetchone()[0]
    return counted

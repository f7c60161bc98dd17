"""How many rows of a table hold a word, remembered until the full-text index changes.

The common words are the dear ones to count (0.4 ms each at 100,000 rows), and they are the ones
that are asked for again and again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from lila_app.storage.driver import Connection
from lila_app.storage.terms import quoted

_MOST_WORDS = 20_000
"""Words remembered for one state of an index; past it all are counted anew."""

Stamp = tuple[bytes, bytes, int]


@dataclass(frozen=True, slots=True)
class Counted:
    """The rows of one state of a table, and how many hold each word asked for so far."""

    table: str
    stamp: Stamp
    rows: int
    words: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def holding(self, connection: Connection, words: Sequence[str], limit: int) -> dict[str, int]:
        """Rows that hold each word, counted no further than one past the limit.

        The connection must be in the snapshot that the state was asked for in.
        """
        found: dict[str, int] = {}
        for word in words:
            known = self.words.get((word, limit))
            if known is None:
                known = _count(connection, self.table, word, limit)
                if len(self.words) < _MOST_WORDS:
                    self.words[word, limit] = known
            found[word] = known
        return found


class Frequencies:
    """Counts for the tables of one store; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[str, Counted] = {}

    def state(self, connection: Connection, table: str) -> Counted:
        """What is known of a table as this connection sees it; the same object until it changes."""
        stamp = _stamp(connection, table)
        with self._lock:
            held = self._counted.get(table)
        if held is None or held.stamp != stamp:
            rows: int = connection.execute(f"select count(*) from {table}").fetchone()[0]
            held = Counted(table, stamp, rows)
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
    data = f"select block from {table}_fts_data where id"
    structure, totals, incarnation = connection.execute(
        f"select ({data} = 10), ({data} = 1), "
        "(select value from counters where name = 'incarnation')"
    ).fetchone()
    return structure or b"", totals or b"", incarnation


def _count(connection: Connection, table: str, word: str, limit: int) -> int:
    counted: int = connection.execute(
        f"select count(*) from (select 1 from {table}_fts where {table}_fts match ? limit ?)",
        (quoted(word), limit + 1),
    ).fetchone()[0]
    return counted

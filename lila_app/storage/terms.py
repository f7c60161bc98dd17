"""Words as the full-text index sees them, worked out in memory so that nothing is written.

SQLite's own tokenizer does the work: a second implementation of its Unicode rules and of Porter
stemming would differ somewhere, and a term that differs is a term that is never found.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from lila_app.storage import driver
from lila_app.storage.schema import TOKENIZER

_UNSTEMMED = TOKENIZER.removeprefix("porter ")


class Terms:
    """A private in-memory index; one call at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory = driver.memory()
        self._last: tuple[str, int, dict[str, str]] | None = None
        for table, tokenizer in (("words", _UNSTEMMED), ("stems", TOKENIZER)):
            # Nothing is ranked here, and the sizes of columns would take a quarter of the time.
            self._memory.execute(
                f"create virtual table {table} "
                f"using fts5(text, tokenize='{tokenizer}', columnsize=0)"
            )
            self._memory.execute(
                f"create virtual table {table}_terms using fts5vocab({table}, 'instance')"
            )

    def stems(self, text: str, limit: int) -> dict[str, str]:
        """The first `limit` distinct words of a text, folded, each with its stem, in order.

        The index is asked for the word and not for the stem: stemming a stem again may change it.
        The last text's are remembered: a question asks every table with the same one.
        """
        with self._lock:
            if self._last is None or self._last[:2] != (text, limit):
                self._last = text, limit, self._stems(text, limit)
            return dict(self._last[2])

    def _stems(self, text: str, limit: int) -> dict[str, str]:
        self._memory.execute("begin")
        try:
            self._memory.execute("insert into words (rowid, text) values (1, ?)", (text,))
            rows = self._memory.execute("select term from words_terms order by offset")
            words = list(dict.fromkeys(row[0] for row in rows))[:limit]
            self._memory.executemany(
                "insert into stems (rowid, text) values (?, ?)", enumerate(words)
            )
            rows = self._memory.execute("select doc, term from stems_terms")
            found = {row[0]: row[1] for row in rows}
        finally:
            self._memory.execute("rollback")
        return {word: found.get(place) or word for place, word in enumerate(words)}

    def matches(self, texts: Mapping[int, str], words: Iterable[str]) -> dict[int, set[str]]:
        """Which of these words, stemmed, each text holds."""
        matched: dict[int, set[str]] = {key: set() for key in texts}
        wanted = list(words)
        if not wanted:
            return matched
        # One statement with a row a word: each row that is fetched lets go of Python's lock.
        one = "select group_concat(rowid) from stems where stems match ?"
        asked = " union all ".join([one] * len(wanted))
        with self._lock:
            self._memory.execute("begin")
            try:
                self._memory.executemany(
                    "insert into stems (rowid, text) values (?, ?)", texts.items()
                )
                found = self._memory.execute(asked, [quoted(word) for word in wanted]).fetchall()
            finally:
                self._memory.execute("rollback")
        for word, (keys,) in zip(wanted, found, strict=True):
            for key in keys.split(",") if keys else ():
                matched[int(key)].add(word)
        return matched

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()


def quoted(word: str) -> str:
    """A word as an FTS5 string, so that nothing in it is taken for query syntax."""
    return '"' + word.replace('"', '""') + '"'

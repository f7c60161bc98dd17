"""An export put back into an empty store: the same rows under the same ids, so the same contexts.

All or nothing: it is one transaction, and at its end the event log must follow link by link from
its beginning, with every payload as its HMAC says. So an export that was changed, or is not whole,
is refused. Into a store that holds something it is not put: its ids would be others, and what
refers to them (records, cuts, facts) would lie. What was said can be added anywhere:
`messages.jsonl` in it is imported like any other JSONL.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from lila_app.errors import DocumentError, UsageError
from lila_app.storage import events, migrations, portable
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection, DatabaseError

Progress = Callable[[int, int, str], None]

LONGEST_LINE = 256_000_000
"""Bytes of one row: a record of the largest context, several times over."""

LARGEST_RATIO = 1_000
"""Times a member of a zip may be larger than it is packed; deflate cannot go beyond 1032, and the
log's columns of zeros and ids come near a hundred."""

_ROWS = 1_000


def restore(store: Store, path: Path, progress: Progress) -> tuple[tuple[str, int], ...]:
    """Put an export into a store that holds nothing yet; rows a table.

    Raises `UsageError` for a store that is not empty, `DocumentError` for what is no whole export.
    """
    path = path.expanduser()
    try:
        with _opened(path) as export, store.write() as connection:
            return _restore(export, connection, progress)
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise DocumentError(f"{path}: it cannot be read ({error})", hint=_HINT) from error


def told(path: Path) -> tuple[tuple[str, int], ...]:
    """What an export's manifest says it holds: rows a file. Raises `DocumentError`."""
    path = path.expanduser()
    try:
        with _opened(path) as export:
            rows = cast("Mapping[str, int]", export.manifest().get("rows") or {})
            return tuple(rows.items())
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise DocumentError(f"{path}: it cannot be read ({error})", hint=_HINT) from error


_HINT = "nothing was changed; export it again with `lila db export`"


class _Export:
    def __init__(self, path: Path, open_file: Callable[[str], IO[bytes]]) -> None:
        self.path = path
        self._open = open_file

    def error(self, what: str) -> DocumentError:
        return DocumentError(f"{self.path}: {what}", hint=_HINT)

    def manifest(self) -> Mapping[str, object]:
        with self._open(portable.MANIFEST) as file:
            try:
                found: object = json.loads(file.read(1 << 20))
            except ValueError:
                raise self.error("its manifest is no JSON") from None
        manifest = cast("Mapping[str, object]", found if isinstance(found, dict) else {})
        if manifest.get("lila_export") != portable.FORMAT:
            raise self.error("it is of a form this LILA does not know")
        if manifest.get("schema") != len(migrations.MIGRATIONS):
            raise self.error(
                f"it was written by LILA {manifest.get('lila')}, whose store has other tables"
            )
        return manifest

    def rows(self, name: str) -> Iterator[tuple[int, Mapping[str, object]]]:
        """(line, row) of a table's file."""
        try:
            file = self._open(name)
        except (KeyError, FileNotFoundError):
            raise self.error(f"{name} is missing") from None
        with file, io.BufferedReader(cast("io.RawIOBase", file), 1 << 20) as lines:
            number = 0
            while line := lines.readline(LONGEST_LINE):
                number += 1
                try:
                    row: object = json.loads(line)
                except (ValueError, RecursionError):
                    raise self.error(f"{name}: line {number} is no JSON") from None
                if not isinstance(row, dict):
                    raise self.error(f"{name}: line {number} is no row")
                yield number, cast("Mapping[str, object]", row)


@contextmanager
def _opened(path: Path) -> Generator[_Export]:
    if path.is_dir():
        yield _Export(path, lambda name: (path / name).open("rb"))
        return
    with zipfile.ZipFile(path) as archive:

        def member(name: str) -> IO[bytes]:
            told = archive.getinfo(name)
            if told.file_size > LARGEST_RATIO * max(1, told.compress_size):
                raise DocumentError(f"{path}: {name} unpacks to far too much", hint=_HINT)
            return archive.open(told)

        yield _Export(path, member)


def _restore(
    export: _Export, connection: Connection, progress: Progress
) -> tuple[tuple[str, int], ...]:
    manifest = export.manifest()
    if connection.execute(
        "select (select count(*) from events) + (select count(*) from documents)"
    ).fetchone()[0]:
        raise UsageError(
            "this profile holds something already, and an export is put back into an empty one",
            hint=f"use a new profile (`lila --profile NAME import …`), or import "
            f"{export.path}/{portable.MESSAGES} to add what was said",
        )
    # Tables refer to each other both ways; what they refer to is checked at the end.
    connection.execute("pragma defer_foreign_keys = on")
    told = cast("Mapping[str, int]", manifest.get("rows") or {})
    total = sum(told.values())
    counts: dict[str, int] = {}
    for table in portable.tables(connection):
        progress(sum(counts.values()), total, table)
        counts[table] = _table(export, connection, table)
        if counts[table] != told.get(f"{table}.jsonl"):
            raise export.error(f"{table}.jsonl does not have the rows its manifest says")
    _sequences(connection, cast("Mapping[str, int]", manifest.get("sequences") or {}))
    _verify(export, connection)
    return tuple(counts.items())


def _table(export: _Export, connection: Connection, table: str) -> int:
    known = portable.columns(connection, table)
    names: list[str] | None = None
    waiting: list[list[portable.Value]] = []
    count = 0
    for line, row in export.rows(f"{table}.jsonl"):
        if names is None:
            names = list(row)
        if list(row) != names or not set(names) <= set(known):
            raise export.error(
                f"{table}.jsonl: line {line} has other fields than {', '.join(known)}"
            )
        count += 1
        if table == "counters" and row["name"] in portable.OWN_COUNTERS:
            continue
        try:
            waiting.append([portable.back(table, name, row[name]) for name in names])
        except (ValueError, TypeError) as error:
            raise export.error(f"{table}.jsonl: line {line}: {error}") from None
        if len(waiting) >= _ROWS:
            _insert(export, connection, table, names, waiting)
            waiting = []
    if names and waiting:
        _insert(export, connection, table, names, waiting)
    return count


def _insert(
    export: _Export,
    connection: Connection,
    table: str,
    names: list[str],
    rows: list[list[portable.Value]],
) -> None:
    marks = ", ".join("?" * len(names))
    # Counters are there from the beginning; anywhere else a row that comes twice is no export.
    verb = "insert or replace" if table == "counters" else "insert"
    try:
        connection.executemany(f"{verb} into {table} ({', '.join(names)}) values ({marks})", rows)
    except DatabaseError as error:
        if "constraint" not in str(error).lower() and "mismatch" not in str(error).lower():
            raise
        raise export.error(f"{table}.jsonl holds a row that cannot be ({error})") from error


def _sequences(connection: Connection, sequences: Mapping[str, int]) -> None:
    """Numbers once given are not given again, also those of rows that are gone."""
    known = set(portable.tables(connection))
    for table, last in sequences.items():
        if table not in known:
            continue
        changed = connection.execute(
            "update sqlite_sequence set seq = max(seq, ?) where name = ?", (int(last), table)
        )
        if not changed.rowcount:
            connection.execute("insert into sqlite_sequence values (?, ?)", (table, int(last)))


def _verify(export: _Export, connection: Connection) -> None:
    problems = events.verify(connection)
    if problems:
        first = problems[0]
        raise export.error(f"its event log was changed: {first.where}: {first.detail}")
    for table, row, parent, _ in connection.execute("pragma foreign_key_check"):
        raise export.error(f"{table} row {row} refers to a row of {parent} that is not there")

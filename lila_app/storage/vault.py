"""What privacy rules replaced: placeholders, and the values behind them, which only a key tells.

Derived from nothing: a value is here because it was to be in no event. An entry goes when no text
of the store holds its placeholder any more (`sweep`); its number is not given again.
"""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant

_FORM = re.compile(r"\[[A-Z]+[1-9][0-9]*[A-Z]*\]", re.ASCII)
_AT_ONCE = 500
"""Values bound in one statement; SQLite takes 32,766."""


@dataclass(frozen=True, slots=True)
class VaultRow:
    """`seal` finds the value as it is written, `root` the value however it is written.

    `hidden` is the value encrypted; `at` when it was first replaced.
    """

    placeholder: str
    kind: str
    seal: bytes
    root: bytes
    hidden: bytes
    at: str


def by_seals(source: Source, seals: Iterable[bytes]) -> dict[bytes, str]:
    """The placeholders of these seals, those there are."""
    found: dict[bytes, str] = {}
    wanted = list(seals)
    with reading(source) as connection:
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            rows = connection.execute(
                f"select seal, placeholder from vault where seal in ({marks})", part
            )
            found.update((bytes(seal), placeholder) for seal, placeholder in rows)
    return found


def by_root(source: Source, root: bytes) -> tuple[str, ...]:
    """Every way in which one value is written, the first one first."""
    with reading(source) as connection:
        rows = connection.execute(
            "select placeholder from vault where root = ? "
            "order by length(placeholder), placeholder",
            (root,),
        )
        return tuple(row[0] for row in rows)


def rows(source: Source) -> tuple[VaultRow, ...]:
    """All entries, by placeholder."""
    with reading(source) as connection:
        found = connection.execute(
            "select placeholder, kind, seal, root, value, at from vault order by placeholder"
        ).fetchall()
    return tuple(
        VaultRow(placeholder, kind, bytes(seal), bytes(root), bytes(value), at)
        for placeholder, kind, seal, root, value, at in found
    )


def size(source: Source) -> int:
    """How many entries there are."""
    with reading(source) as connection:
        return int(connection.execute("select count(*) from vault").fetchone()[0])


def numbered(source: Source) -> int:
    """The last number that was given."""
    with reading(source) as connection:
        return int(
            connection.execute("select value from counters where name = 'vault'").fetchone()[0]
        )


def next_number(connection: Connection) -> int:
    """A number no value had before."""
    value: int = connection.execute(
        "update counters set value = value + 1 where name = 'vault' returning value"
    ).fetchone()[0]
    return value


def add(connection: Connection, row: VaultRow) -> None:
    """Keep an entry."""
    connection.execute(
        "insert into vault (placeholder, kind, seal, root, value, at) values (?, ?, ?, ?, ?, ?)",
        (row.placeholder, row.kind, row.seal, row.root, row.hidden, instant(row.at)),
    )


def clear(connection: Connection) -> int:
    """Drop every entry; how many there were."""
    next_number(connection)  # whoever holds them in memory looks again
    return connection.execute("delete from vault").rowcount


def sweep(connection: Connection) -> tuple[str, ...]:
    """Drop the entries whose placeholder no text of the store holds; their placeholders.

    Part of a forgetting, inside its transaction, after what was to go is gone. Where nothing is
    redacted before storage that is every entry: the values themselves are in the texts, and the
    next request to a model on the network makes new entries.
    """
    held = {row[0] for row in connection.execute("select placeholder from vault")}
    if not held:
        return ()
    for text in _texts(connection):
        held.difference_update(_FORM.findall(text))
        if not held:
            return ()
    gone = sorted(held)
    connection.executemany("delete from vault where placeholder = ?", [(one,) for one in gone])
    return tuple(gone)


def mark(source: Source) -> None:
    """Say for good that texts of this store may hold placeholders that stand for something."""
    with writing(source) as connection:
        connection.execute("insert or ignore into counters (name, value) values ('redacted', 1)")


def marked(source: Source) -> bool:
    """Whether that was said."""
    with reading(source) as connection:
        found = connection.execute("select 1 from counters where name = 'redacted'").fetchone()
        return found is not None


def places(connection: Connection) -> dict[str, dict[str, int]]:
    """How often placeholders of each label stand in the texts of each table."""
    counts: dict[str, dict[str, int]] = {}
    for table in _tables(connection):
        for text in _of_table(connection, table):
            for found in _FORM.findall(text):
                label = found.strip("[]").rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").rstrip("0123456789")
                of_table = counts.setdefault(table, {})
                of_table[label] = of_table.get(label, 0) + 1
    return counts


def _texts(connection: Connection) -> Iterator[str]:
    for table in _tables(connection):
        yield from _of_table(connection, table)


def _tables(connection: Connection) -> list[str]:
    """Ordinary tables: not the vault, and not an index, which holds what its table holds."""
    rows = connection.execute("pragma table_list").fetchall()
    return sorted(
        row[1]
        for row in rows
        if row[0] == "main" and row[2] == "table" and not row[1].startswith(("sqlite_", "vault"))
    )


def _of_table(connection: Connection, table: str) -> Iterator[str]:
    """Texts that could hold a placeholder; what is packed is unpacked."""
    for _, name, kind, *_rest in connection.execute(f"pragma table_info({table})").fetchall():
        unpack = _PACKED.get((table, name))
        if unpack is not None:
            for (body,) in connection.execute(
                f"select {name} from {table} where {name} is not null"
            ):
                yield unpack(body)
        elif kind.upper() == "TEXT":
            rows = connection.execute(f"select {name} from {table} where instr({name}, '[') > 0")
            for (text,) in rows:
                if isinstance(text, str):
                    yield text


def _plain(body: str | bytes) -> str:
    return body if isinstance(body, str) else bytes(body).decode(errors="replace")


def _unzipped(body: bytes) -> str:
    return zlib.decompress(body).decode(errors="replace")


def _unpacked(body: bytes) -> str:
    return lzma.decompress(body).decode(errors="replace")


_PACKED: dict[tuple[str, str], Callable[[Any], str]] = {
    ("payloads", "body"): _plain,
    ("records", "body"): _unzipped,
    ("records", "inputs"): _unzipped,
    ("record_batches", "body"): _unpacked,
}
"""Columns of bytes that hold texts, and how they are read."""


HELD: tuple[tuple[str, str], ...] = (
    ("turns", "user"),
    ("turns", "reply"),
    ("memories", "text"),
    ("facts", "text"),
    ("chunks", "text"),
    ("goals", "text"),
    ("notes", "text"),
    ("cuts", "summary"),
)
"""Where a text of the person's, or one made of them, is kept: table and column."""


def texts(source: Source, limit: int | None = None) -> Iterator[tuple[str, str]]:
    """(table, text) of what is held, of each column the newest `limit`."""
    with reading(source) as connection:
        for table, column in HELD:
            rows = connection.execute(
                f"select {column} from {table} where {column} is not null and {column} != '' "
                "order by id desc limit ?",
                (-1 if limit is None else limit,),
            )
            for (text,) in rows:
                yield table, text

"""Batches of older records, compressed together."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lila_app.storage.driver import Connection

BATCH = 16
"""Records in a batch: enough that what turns share is stored once, few enough that reading one
record unpacks a megabyte or two at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record and what it was made from."""

    record: Mapping[str, Any]
    inputs: Mapping[str, Any]


def pack(entries: Mapping[int, Entry]) -> bytes:
    """The compressed form of a batch."""
    plain = {str(id): [entry.record, entry.inputs] for id, entry in entries.items()}
    return lzma.compress(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())


def read(connection: Connection, batch: int) -> dict[int, Entry]:
    """The records of a batch."""
    row = connection.execute("select body from record_batches where id = ?", (batch,)).fetchone()
    plain: dict[str, list[dict[str, Any]]] = json.loads(lzma.decompress(row[0]))
    return {int(id): Entry(record, inputs) for id, (record, inputs) in plain.items()}


def move(connection: Connection, records: Sequence[int], body: bytes) -> None:
    """Put a packed batch in place of the records' own copies."""
    batch: int = connection.execute(
        "insert into record_batches (body) values (?) returning id", (body,)
    ).fetchone()[0]
    connection.executemany(
        "update records set body = null, inputs = null, batch_id = ? where id = ?",
        [(batch, record) for record in records],
    )


def take_out(connection: Connection, batch: int, record: int) -> None:
    """Pack a batch again without one record; the caller stores what is left of that record."""
    entries = read(connection, batch)
    del entries[record]
    connection.execute("update records set batch_id = null where id = ?", (record,))
    if entries:
        connection.execute(
            "update record_batches set body = ? where id = ?", (pack(entries), batch)
        )
    else:
        connection.execute("delete from record_batches where id = ?", (batch,))

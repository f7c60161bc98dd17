"""The provider ledger: what each call cost, and which prefix it was sent with.

A number a provider did not report is None, which is not zero. Prefix hashes are plain hashes of
content, so they go when something in their record is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.values import instant, optional_id, optional_number

_USAGE = (
    "at, record_id, provider, model, total, read, written, output, first_token_ms, total_ms, "
    "finished"
)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One call. Tokens as reported; milliseconds of wall time; `finished` says how it ended.

    `total` is the whole prompt, `read` and `written` its parts from and into the provider's
    cache, `output` the reply. `finished` is "stop", "length", "stopped" or the error's name.
    """

    at: str
    record_id: str | None
    provider: str
    model: str
    total: int | None
    read: int | None
    written: int | None
    output: int | None
    first_token_ms: int | None
    total_ms: int | None
    finished: str


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """The longest cacheable prefix of one call: its hash, its tokens, where it was sent."""

    at: str
    record_id: str
    provider: str
    model: str
    slot: str
    sha256: str
    tokens: int


def add_usage(source: Source, row: UsageRow) -> None:
    """Add one call."""
    with writing(source) as connection:
        connection.execute(
            f"insert into usage ({_USAGE}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                instant(row.at),
                optional_number(row.record_id, "c"),
                row.provider,
                row.model,
                row.total,
                row.read,
                row.written,
                row.output,
                row.first_token_ms,
                row.total_ms,
                row.finished,
            ),
        )


def list_usage(source: Source, *, limit: int | None = None) -> list[UsageRow]:
    """Calls in order, the last `limit` of them."""
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_USAGE} from usage order by id desc limit ?",
            (-1 if limit is None else limit,),
        ).fetchall()
    return [_usage(row) for row in reversed(rows)]


def of_record(source: Source, record_id: str) -> list[UsageRow]:
    """The calls made with one record, in order."""
    with reading(source) as connection:
        rows = connection.execute(
            f"select {_USAGE} from usage where record_id = ? order by id",
            (optional_number(record_id, "c"),),
        )
        return [_usage(row) for row in rows]


def add_prefix(source: Source, row: PrefixRow) -> None:
    """Note the prefix a call was sent with."""
    with writing(source) as connection:
        connection.execute(
            "insert into prefixes (at, record_id, provider, model, slot, sha256, tokens) "
            "values (?, ?, ?, ?, ?, ?, ?)",
            (
                instant(row.at),
                optional_number(row.record_id, "c"),
                row.provider,
                row.model,
                row.slot,
                row.sha256,
                row.tokens,
            ),
        )


def last_prefix(source: Source, provider: str, model: str, slot: str) -> PrefixRow | None:
    """The prefix last sent there: the gap since `at` tells whether a cache can still hold it."""
    with reading(source) as connection:
        row = connection.execute(
            "select at, record_id, provider, model, slot, sha256, tokens from prefixes "
            "where provider = ? and model = ? and slot = ? order by id desc limit 1",
            (provider, model, slot),
        ).fetchone()
    return None if row is None else PrefixRow(row[0], f"c{row[1]}", *row[2:])


def _usage(row: tuple[Any, ...]) -> UsageRow:
    return UsageRow(row[0], optional_id("c", row[1]), *row[2:])

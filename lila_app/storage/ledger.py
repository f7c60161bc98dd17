"""The provider ledger: what each call cost, and which prefixes it was sent with.

A number a provider did not report is None, which is not zero. Prefix hashes are plain hashes of
content, so they go when something in their record is forgotten, and are kept only with a record
through which a forgetting finds them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from lila_app.storage.connection import Source, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, optional_id, optional_number

WHOLE = ("stop", "length", "tools")
"""How a call ends that its model answered whole."""

REACHED = (*WHOLE, "stopped")
"""How a call ends whose prompt the provider has read."""


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """One prefix a call was sent with: it ends after block `after` and has `tokens` declared ones.

    `ttl` is the lifetime that was asked for, None for none.
    """

    after: str
    sha256: str
    tokens: int
    ttl: str | None = None


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One call. Tokens as reported; milliseconds of wall time; `finished` says how it ended.

    `total` is the whole prompt, `read` and `written` its parts from and into the provider's
    cache, `written_long` what of it is to live long, `output` the reply. `finished` is one of
    `REACHED` or the error's name. `cost` is in picodollars (10^-12 USD), None when not known,
    which `cost_note` then explains; `prices` says whose prices of when. `prompt_tokens` are
    declared ones. `prefixes` stand in the order of the prompt.
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
    written_long: int | None = None
    credential: str = ""
    job: str = "reply"
    slot: str = "chat"
    use_case: str = ""
    session_id: str | None = None
    epoch: int = 0
    prompt_tokens: int = 0
    frozen: str = ""
    response_id: str = ""
    miss: str | None = None
    missed: int | None = None
    cost: int | None = None
    cost_note: str = ""
    prices: str = ""
    prefixes: tuple[PrefixRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a stretch of time cost: picodollars, and how many calls have no price."""

    cost: int
    unpriced: int


_NAMES = tuple(field.name for field in fields(UsageRow) if field.name != "prefixes")
_USAGE = ", ".join(_NAMES)
_LETTERS = {"record_id": "c", "session_id": "s"}


def add_usage(source: Source, row: UsageRow) -> None:
    """Add one call, with its prefixes where the provider has read them."""
    values = [_plain(name, getattr(row, name)) for name in _NAMES]
    with writing(source) as connection:
        cursor = connection.execute(
            f"insert into usage ({_USAGE}) values ({', '.join('?' * len(values))}) returning id",
            values,
        )
        attempt: int = cursor.fetchone()[0]
        reached = row.finished in REACHED or row.first_token_ms is not None
        if reached and row.prefixes and _kept(connection, row.record_id):
            _add_prefixes(connection, attempt, row)


def list_usage(
    source: Source,
    *,
    limit: int | None = None,
    since: str | None = None,
    until: str | None = None,
) -> list[UsageRow]:
    """Calls in order: those from `since` on and before `until`, the last `limit` of them."""
    begin = "" if since is None else instant(since)
    end = "9999" if until is None else instant(until)
    with reading(source) as connection:
        rows = connection.execute(
            f"select id, {_USAGE} from usage where at >= ? and at < ? order by id desc limit ?",
            (begin, end, -1 if limit is None else limit),
        ).fetchall()
        return _whole(connection, rows[::-1])


def of_record(source: Source, record_id: str) -> list[UsageRow]:
    """The calls made with one record, in order."""
    with reading(source) as connection:
        rows = connection.execute(
            f"select id, {_USAGE} from usage where record_id = ? order by id",
            (optional_number(record_id, "c"),),
        ).fetchall()
        return _whole(connection, rows)


def last_whole(
    source: Source, session_id: str, epoch: int, provider: str, model: str
) -> UsageRow | None:
    """The last call of a session's epoch that this model answered whole."""
    with reading(source) as connection:
        rows = connection.execute(
            f"select id, {_USAGE} from usage where session_id = ? and epoch = ? and provider = ? "
            f"and model = ? and finished in ({', '.join('?' * len(WHOLE))}) "
            "order by id desc limit 1",
            (optional_number(session_id, "s"), epoch, provider, model, *WHOLE),
        ).fetchall()
        found = _whole(connection, rows)
    return found[0] if found else None


def spent(source: Source, since: str, until: str) -> Spent:
    """The sum of what calls cost from a moment on and before another."""
    with reading(source) as connection:
        row = connection.execute(
            "select coalesce(sum(cost), 0), count(*) - count(cost) from usage "
            "where at >= ? and at < ?",
            (instant(since), instant(until)),
        ).fetchone()
    return Spent(row[0], row[1])


def _kept(connection: Connection, record_id: str | None) -> bool:
    """Whether a forgetting would find the prefixes, and none came before them."""
    row = connection.execute(
        "select 1 from records where id = ? and erased = 0", (optional_number(record_id, "c"),)
    ).fetchone()
    return row is not None


def _add_prefixes(connection: Connection, attempt: int, row: UsageRow) -> None:
    above: str | None = None
    last = len(row.prefixes) - 1
    for place, prefix in enumerate(row.prefixes):
        lineage = None
        if place == last and above is not None and row.session_id is not None:
            lineage = f"{row.session_id}.{row.epoch}.{above}"
        connection.execute(
            "insert into prefixes (at, record_id, provider, model, slot, sha256, tokens, "
            "attempt_id, place, after, ttl, use_case, credential, lineage) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(instant(row.at), optional_number(row.record_id, "c"), row.provider, row.model),
                *(row.slot, prefix.sha256, prefix.tokens, attempt, place, prefix.after),
                *(prefix.ttl, row.use_case, row.credential, lineage),
            ),
        )
        above = prefix.sha256


def _whole(connection: Connection, rows: list[tuple[Any, ...]]) -> list[UsageRow]:
    """The rows (oldest first) with their prefixes."""
    if not rows:
        return []
    held: dict[int, list[PrefixRow]] = {row[0]: [] for row in rows}
    found = connection.execute(
        "select attempt_id, after, sha256, tokens, ttl from prefixes "
        "where attempt_id between ? and ? order by attempt_id, place",
        (rows[0][0], rows[-1][0]),
    )
    for attempt, after, digest, tokens, ttl in found:
        if attempt in held:
            held[attempt].append(PrefixRow(after, digest, tokens, ttl))
    return [_usage(row[1:], tuple(held[row[0]])) for row in rows]


def _plain(name: str, value: Any) -> Any:
    if name == "at":
        return instant(value)
    return optional_number(value, _LETTERS[name]) if name in _LETTERS else value


def _usage(row: tuple[Any, ...], prefixes: tuple[PrefixRow, ...]) -> UsageRow:
    values = dict(zip(_NAMES, row, strict=True))
    for name, letter in _LETTERS.items():
        values[name] = optional_id(letter, values[name])
    return UsageRow(**values, prefixes=prefixes)

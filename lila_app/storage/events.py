"""The event log: append-only, chained, with payloads that can be erased.

Each event's hash covers the hash before it and the event's own fields, among them the HMAC of its
payload under a random salt. Payload and salt lie in a table of their own. Erasing both leaves
every hash as it was, so the chain still verifies, and leaves nothing to guess the content from.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lila_app.errors import UsageError
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant

SALT_BYTES = 32
_START = b"\0" * 32
_INSERT = (
    "insert into events (sequence, kind, subject, session_id, at, digest, hash) "
    "values (?, ?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log; `digest` is the payload's HMAC and `hash` the chain so far, in hex.

    `body` is None where the payload was erased.
    """

    sequence: int
    id: str
    kind: str
    subject: str
    session_id: str | None
    at: str
    digest: str
    hash: str
    body: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that must not be: what kind, where, and in words."""

    kind: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What one of many events says; the fields of `append`, and `at` as the store keeps it."""

    kind: str
    subject: str
    session_id: str | None
    at: str
    body: Mapping[str, object]


def append_all(connection: Connection, entries: Sequence[Entry]) -> list[tuple[int, str]]:
    """Add many events at once; (sequence, digest) of each. The chain is that of `append`.

    A quarter of the time of as many `append`: the head is read once and rows go in together.
    """
    if not connection.in_transaction:
        raise RuntimeError("events are appended inside store.write()")
    sequence, before = _head(connection)
    rows: list[tuple[object, ...]] = []
    payloads: list[tuple[int, bytes, bytes]] = []
    made: list[tuple[int, str]] = []
    for entry in entries:
        salt, payload = secrets.token_bytes(SALT_BYTES), _encode(entry.body)
        digest = sign(salt, payload)
        sequence += 1
        before = _chain(
            before, sequence, entry.kind, entry.subject, entry.session_id, entry.at, digest
        )
        session = _session_number(entry.session_id)
        rows.append((sequence, entry.kind, entry.subject, session, entry.at, digest, before))
        payloads.append((sequence, salt, payload))
        made.append((sequence, digest.hex()))
    connection.executemany(_INSERT, rows)
    connection.executemany("insert into payloads values (?, ?, ?)", payloads)
    return made


def append(
    connection: Connection,
    kind: str,
    *,
    subject: str,
    session_id: str | None,
    at: str,
    body: Mapping[str, object],
) -> Event:
    """Add one event; the head of the chain is read in the same BEGIN IMMEDIATE.

    `subject` is the id of what it is about. It stays when the payload is erased, so it must be
    an id and never content.
    """
    if not connection.in_transaction:
        raise RuntimeError("events are appended inside store.write()")
    at = instant(at)
    salt = secrets.token_bytes(SALT_BYTES)
    payload = _encode(body)
    digest = sign(salt, payload)
    head, before = _head(connection)
    sequence = head + 1
    chained = _chain(before, sequence, kind, subject, session_id, at, digest)
    connection.execute(
        _INSERT,
        (sequence, kind, subject, _session_number(session_id), at, digest, chained),
    )
    connection.execute("insert into payloads values (?, ?, ?)", (sequence, salt, payload))
    return Event(
        sequence, f"v{sequence}", kind, subject, session_id, at, digest.hex(), chained.hex(), body
    )


def erase(connection: Connection, sequences: Iterable[int], *, at: str) -> int:
    """Erase the payload and salt of these events, and log that it was done; returns how many.

    Payloads of `erased` events are never erased: they are what tells an erasure from damage.
    """
    gone: list[int] = []
    for sequence in sorted(set(sequences)):
        deleted = connection.execute(
            "delete from payloads where sequence = ? and not exists "
            "(select 1 from events where sequence = ? and kind = 'erased')",
            (sequence, sequence),
        )
        if deleted.rowcount:
            gone.append(sequence)
    if gone:
        append(
            connection, "erased", subject="", session_id=None, at=at, body={"ranges": _ranges(gone)}
        )
    return len(gone)


def of_subject(connection: Connection, subject: str, kinds: Sequence[str] = ()) -> list[int]:
    """Sequences of the events about one thing, oldest first; of these kinds, if any are given."""
    marks = ", ".join("?" * len(kinds))
    only = f" and kind in ({marks})" if kinds else ""
    rows = connection.execute(
        f"select sequence from events where subject = ?{only} order by sequence", (subject, *kinds)
    )
    return [row[0] for row in rows]


def list_events(
    connection: Connection, *, session_id: str | None = None, kind: str | None = None
) -> list[Event]:
    """Events in order, of one session and one kind where given."""
    wanted = {"e.session_id": _session_number(session_id), "e.kind": kind}
    given = {column: value for column, value in wanted.items() if value is not None}
    conditions = "".join(f" and {column} = ?" for column in given)
    rows = connection.execute(
        "select e.sequence, e.kind, e.subject, e.session_id, e.at, e.digest, e.hash, p.body "
        f"from events e left join payloads p using (sequence) where true{conditions} "
        "order by e.sequence",
        tuple(given.values()),
    )
    return [
        Event(
            sequence=row[0],
            id=f"v{row[0]}",
            kind=row[1],
            subject=row[2],
            session_id=_session_id(row[3]),
            at=row[4],
            digest=row[5].hex(),
            hash=row[6].hex(),
            body=None if row[7] is None else json.loads(row[7]),
        )
        for row in rows
    ]


def verify(connection: Connection) -> list[Problem]:
    """Recompute the whole chain; an empty list means every event is as it was appended."""
    problems: list[Problem] = []
    missing: set[int] = set()
    declared: set[int] = set()
    before, expected = _START, 1
    rows = connection.execute(
        "select e.sequence, e.kind, e.subject, e.session_id, e.at, cast(e.digest as blob), "
        "cast(e.hash as blob), cast(p.salt as blob), cast(p.body as blob) "
        "from events e left join payloads p using (sequence) order by e.sequence"
    )
    for sequence, kind, subject, session, at, digest, chained, salt, body in rows:
        where = f"v{sequence}"
        if sequence != expected:
            problems.append(Problem("chain", where, f"events from v{expected} on are missing"))
        if _chain(before, sequence, kind, subject, _session_id(session), at, digest) != chained:
            problems.append(Problem("chain", where, "the hash does not follow from the one before"))
        if body is None:
            missing.add(sequence)
        elif sign(salt, body) != digest:
            problems.append(Problem("payload", where, "the payload is not what was appended"))
        elif kind == "erased":
            declared.update(_unpack(body))
        before, expected = chained, sequence + 1
    problems += [
        Problem("payload", f"v{sequence}", "the payload is gone and no erasure says so")
        for sequence in sorted(missing - declared)
    ]
    return problems + _lost_tail(connection, expected - 1)


def sign(salt: bytes, content: bytes) -> bytes:
    """The HMAC-SHA256 by which content is known without being guessable."""
    return hmac.digest(salt, content, "sha256")


def combine(*digests: str) -> str:
    """One digest for a thing that several payloads make up (a turn: the words and the reply)."""
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _head(connection: Connection) -> tuple[int, bytes]:
    last: tuple[int, bytes] | None = connection.execute(
        "select sequence, hash from events order by sequence desc limit 1"
    ).fetchone()
    return last or (0, _START)


def _lost_tail(connection: Connection, last: int) -> list[Problem]:
    row = connection.execute("select seq from sqlite_sequence where name = 'events'").fetchone()
    if row is None or row[0] == last:
        return []
    return [Problem("chain", f"v{last}", f"events after v{last} up to v{row[0]} are missing")]


def _chain(
    before: bytes,
    sequence: int,
    kind: str,
    subject: str,
    session_id: str | None,
    at: str,
    digest: bytes,
) -> bytes:
    fields = _encode({"event": [sequence, kind, subject, session_id, at, digest.hex()]})
    return hashlib.sha256(before + fields).digest()


def _encode(body: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(
            "utf-8"
        )
    except UnicodeEncodeError:
        raise UsageError(
            "the text holds bytes that are not valid UTF-8",
            hint="convert it first, for example with `iconv -t utf-8`",
        ) from None


def _ranges(sequences: Sequence[int]) -> list[list[int]]:
    found: list[list[int]] = []
    for sequence in sequences:
        if found and found[-1][1] == sequence - 1:
            found[-1][1] = sequence
        else:
            found.append([sequence, sequence])
    return found


def _unpack(body: bytes) -> Iterable[int]:
    ranges: list[list[int]] = json.loads(body)["ranges"]
    for first, last in ranges:
        yield from range(first, last + 1)


def _session_number(session_id: str | None) -> int | None:
    return None if session_id is None else int(session_id[1:])


def _session_id(number: int | None) -> str | None:
    return None if number is None else f"s{number}"

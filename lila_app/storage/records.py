"""Context records: what each call saw, with everything needed to assemble it again.

A record is kept with its inputs (the candidates and limits) and a policy snapshot that records
share. Recent ones are compressed one by one; `cool` moves older ones into batches, where what
successive turns have in common is stored once. `record_items` says which record holds which
item, so that forgetting finds them all.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

from lila_app.errors import NotFoundError
from lila_app.quoting import continued
from lila_app.storage import cold, erasure
from lila_app.storage.connection import Source, Store, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import instant, number, optional_number

Json = Mapping[str, object]

ERASED = "something in it was forgotten"


def next_id(source: Source) -> str:
    """A new record id; an id that is never saved is not given again."""
    with writing(source) as connection:
        row = connection.execute(
            "update counters set value = value + 1 where name = 'records' returning value"
        ).fetchone()
        return f"c{row[0]}"


def save(
    source: Source,
    record: Json,
    *,
    inputs: Json,
    policy: str,
    generation: int,
    turn_id: str | None = None,
    shown: Iterable[str] = (),
) -> str:
    """Store a record under the id in its meta, the allocated one; returns that id.

    `policy` is the snapshot whose hash the record names. `generation` is the erasure generation
    read before the candidates were gathered: if something that is in them was forgotten since,
    only what is left of the record is stored. `turn_id` is the turn it answers. `shown` are items
    that tools of the turn returned: they are in the prompt as much as any other.
    """
    meta = cast("Mapping[str, str | None]", record["meta"])
    record_id = number(str(meta["record_id"]), "c")
    items = item_ids(record) | dict.fromkeys(shown, True)
    with writing(source) as connection:
        gone = erasure.generation(connection) != generation and _gone(
            connection, record, items, turn_id
        )
        connection.execute(
            "insert into records (id, parent_id, session_id, turn_id, at, policy_hash, body, "
            "inputs, erased) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record_id,
                optional_number(meta["parent_record_id"], "c"),
                optional_number(meta["session_id"], "s"),
                optional_number(turn_id, "t"),
                instant(str(meta["at"])),
                record["policy_hash"],
                _pack(redacted(record) if gone else record),
                None if gone else _pack(inputs),
                bool(gone),
            ),
        )
        if turn_id is not None:
            items.setdefault(turn_id, True)
        connection.executemany(
            "insert into record_items values (?, ?, ?)",
            [(record_id, id, included) for id, included in items.items()],
        )
        connection.execute(
            "insert or ignore into policies values (?, ?)",
            (record["policy_hash"], zlib.compress(policy.encode())),
        )
        return f"c{record_id}"


def get_record(source: Source, id: str) -> Json:
    """One record; where something in it was forgotten it carries `erased` and no hashes."""
    with reading(source) as connection:
        return _record(connection, number(id, "c"))


def get_inputs(source: Source, id: str) -> Json:
    """What a record was assembled from; `NotFoundError` once something in it was forgotten."""
    record = number(id, "c")
    with reading(source) as connection:
        row = _row(connection, record)
        if row[3]:
            raise NotFoundError(
                f"what {id} was made from is gone: {ERASED}",
                hint="`lila context show` still shows what is left of the record",
            )
        if row[2] is not None:
            return cold.read(connection, row[2])[record].inputs
        return _unpack(row[1])


def get_policy(source: Source, hash: str) -> str:
    """The policy snapshot of this hash."""
    with reading(source) as connection:
        row = connection.execute("select body from policies where hash = ?", (hash,)).fetchone()
    if row is None:
        raise NotFoundError(f"there is no policy {hash}", hint="`lila db check` says what is wrong")
    return zlib.decompress(row[0]).decode()


def latest(source: Source, session_id: str | None = None) -> Json | None:
    """The last record, of a session if given."""
    return _last(source, session_id, None)


def at_time(source: Source, moment: str, *, session_id: str | None = None) -> Json | None:
    """The last record made up to a moment, of a session if given."""
    return _last(source, session_id, instant(moment))


def list_records(source: Source, session_id: str) -> list[str]:
    """Ids of a session's records, in order."""
    with reading(source) as connection:
        rows = connection.execute(
            "select id from records where session_id = ? order by id", (number(session_id, "s"),)
        )
        return [f"c{row[0]}" for row in rows]


def cool(store: Store, *, keep_recent: int = 200) -> int:
    """Move records older than the last `keep_recent` into batches; returns how many.

    Only whole batches are made. Compression happens outside the transaction; if something was
    forgotten meanwhile, that batch is left for the next time.
    """
    moved = 0
    while True:
        with store.read() as connection:
            generation = erasure.generation(connection)
            rows = connection.execute(
                "select id, body, inputs from records where inputs is not null and id <= "
                "(select max(id) from records) - ? order by id limit ?",
                (keep_recent, cold.BATCH),
            ).fetchall()
        if len(rows) < cold.BATCH:
            return moved
        entries = {row[0]: cold.Entry(_unpack(row[1]), _unpack(row[2])) for row in rows}
        body = cold.pack(entries)
        with store.write() as connection:
            if erasure.generation(connection) != generation:
                return moved
            cold.move(connection, list(entries), body)
        moved += len(entries)


def included(source: Source, id: str) -> frozenset[str]:
    """Ids of all that stood in a record's prompt: its items, and what tools of the turn showed."""
    with reading(source) as connection:
        rows = connection.execute(
            "select item_id from record_items where record_id = ? and included = 1",
            (number(id, "c"),),
        )
        return frozenset(row[0] for row in rows)


def item_ids(record: Json) -> dict[str, bool]:
    """Every item a record speaks of, and whether it was included."""
    layers = cast("list[dict[str, Any]]", record["layers"])
    dropped = cast("list[dict[str, Any]]", record["dropped_items"])
    found = {str(item["id"]): False for item in dropped}
    return found | {str(item["id"]): True for layer in layers for item in layer["items"]}


def redacted(record: Json) -> Json:
    """What is left of a record when something in it was forgotten: ids, scores and tokens.

    Item hashes stay, for they are HMACs and the salts of what was forgotten are gone. Plain
    hashes, queries, sources and outside ids do not.
    """
    layers = cast("list[dict[str, Any]]", record["layers"])
    return {
        **record,
        "query": {},
        "layers": [
            {**layer, "items": [_without(item, "external_id") for item in layer["items"]]}
            for layer in layers
        ],
        "dropped_items": [{**item, "source": ""} for item in _dicts(record, "dropped_items")],
        "blocks": [{**block, "hash": None} for block in _dicts(record, "blocks")],
        "prefix_sha256": [{**point, "sha256": None} for point in _dicts(record, "prefix_sha256")],
        "bytes_sha256": None,
        "erased": ERASED,
    }


def erase(connection: Connection, records: Iterable[int]) -> list[int]:
    """Erase inputs and plain hashes of these records; for this room only. Returns the erased."""
    done: list[int] = []
    for record in sorted(set(records)):
        row = connection.execute(
            "select batch_id from records where id = ? and erased = 0", (record,)
        ).fetchone()
        if row is None:
            continue
        left = redacted(_record(connection, record))
        if row[0] is not None:
            cold.take_out(connection, row[0], record)
        connection.execute(
            "update records set body = ?, inputs = null, batch_id = null, erased = 1 where id = ?",
            (_pack(left), record),
        )
        connection.execute("delete from prefixes where record_id = ?", (record,))
        done.append(record)
    return done


def holding(connection: Connection, item: str, *, included_only: bool = False) -> list[int]:
    """Records that hold an item; for this room only."""
    rows = connection.execute(
        "select record_id from record_items where item_id = ? and included >= ?",
        (item, included_only),
    )
    return [row[0] for row in rows]


def newest(connection: Connection) -> int:
    """The number of the newest record; for this room only."""
    row: tuple[int | None] = connection.execute("select max(id) from records").fetchone()
    return row[0] or 0


def containing(connection: Connection, texts: Iterable[str], *, newer_than: int = 0) -> list[int]:
    """Records in which one of these texts stands, word for word; for this room only."""
    # In an item it stands quoted, line by line (`lila_app.quoting`).
    texts = [form for text in texts for form in dict.fromkeys((text, continued(text)))]
    said = [json.dumps(text, ensure_ascii=False)[1:-1] for text in texts if text]
    # In the arguments of a tool it stands as JSON within JSON.
    inner = [json.dumps(text, ensure_ascii=False)[1:-1] for text in said]
    needles = [text.encode() for text in dict.fromkeys([*said, *inner])]
    if not needles:
        return []

    def holds(held: bytes) -> bool:
        return any(needle in held for needle in needles)

    rows = connection.execute(
        "select id, body, inputs from records where inputs is not null and id > ?", (newer_than,)
    )
    found = [
        record
        for record, body, inputs in rows
        if holds(zlib.decompress(inputs)) or holds(zlib.decompress(body))
    ]
    batches = connection.execute(
        "select distinct batch_id from records where batch_id is not null and id > ?",
        (newer_than,),
    )
    for (batch,) in batches.fetchall():
        found += [
            record
            for record, entry in cold.read(connection, batch).items()
            if holds(_encode(entry.inputs)) or holds(_encode(entry.record))
        ]
    return found


def _gone(connection: Connection, record: Json, items: Iterable[str], turn_id: str | None) -> bool:
    """Whether an item of the record is no longer what it was when it was gathered."""
    layers = cast("list[dict[str, Any]]", record["layers"])
    digests = {str(item["id"]): str(item["hash"]) for la in layers for item in la["items"]}
    for id in items:
        current = _digest(connection, id)
        if current is None or digests.get(id, current) != current:
            return True
    if turn_id is None:
        return False
    row = connection.execute(
        "select user_erased from turns where id = ?", (number(turn_id, "t"),)
    ).fetchone()
    return row is None or bool(row[0])


def _digest(connection: Connection, id: str) -> str | None:
    tables = {"m": "memories", "t": "turns", "g": "goals", "n": "notes", "r": "relations"}
    if id.startswith("d") and "." in id:
        row = connection.execute(
            "select digest from chunks where document_id = ? and number = ?",
            id[1:].split("."),
        ).fetchone()
    elif id[:1] in tables:
        row = connection.execute(
            f"select digest from {tables[id[0]]} where id = ?", (id[1:],)
        ).fetchone()
    else:
        return ""
    return row[0] if row else None


def _last(source: Source, session_id: str | None, moment: str | None) -> Json | None:
    wanted = {"session_id = ?": optional_number(session_id, "s"), "at <= ?": moment}
    given = {condition: value for condition, value in wanted.items() if value is not None}
    conditions = "".join(f" and {condition}" for condition in given)
    with reading(source) as connection:
        row = connection.execute(
            f"select id from records where true{conditions} order by id desc limit 1",
            tuple(given.values()),
        ).fetchone()
        return None if row is None else _record(connection, row[0])


def _record(connection: Connection, record: int) -> Json:
    row = _row(connection, record)
    if row[2] is not None:
        return cold.read(connection, row[2])[record].record
    return _unpack(row[0])


def _row(connection: Connection, record: int) -> tuple[bytes, bytes, int | None, int]:
    row: tuple[bytes, bytes, int | None, int] | None = connection.execute(
        "select body, inputs, batch_id, erased from records where id = ?", (record,)
    ).fetchone()
    if row is None:
        raise NotFoundError(
            f"there is no context record c{record}", hint="`lila context show` shows the last one"
        )
    return row


def _dicts(record: Json, name: str) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", record[name])


def _without(item: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if not name.startswith(prefix)}


def _encode(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _pack(value: Json) -> bytes:
    return zlib.compress(_encode(value))


def _unpack(body: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(zlib.decompress(body))
    return value

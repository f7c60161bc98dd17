"""Small real things to put into a store, and ways to look at its bytes."""

from __future__ import annotations

import hashlib
import lzma
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lila_app.storage import documents, erasure, records, sessions, turns
from lila_app.storage.connection import Store
from lila_app.storage.documents import DocumentRow, NewChunk
from lila_app.storage.driver import sqlite
from lila_app.storage.turns import TurnRow

AT = "2026-11-30T11:58:33+00:00"
LATER = "2026-12-01T08:00:00+00:00"
POLICY = '{"chat": {}}'
POLICY_HASH = hashlib.sha256(POLICY.encode()).hexdigest()


def session(store: Store, title: str = "") -> str:
    return sessions.create(store, at=AT, use_case="chat", title=title).id


def exchange(store: Store, session_id: str, user: str, reply: str) -> TurnRow:
    turn = turns.begin(store, session_id, user, use_case="chat", at=AT)
    return turns.finish(
        store, turn.id, reply, stopped=False, record_id=None, model="fake/one", at=AT
    )


def answered(
    store: Store,
    session_id: str,
    user: str,
    reply: str,
    seen: Sequence[tuple[str, str, str]],
    dropped: Sequence[str] = (),
) -> tuple[TurnRow, str]:
    """A turn answered from a record that held these (id, digest, text)."""
    turn = turns.begin(store, session_id, user, use_case="chat", at=AT)
    record_id = save(store, session_id, seen, dropped=dropped, turn=turn)
    finished = turns.finish(
        store, turn.id, reply, stopped=False, record_id=record_id, model="fake/one", at=AT
    )
    return finished, record_id


def save(
    store: Store,
    session_id: str | None,
    seen: Sequence[tuple[str, str, str]],
    *,
    dropped: Sequence[str] = (),
    turn: TurnRow | None = None,
    at: str = AT,
    generation: int | None = None,
    filling: str = "",
    shown: Sequence[str] = (),
) -> str:
    record_id = records.next_id(store)
    return records.save(
        store,
        record(record_id, session_id, [(id, digest) for id, digest, _ in seen], dropped, at),
        inputs={
            "turn": turn.user if turn else "",
            "items": [{"id": id, "text": text} for id, _, text in seen],
            "filling": filling,
        },
        policy=POLICY,
        generation=erasure.generation(store) if generation is None else generation,
        turn_id=turn.id if turn else None,
        shown=shown,
    )


def ingest(store: Store, texts: Sequence[str], path: str = "/notes/tea.md") -> DocumentRow:
    """A document in passages of these texts, a line each."""
    return documents.upsert_document(
        store,
        path=path,
        title="Tea",
        kind="markdown",
        sha256="0" * 64,
        size=10,
        mtime=1_700_000_000_123_456_789,
        chunks=[NewChunk("Tea › Kinds", text, 5, line) for line, text in enumerate(texts, 1)],
        at=AT,
    )


def record(
    record_id: str,
    session_id: str | None,
    items: Sequence[tuple[str, str]],
    dropped: Sequence[str] = (),
    at: str = AT,
) -> dict[str, Any]:
    """A context record with only what the store looks at."""
    return {
        "schema_version": 1,
        "meta": {
            "record_id": record_id,
            "parent_record_id": None,
            "session_id": session_id,
            "at": at,
        },
        "policy_hash": POLICY_HASH,
        "query": {"memory": "what the layer was asked"},
        "layers": [
            {
                "name": "memory",
                "items": [
                    {"id": id, "hash": digest, "external_id": f"outside-{id}", "tokens": 3}
                    for id, digest in items
                ],
            }
        ],
        "dropped_items": [
            {"id": id, "layer": "rag", "reason": "budget", "source": "notes", "tokens": 9}
            for id in dropped
        ],
        "blocks": [{"name": "turn", "hash": "1" * 64}],
        "prefix_sha256": [{"after": "identity", "sha256": "2" * 64}],
        "bytes_sha256": "3" * 64,
    }


def sized(store: Store, use_case: str, limit: int, **blocks: int) -> str:
    """A record of a prompt with blocks of these tokens."""
    made = record(records.next_id(store), None, [])
    made["meta"]["use_case"] = use_case
    made["token_budget"] = {"limit": limit, "used": sum(blocks.values())}
    made["blocks"] = [
        {"name": name, "tokens": tokens, "hash": "1" * 64} for name, tokens in blocks.items()
    ]
    generation = erasure.generation(store)
    return records.save(store, made, inputs={}, policy=POLICY, generation=generation)


def files_of(path: Path) -> dict[str, bytes]:
    """The store and what lies beside it for SQLite, as bytes."""
    return {
        name.name: name.read_bytes()
        for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"))
        if name.exists()
    }


def places_of(path: Path, needle: str) -> list[str]:
    """Where a text still is: raw bytes of the files, or inside what is stored compressed."""
    wanted = needle.casefold().encode()
    found = [name for name, raw in files_of(path).items() if wanted in raw.lower()]
    connection = sqlite.connect(f"file:{path}?mode=ro", uri=True)
    try:
        for table, column, unpack in (
            ("records", "body", zlib.decompress),
            ("records", "inputs", zlib.decompress),
            ("policies", "body", zlib.decompress),
            ("record_batches", "body", lzma.decompress),
        ):
            rows = connection.execute(f"select {column} from {table} where {column} is not null")
            found += [f"{table}.{column}" for (body,) in rows if wanted in unpack(body).lower()]
    finally:
        connection.close()
    return found

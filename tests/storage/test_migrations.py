from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lila_app.storage import check, events, files, ledger, memories, migrations, schema
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection, sqlite
from lila_app.storage.ledger import UsageRow
from tests.processes import child, outcome
from tests.storage.builders import AT

NEXT = len(migrations.MIGRATIONS) + 1


def _add_mood(connection: Connection) -> None:
    connection.execute("alter table memories add column mood text not null default 'calm'")


def _fail(connection: Connection) -> None:
    connection.execute("drop table notes")
    raise RuntimeError("a bug in a migration")


def _make(path: Path) -> None:
    with Store.open(path) as store:
        memories.add(store, "Anna likes tea", at=AT)


def test_an_older_file_is_backed_up_and_then_brought_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, _add_mood))
    with Store.open(path) as store, store.read() as connection:
        assert connection.execute("select text, mood from memories").fetchall() == [
            ("Anna likes tea", "calm")
        ]
        assert connection.execute("pragma user_version").fetchone() == (NEXT,)
    (kept,) = files.backups_beside(path)
    assert kept.name == f"default.db.before-v{NEXT}.backup"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    old = sqlite.connect(kept)
    assert old.execute("select text from memories").fetchall() == [("Anna likes tea",)]
    assert old.execute("pragma user_version").fetchone() == (NEXT - 1,)
    old.close()


def test_a_file_of_version_1_is_backed_up_and_keeps_its_rows_in_the_newest(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", (schema.create,))
        with Store.open(path) as store, store.write() as connection:
            body = {"text": "Anna likes tea", "kind": "fact", "pinned": False}
            event = events.append(
                connection, "memory_added", subject="m1", session_id=None, at=AT, body=body
            )
            connection.execute(
                "insert into memories (text, kind, pinned, at, digest, external_ids) "
                "values ('Anna likes tea', 'fact', 0, ?, ?, '[]')",
                (AT, event.digest),
            )
            connection.execute(
                "insert into usage (at, record_id, provider, model, total, read, written, output, "
                "first_token_ms, total_ms, finished) "
                "values (?, 4, 'ollama', 'tiny', 900, null, 0, 12, 300, 800, 'stop')",
                (AT,),
            )
            connection.execute(
                "insert into prefixes (at, record_id, provider, model, slot, sha256, tokens) "
                "values (?, 4, 'ollama', 'tiny', 'chat', 'ab', 700)",
                (AT,),
            )
    with Store.open(path) as store:
        with store.read() as connection:
            assert connection.execute("pragma user_version").fetchone() == (NEXT - 1,)
            assert connection.execute(
                "select record_id, sha256, tokens, attempt_id, after from prefixes"
            ).fetchall() == [(4, "ab", 700, None, "")]
        assert ledger.list_usage(store) == [
            UsageRow(AT, "c4", "ollama", "tiny", 900, None, 0, 12, 300, 800, "stop")
        ]
        (memory,) = memories.list_memories(store)
        assert (memory.text, memory.status, memory.retention) == (
            "Anna likes tea",
            "current",
            "durable",
        )
        assert check.check(store).problems == ()
    kept = path.with_name(f"default.db.before-v{NEXT - 1}.backup")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    old = sqlite.connect(kept)
    assert old.execute("select total from usage").fetchall() == [(900,)]
    assert old.execute("pragma user_version").fetchone() == (1,)
    old.close()


def test_a_migration_that_fails_leaves_the_file_at_its_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(path)
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, _add_mood, _fail))
        with pytest.raises(RuntimeError, match="a bug"):
            Store.open(path)
    with Store.open(path) as store, store.read() as connection:
        assert connection.execute("pragma user_version").fetchone() == (NEXT - 1,)
        columns = {row[1] for row in connection.execute("pragma table_info(memories)")}
        assert "mood" not in columns


def test_a_file_that_is_up_to_date_gets_no_backup(path: Path) -> None:
    _make(path)
    _make(path)
    assert files.backups_beside(path) == []


def test_backups_age_out(path: Path) -> None:
    _make(path)
    old, young = (path.with_name(f"default.db.before-v{n}.backup") for n in (2, 3))
    for backup in (old, young):
        backup.write_bytes(b"")
    os.utime(old, (1_000_000, 1_000_000))
    os.utime(young, (1_000_000 + 20 * 86_400, 1_000_000 + 20 * 86_400))
    files.prune(path, now=1_000_000 + 31 * 86_400)
    assert files.backups_beside(path) == [young]
    os.utime(young, (1_000_000, 1_000_000))
    Store.open(path).close()
    assert files.backups_beside(path) == []


def test_an_older_file_is_not_opened_for_reading_only(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(path)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, _add_mood))
    with pytest.raises(migrations.StorageError, match="older LILA"):
        Store.open(path, read_only=True)


_OPEN = """
import sys
from pathlib import Path
from lila_app.storage import memories
from lila_app.storage.connection import Store
sys.stdin.readline()
with Store.open(Path(sys.argv[1])) as store:
    memories.add(store, "hello", at="2026-11-30T11:58:33Z")
"""


def test_two_processes_may_create_the_same_file_at_once(path: Path) -> None:
    import subprocess

    children = [child(_OPEN, str(path), stdin=subprocess.PIPE) for _ in range(3)]
    for one in children:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in children:
        outcome(one)
    with Store.open(path) as store:
        assert [memory.id for memory in memories.list_memories(store)] == ["m1", "m2", "m3"]

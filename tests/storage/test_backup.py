from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from lila_app.errors import (
    DamagedStoreError,
    NewerStoreError,
    NotFoundError,
    StorageError,
    UsageError,
)
from lila_app.storage import backup, check, erasure, files, memories, migrations, relations, vectors
from lila_app.storage.connection import Store
from lila_app.storage.driver import sqlite
from tests.storage.builders import AT


def _texts(path: Path) -> list[str]:
    with Store.open(path) as store:
        return [memory.text for memory in memories.list_memories(store)]


@pytest.fixture
def copy(store: Store, tmp_path: Path) -> Path:
    memories.add(store, "as it was", at=AT)
    vectors.add(store, "memories", ["m1"], np.eye(1, 8, dtype=np.float32), "one")
    return backup.backup(store, tmp_path / "copies" / ".." / "copy.db", at=AT)


def test_a_backup_is_a_whole_private_store(copy: Path) -> None:
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with Store.open(copy) as store:
        assert [memory.text for memory in memories.list_memories(store)] == ["as it was"]
        assert check.check(store).problems == ()


def test_a_backup_never_overwrites(store: Store, copy: Path) -> None:
    before = copy.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        backup.backup(store, copy, at=AT)
    assert copy.read_bytes() == before


def test_a_backup_that_cannot_be_written_leaves_nothing(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        backup.backup(store, tmp_path / "no" / "such" / "folder.db", at=AT)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        backup.backup(store, tmp_path / "file" / "copy.db", at=AT)


def test_a_store_open_for_reading_only_can_be_backed_up(copy: Path, tmp_path: Path) -> None:
    with Store.open(copy, read_only=True) as store:
        again = backup.backup(store, tmp_path / "again.db", at=AT)
    assert _texts(again) == ["as it was"]


def test_restoring_puts_the_old_state_back_and_keeps_the_new(
    store: Store, path: Path, copy: Path
) -> None:
    memories.add(store, "added since", at=AT)
    store.close()
    kept = backup.restore(copy, path, at=AT)
    assert _texts(path) == ["as it was"]
    assert _texts(kept) == ["as it was", "added since"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept in files.backups_beside(path)
    assert _texts(copy) == ["as it was"]
    with Store.open(path) as again:
        assert check.check(again).problems == ()
        assert memories.add(again, "next", at=AT).id == "m2"


def test_restoring_twice_keeps_both(store: Store, path: Path, copy: Path) -> None:
    store.close()
    assert backup.restore(copy, path, at=AT) != backup.restore(copy, path, at=AT)
    assert len(files.backups_beside(path)) == 2


def test_another_process_sees_the_restored_state_and_nothing_stale(
    path: Path, tmp_path: Path
) -> None:
    given = np.eye(3, 8, dtype=np.float32)
    with Store.open(path) as store:
        memories.add(store, "one", at=AT)
        vectors.add(store, "memories", ["m1"], given[:1], "one")
        copy = backup.backup(store, tmp_path / "copy.db", at=AT)
    with Store.open(path) as other:
        vectors.add(other, "memories", ["m1"], given[1:2], "one")
        assert [
            h.cosine_bp for h in vectors.search(other, "memories", given[1], k=1, model_id="one")
        ] == [10_000]  # one search
        generations = erasure.generation(other), relations.generation(other)
        backup.restore(copy, path, at=AT)
        hits = vectors.search(other, "memories", given[0], k=1, model_id="one")
        assert [hit.cosine_bp for hit in hits] == [10_000]
        assert erasure.generation(other) > generations[0]
        assert relations.generation(other) > generations[1]
        memories.add(other, "two", at=AT)
        assert check.check(other).problems == ()


def test_a_damaged_backup_is_refused_and_nothing_changes(
    store: Store, path: Path, copy: Path
) -> None:
    store.close()
    connection = sqlite.connect(copy)
    connection.execute("drop trigger events_never_change")
    connection.execute("update events set at = '2020-01-01T00:00:00+00:00' where sequence = 1")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DamagedStoreError, match="was not restored"):
        backup.restore(copy, path, at=AT)
    assert path.read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name]


@pytest.mark.parametrize("content", [b"", b"no database", b"\0" * 8192])
def test_what_is_no_store_is_refused(store: Store, path: Path, content: bytes) -> None:
    store.close()
    other = path.with_name("other")
    other.write_bytes(content)
    with pytest.raises(DamagedStoreError) as caught:
        backup.restore(other, path, at=AT)
    assert caught.value.hint == "name a file `lila db backup` made"
    assert _texts(path) == []


def test_a_newer_or_missing_backup_is_refused(store: Store, path: Path, copy: Path) -> None:
    store.close()
    connection = sqlite.connect(copy)
    connection.execute(f"pragma user_version = {len(migrations.MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(NewerStoreError):
        backup.restore(copy, path, at=AT)
    with pytest.raises(NotFoundError):
        backup.restore(path.with_name("nothing"), path, at=AT)
    with pytest.raises(UsageError):
        backup.restore(path, path, at=AT)


def test_a_backup_can_be_put_where_there_is_no_store(copy: Path, tmp_path: Path) -> None:
    new = tmp_path / "elsewhere" / "default.db"
    kept = backup.restore(copy, new, at=AT)
    assert not kept.exists()
    assert _texts(new) == ["as it was"]
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"no database any more", None])
def test_a_store_that_is_beyond_reading_is_moved_aside(
    store: Store, path: Path, copy: Path, damage: bytes | None
) -> None:
    store.close()
    raw = path.read_bytes()
    broken = damage if damage is not None else raw[:4096] + b"\xa5" * (len(raw) - 4096)
    path.write_bytes(broken)
    kept = backup.restore(copy, path, at=AT)
    assert _texts(path) == ["as it was"]
    assert kept.read_bytes() == broken

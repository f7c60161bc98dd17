from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from lila_app.errors import (
    DamagedStoreError,
    DiskFullError,
    NewerStoreError,
    NotFoundError,
    ReadOnlyStoreError,
    StoreBusyError,
)
from lila_app.storage import driver, memories, sessions, turns
from lila_app.storage.connection import Store
from lila_app.storage.driver import sqlite
from lila_app.storage.migrations import MIGRATIONS
from tests.processes import child, outcome
from tests.storage.builders import AT, session


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_new_folders_are_for_the_person_alone(path: Path) -> None:
    with Store.open(path) as store:
        session(store)
        assert _mode(path.parent) == 0o700
        assert _mode(path) == 0o600
        assert _mode(path.with_name(path.name + "-wal")) == 0o600


def test_a_file_that_others_could_read_is_made_private_again(path: Path) -> None:
    Store.open(path).close()
    path.chmod(0o644)
    Store.open(path).close()
    assert _mode(path) == 0o600


def test_an_error_rolls_back_everything(store: Store) -> None:
    with pytest.raises(ValueError, match="stop"), store.write() as connection:
        memories.add(connection, "Anna likes tea", at=AT)
        raise ValueError("stop")
    assert memories.list_memories(store) == []
    assert memories.add(store, "Anna likes coffee", at=AT).id == "m1"


def test_a_reader_sees_one_state_while_another_writes(store: Store) -> None:
    memories.add(store, "one", at=AT)
    with store.read() as connection:
        assert len(memories.list_memories(connection)) == 1
        memories.add(store, "two", at=AT)
        assert len(memories.list_memories(connection)) == 1
    assert len(memories.list_memories(store)) == 2


def test_within_a_snapshot_all_that_a_thread_reads_is_of_one_state(store: Store) -> None:
    memories.add(store, "one", at=AT)
    seen: list[int] = []
    with store.snapshot():
        assert len(memories.list_memories(store)) == 1
        memories.add(store, "two", at=AT)
        with store.snapshot():
            assert len(memories.list_memories(store)) == 1
        assert len(memories.list_memories(store)) == 1
        other = threading.Thread(target=lambda: seen.append(len(memories.list_memories(store))))
        other.start()
        other.join()
    assert seen == [2]
    assert len(memories.list_memories(store)) == 2


def test_an_error_within_a_snapshot_says_what_it_is_and_ends_it(store: Store) -> None:
    wrong = pytest.raises(driver.DatabaseError, match="no such table")
    with wrong, store.snapshot(), store.read() as connection:
        connection.execute("select * from nowhere")
    memories.add(store, "one", at=AT)
    assert len(memories.list_memories(store)) == 1


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(ReadOnlyStoreError), store.read() as connection:
        connection.execute("delete from memories")


def test_writing_inside_writing_is_a_mistake(store: Store) -> None:
    with store.write(), pytest.raises(RuntimeError, match="pass the connection on"):  # noqa: SIM117
        with store.write():
            pass
    session(store)


def test_threads_take_turns(store: Store) -> None:
    owner = session(store)

    def speak() -> None:
        for count in range(20):
            turns.begin(store, owner, f"word {count}", use_case="chat", at=AT)

    threads = [threading.Thread(target=speak) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(turns.window(store, owner)) == 80


def test_a_newer_file_is_refused_and_not_touched(path: Path) -> None:
    Store.open(path).close()
    connection = sqlite.connect(path)
    connection.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(NewerStoreError, match="newer LILA") as caught:
            Store.open(path, read_only=read_only)
        assert "update LILA" in caught.value.hint
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_newer_version_that_is_only_in_the_log_yet_is_refused_too(path: Path) -> None:
    Store.open(path).close()
    connection = sqlite.connect(path, isolation_level=None)
    connection.execute(f"pragma user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(NewerStoreError):
        Store.open(path)
    connection.close()


@pytest.mark.parametrize("content", [b"not a database at all", b"x" * 5000])
def test_a_file_that_is_no_store_is_refused_and_not_touched(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(DamagedStoreError, match="not a LILA store"):
        Store.open(path)
    assert path.read_bytes() == content


def test_another_programs_database_is_refused_and_not_touched(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite.connect(path)
    connection.execute("create table theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DamagedStoreError, match="not a LILA store"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_damaged_file_is_named_as_such(path: Path) -> None:
    with Store.open(path) as store:
        for count in range(50):
            memories.add(store, f"memory {count}", at=AT)
    raw = bytearray(path.read_bytes())
    raw[4096:] = os.urandom(len(raw) - 4096)
    path.write_bytes(raw)
    with pytest.raises(DamagedStoreError) as caught, Store.open(path) as store:
        memories.list_memories(store)
    assert "lila db" in caught.value.hint


def test_a_home_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(ReadOnlyStoreError, match="cannot be written") as caught:
        Store.open(tmp_path / "home" / "default.db")
    assert "LILA_HOME" in caught.value.hint


# Root may write anywhere, so the child gives root up before it opens the store.
_UNPRIVILEGED = """
import os, sys
from pathlib import Path
from lila_app.errors import ReadOnlyStoreError
from lila_app.storage import memories
from lila_app.storage.connection import Store

if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
path = Path(sys.argv[1])
try:
    Store.open(path)
except ReadOnlyStoreError as error:
    print(error.message, "|", error.hint)
with Store.open(path, read_only=True) as store:
    print([memory.text for memory in memories.list_memories(store)])
    try:
        memories.add(store, "more", at="2026-11-30T11:58:33Z")
    except ReadOnlyStoreError as error:
        print(error.message)
"""


def test_in_a_read_only_home_the_store_can_still_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    path = folder / "default.db"
    with Store.open(path) as store:
        memories.add(store, "Anna likes tea", at=AT)
    path.chmod(0o444)
    folder.chmod(0o555)
    before = path.read_bytes()
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    try:
        lines = outcome(child(_UNPRIVILEGED, str(path))).splitlines()
    finally:
        folder.chmod(0o755)
    assert "cannot be written" in lines[0]
    assert "LILA_HOME" in lines[0]
    assert lines[1] == "['Anna likes tea']"
    assert "reading only" in lines[2]
    assert path.read_bytes() == before


def test_reading_only_wants_a_file_that_is_there(path: Path) -> None:
    with pytest.raises(NotFoundError, match="no store"):
        Store.open(path, read_only=True)
    assert not path.exists()


def test_a_full_disk_leaves_nothing_half_written(store: Store) -> None:
    owner = session(store)
    with store.write() as connection:
        pages = connection.execute("pragma page_count").fetchone()[0]
    with store.exclusive() as connection:
        connection.execute(f"pragma max_page_count = {pages + 4}")
    kept = 0
    with pytest.raises(DiskFullError, match="nothing was written") as caught:
        for _ in range(100):
            turns.begin(store, owner, "word " * 2000, use_case="chat", at=AT)
            kept += 1
    assert "free some space" in caught.value.hint
    shown = turns.window(store, owner)
    assert len(shown) == kept < 100
    assert sessions.get(store, owner).turns == kept
    with store.exclusive() as connection:
        connection.execute("pragma max_page_count = 1000000")
    turns.begin(store, owner, "room again", use_case="chat", at=AT)
    assert len(turns.window(store, owner)) == kept + 1


_HOLD = """
import sys, time
from pathlib import Path
from lila_app.storage.connection import Store
with Store.open(Path(sys.argv[1])) as store, store.write():
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_writer_that_never_ends_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "BUSY_SECONDS", 0.3)
    with Store.open(path) as store:
        owner = session(store)
        other = child(_HOLD, str(path))
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            with pytest.raises(StoreBusyError, match="another process"):
                turns.begin(store, owner, "hello", use_case="chat", at=AT)
            assert turns.window(store, owner) == []
        finally:
            other.kill()
            other.communicate()
        turns.begin(store, owner, "hello", use_case="chat", at=AT)


def test_a_closed_store_can_be_closed_again(path: Path) -> None:
    store = Store.open(path)
    store.close()
    store.close()

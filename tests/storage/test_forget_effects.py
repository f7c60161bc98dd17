"""What forgetting does to the rest: prefixes, backups, the chain; and what delays it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lila_app.errors import StoreBusyError
from lila_app.storage import (
    backup,
    cuts,
    driver,
    erasure,
    events,
    forget,
    memories,
    sessions,
    turns,
)
from lila_app.storage.connection import Store
from tests.processes import child, outcome
from tests.storage.builders import AT, exchange, session
from tests.storage.forgetting import SECRET, WORDS, nowhere, whole
from tests.waiting import PATIENCE


def test_forgetting_a_core_memory_breaks_every_sessions_prefix(store: Store) -> None:
    one = session(store)
    memory = memories.add(store, SECRET, kind="core", at=AT)
    forget.forget_memory(store, memory.id, at=AT)
    (brk,) = cuts.prefix_breaks(store, one)
    assert (brk.reason, brk.session_id) == ("forgotten", None)


def test_forgetting_breaks_the_prefix_of_forks_and_of_nobody_else(store: Store) -> None:
    one, other = session(store), session(store)
    exchange(store, one, SECRET, "ok")
    fork = sessions.fork(store, one, at=AT)
    memory = memories.add(store, SECRET, at=AT)
    forget.forget_memory(store, memory.id, at=AT)
    assert turns.window(store, fork.id)[0].user == "[forgotten]"
    assert [row.reason for row in cuts.prefix_breaks(store, one)] == ["forgotten"]
    assert [row.reason for row in cuts.prefix_breaks(store, fork.id)] == ["forgotten"]
    assert cuts.prefix_breaks(store, other) == []


def test_backups_that_still_hold_it_are_named(store: Store, path: Path, tmp_path: Path) -> None:
    memory = memories.add(store, SECRET, at=AT)
    elsewhere = backup.backup(store, tmp_path / "elsewhere.db", at=AT)
    removed = backup.backup(store, tmp_path / "removed.db", at=AT)
    removed.unlink()
    beside = path.with_name(f"{path.name}.before-v2.backup")
    beside.write_bytes(b"")
    report = forget.forget_memory(store, memory.id, at=AT)
    assert report.backups == tuple(sorted((beside, elsewhere)))


def test_every_forgetting_moves_the_generation(store: Store) -> None:
    memory = memories.add(store, SECRET, at=AT)
    before = erasure.generation(store)
    forget.forget_memory(store, memory.id, at=AT)
    assert erasure.generation(store) == before + 1


def test_the_chain_stays_whole_and_the_hashes_stay(store: Store) -> None:
    memory = memories.add(store, SECRET, at=AT)
    with store.read() as connection:
        before = events.list_events(connection)
    forget.forget_memory(store, memory.id, at=AT)
    with store.read() as connection:
        after = events.list_events(connection)
        assert events.verify(connection) == []
    assert [event.hash for event in after[: len(before)]] == [event.hash for event in before]
    assert after[0].body is None


def test_a_reader_of_an_older_state_delays_the_cleaning_and_the_next_opening_does_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BUSY_SECONDS", 0.2)
    with Store.open(path) as store:
        memory = memories.add(store, SECRET, at=AT)
        ready, done = threading.Event(), threading.Event()

        def old_reader() -> None:
            with store.read() as connection:
                memories.list_memories(connection)
                ready.set()
                done.wait(PATIENCE)

        reader = threading.Thread(target=old_reader)
        reader.start()
        assert ready.wait(PATIENCE)
        with pytest.raises(StoreBusyError, match="keeps traces") as caught:
            forget.forget_memory(store, memory.id, at=AT)
        assert "start LILA again" in caught.value.hint
        assert memories.list_memories(store) == []
        done.set()
        reader.join()
    with Store.open(path):
        nowhere(path, *WORDS)


_KILLED = """
import os, sys
from pathlib import Path
from lila_app.storage import forget, memories
from lila_app.storage.connection import Store
store = Store.open(Path(sys.argv[1]))
store.scrub = lambda: os._exit(0)
forget.forget_memory(store, "m1", at="2026-11-30T11:58:33Z")
"""


def test_a_crash_before_the_cleaning_is_made_good_at_the_next_opening(path: Path) -> None:
    with Store.open(path) as store:
        memories.add(store, SECRET, at=AT)
    outcome(child(_KILLED, str(path)))
    with Store.open(path) as store:
        assert memories.list_memories(store) == []
        nowhere(path, *WORDS)
        whole(store)

from __future__ import annotations

import pytest

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import erasure, memories
from lila_app.storage.connection import Store
from tests.storage.builders import AT, exchange, session


def test_a_memory_keeps_what_it_came_with(store: Store) -> None:
    turn = exchange(store, session(store), "my sister is Anna", "noted")
    memory = memories.add(
        store,
        "Their sister is Anna",
        kind="core",
        pinned=True,
        at="2026-11-30T12:58:33+01:00",
        source_turn=turn.id,
        external_ids=("notes-17", "mail-3"),
    )
    assert memories.get(store, memory.id) == memory
    assert (memory.id, memory.kind, memory.pinned, memory.at) == ("m1", "core", True, AT)
    assert (memory.source_turn, memory.external_ids) == (turn.id, ("notes-17", "mail-3"))
    assert len(bytes.fromhex(memory.digest)) == 32


def test_memories_are_listed_by_id_newest_last(store: Store) -> None:
    for count in range(12):
        memories.add(store, f"fact {count}", at=AT, kind="core" if count % 2 else "fact")
    listed = memories.list_memories(store)
    assert [memory.id for memory in listed] == [f"m{n}" for n in range(1, 13)]
    assert [memory.id for memory in memories.list_memories(store, limit=2)] == ["m11", "m12"]
    core = memories.list_memories(store, kind="core", limit=1)
    assert [memory.text for memory in core] == ["fact 11"]


def test_a_superseded_memory_stays_and_says_by_what(store: Store) -> None:
    old, new = memories.add(store, "lives in Graz", at=AT), memories.add(store, "in Linz", at=AT)
    assert memories.supersede(store, old.id, new.id, at=AT).superseded_by == new.id
    with pytest.raises(UsageError):
        memories.supersede(store, new.id, new.id, at=AT)
    with pytest.raises(NotFoundError):
        memories.supersede(store, new.id, "m9", at=AT)


def test_an_empty_memory_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="empty"):
        memories.add(store, "  ", at=AT)


def test_work_that_a_forgetting_overtook_keeps_nothing(store: Store) -> None:
    before = erasure.generation(store)
    with store.write() as connection:
        erasure.bump(connection)
    with pytest.raises(erasure.OvertakenError):
        memories.add(store, "from an old turn", at=AT, generation=before)
    assert memories.list_memories(store) == []
    memories.add(store, "from a new one", at=AT, generation=before + 1)


def test_ids_that_do_not_exist_are_left_out(store: Store) -> None:
    one, two = memories.add(store, "one", at=AT), memories.add(store, "two", at=AT)
    assert memories.by_ids(store, ["m2", "m7", "m1"]) == [two, one]
    assert memories.by_ids(store, []) == []


def test_pinned_memories_are_listed(store: Store) -> None:
    memories.add(store, "one", at=AT)
    two = memories.add(store, "two", at=AT, pinned=True)
    assert memories.list_pinned(store) == [two]


def test_when_memories_were_kept_is_read_by_itself(store: Store) -> None:
    one = memories.add(store, "one", at=AT)
    assert memories.times(store, [one.id, "m99"]) == {one.id: one.at}

from __future__ import annotations

from typing import Any, cast

import pytest

from lila_app.errors import NotFoundError
from lila_app.storage import erasure, forget, memories, records, sessions, turns
from lila_app.storage.connection import Store
from tests.storage.builders import (
    AT,
    POLICY,
    POLICY_HASH,
    places_of,
    save,
    session,
)


def _id(record: records.Json | None) -> str:
    assert record is not None
    return str(cast("dict[str, Any]", record["meta"])["record_id"])


def test_a_record_comes_back_with_its_inputs_and_policy(store: Store) -> None:
    one = session(store)
    memory = memories.add(store, "Anna likes tea", at=AT)
    id = save(store, one, [(memory.id, memory.digest, memory.text)], dropped=["d4.2"])
    record = records.get_record(store, id)
    assert _id(record) == id == "c1"
    assert record["bytes_sha256"] == "3" * 64
    assert "erased" not in record
    assert records.get_inputs(store, id) == {
        "turn": "",
        "items": [{"id": "m1", "text": "Anna likes tea"}],
        "filling": "",
    }
    assert records.get_policy(store, POLICY_HASH) == POLICY
    assert records.item_ids(record) == {"m1": True, "d4.2": False}


def test_ids_are_given_once_even_if_never_saved(store: Store) -> None:
    assert [records.next_id(store) for _ in range(3)] == ["c1", "c2", "c3"]
    assert save(store, None, []) == "c4"


def test_records_are_found_by_session_and_moment(store: Store) -> None:
    one, other = session(store), session(store)
    first = save(store, one, [], at="2026-11-30T10:00:00Z")
    second = save(store, other, [], at="2026-11-30T11:00:00Z")
    third = save(store, one, [], at="2026-11-30T13:00:00+01:00")
    assert _id(records.latest(store)) == third
    assert _id(records.latest(store, other)) == second
    assert records.list_records(store, one) == [first, third]
    moment = "2026-11-30T11:59:59Z"
    assert _id(records.at_time(store, moment)) == second
    assert _id(records.at_time(store, moment, session_id=one)) == first
    assert _id(records.at_time(store, "2026-11-30T12:00:00Z", session_id=one)) == third
    assert records.at_time(store, "2026-11-30T09:00:00Z") is None


def test_what_is_not_there_is_not_found(store: Store) -> None:
    assert records.latest(store) is None
    for call in (
        lambda: records.get_record(store, "c9"),
        lambda: records.get_inputs(store, "c9"),
        lambda: records.get_policy(store, "no such hash"),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_older_records_go_into_batches_and_read_the_same(store: Store) -> None:
    one = session(store)
    filling = "the same long conversation in every record " * 200
    ids = [
        save(store, one, [("m1", "", f"memory {n}")], filling=f"{filling}{n}") for n in range(40)
    ]
    before = [(records.get_record(store, id), records.get_inputs(store, id)) for id in ids]
    assert records.cool(store, keep_recent=5) == 32
    assert records.cool(store, keep_recent=5) == 0
    after = [(records.get_record(store, id), records.get_inputs(store, id)) for id in ids]
    assert before == after
    with store.read() as connection:
        hot, cold = (
            connection.execute(f"select sum(length({columns})) from {table}").fetchone()[0]
            for table, columns in (("records", "body || inputs"), ("record_batches", "body"))
        )
    assert cold / 32 < hot / 8 / 3
    assert _id(records.latest(store)) == ids[-1]


def test_cooling_keeps_the_recent_ones_as_they_are(store: Store) -> None:
    for _ in range(20):
        save(store, None, [])
    assert records.cool(store, keep_recent=200) == 0
    assert records.cool(store, keep_recent=5) == 0  # not a whole batch
    assert records.cool(store, keep_recent=4) == 16


def test_one_record_can_be_taken_out_of_a_batch(store: Store) -> None:
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    for n in range(20):
        held = [(memory.id, memory.digest, memory.text)] if n == 3 else []
        save(store, None, held, filling=f"filling {n}")
    records.cool(store, keep_recent=0)
    report = forget.forget_memory(store, memory.id, at=AT)
    assert report.records == ("c4",)
    with pytest.raises(NotFoundError, match="forgotten"):
        records.get_inputs(store, "c4")
    assert records.get_record(store, "c4")["erased"]
    assert records.get_inputs(store, "c3")["filling"] == "filling 2"
    assert records.get_inputs(store, "c16")["filling"] == "filling 15"
    assert records.get_inputs(store, "c20")["filling"] == "filling 19"


def test_an_erased_record_keeps_its_counts_and_loses_its_content(store: Store) -> None:
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    id = save(store, session(store), [(memory.id, memory.digest, memory.text)], dropped=["d1.1"])
    forget.forget_memory(store, memory.id, at=AT)
    record: Any = records.get_record(store, id)
    assert record["erased"] == "something in it was forgotten"
    assert record["bytes_sha256"] is None
    assert record["blocks"] == [{"name": "turn", "hash": None}]
    assert record["prefix_sha256"] == [{"after": "identity", "sha256": None}]
    assert record["query"] == {}
    assert record["layers"][0]["items"] == [{"id": "m1", "hash": memory.digest, "tokens": 3}]
    assert record["dropped_items"][0]["source"] == ""
    assert record["policy_hash"] == POLICY_HASH


def test_a_record_gathered_before_a_forgetting_is_stored_without_content(store: Store) -> None:
    one = session(store)
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    turn = turns.begin(store, one, "what about plants?", use_case="chat", at=AT)
    generation = erasure.generation(store)
    forget.forget_memory(store, memory.id, at=AT)
    held = [(memory.id, memory.digest, memory.text)]
    id = save(store, one, held, turn=turn, generation=generation)
    assert records.get_record(store, id)["erased"]
    finished = turns.finish(
        store, turn.id, "Zebulon has some", stopped=False, record_id=id, model="m", at=AT
    )
    assert finished.reply == turns.FORGOTTEN
    assert places_of(store.path, "zebulon") == []


def test_a_forgetting_of_something_else_does_not_touch_a_record_under_way(store: Store) -> None:
    one = session(store)
    kept = memories.add(store, "Anna likes tea", at=AT)
    gone = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    generation = erasure.generation(store)
    forget.forget_memory(store, gone.id, at=AT)
    id = save(store, one, [(kept.id, kept.digest, kept.text)], generation=generation)
    assert "erased" not in records.get_record(store, id)


def test_a_reply_to_a_record_that_was_erased_meanwhile_is_not_kept(store: Store) -> None:
    one = session(store)
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    turn = turns.begin(store, one, "what about plants?", use_case="chat", at=AT)
    id = save(store, one, [(memory.id, memory.digest, memory.text)], turn=turn)
    forget.forget_memory(store, memory.id, at=AT)
    finished = turns.finish(
        store, turn.id, "Zebulon has some", stopped=False, record_id=id, model="m", at=AT
    )
    assert finished.reply == turns.FORGOTTEN
    assert places_of(store.path, "zebulon") == []
    assert finished.user == "what about plants?"


def test_a_record_of_a_session_deleted_meanwhile_keeps_no_content(store: Store) -> None:
    one = session(store)
    turn = turns.begin(store, one, "hello", use_case="chat", at=AT)
    generation = erasure.generation(store)
    sessions.delete(store, one, at=AT)
    id = save(store, one, [], turn=turn, generation=generation)
    assert records.get_record(store, id)["erased"]
    with pytest.raises(NotFoundError):
        turns.finish(store, turn.id, "hi", stopped=False, record_id=id, model="m", at=AT)

"""Forgetting a memory: what goes with it and what stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lila_app.errors import NotFoundError
from lila_app.storage import (
    cuts,
    forget,
    memories,
    records,
    search,
    sessions,
    state,
    turns,
    vectors,
)
from lila_app.storage.connection import Store
from tests.storage.builders import AT, LATER, answered, exchange, ingest, places_of, save, session
from tests.storage.forgetting import SECRET, WORDS, nowhere, whole


def test_a_forgotten_memory_is_nowhere(store: Store, path: Path) -> None:
    one = session(store, SECRET[:30])
    kept = memories.add(store, "Anna likes tea", at=AT)
    told = exchange(store, one, f"remember: {SECRET}", "I will.")
    memory = memories.add(store, SECRET, at=AT, source_turn=told.id, external_ids=("note-quince",))
    near = np.eye(2, 384, dtype=np.float32)
    vectors.add(store, "memories", [kept.id, memory.id], near, "one")
    goal = state.set_goal(store, f"Visit: {SECRET}", session_id=one, at=AT)
    state.add_note(store, SECRET, session_id=one, at=AT)
    seen = [(memory.id, memory.digest, memory.text), (kept.id, kept.digest, kept.text)]
    telling, first = answered(store, one, "where?", "At Quince Lane, says Zebulon.", seen)
    echo = [(telling.id, telling.digest, f"{telling.user} {telling.reply}")]
    second_hand, second = answered(store, one, "again?", "Still Quince Lane.", echo)
    harmless, third = answered(store, one, "and tea?", "Anna likes it.", seen)
    other_turn, fourth = answered(
        store, one, "hi", "hello", [(kept.id, kept.digest, kept.text)], dropped=[memory.id]
    )
    untouched, fifth = answered(store, one, "bye", "bye", [(kept.id, kept.digest, kept.text)])
    cuts.cut(
        store,
        one,
        upto_sequence=telling.sequence,
        summary=f"They met. {telling.reply} The weather was fine.",
        reason="window",
        at=AT,
    )
    assert places_of(path, "quince")

    report = forget.forget_memory(store, memory.id, at=LATER)

    nowhere(path, *WORDS)
    assert set(report.erased) == {memory.id, goal.id, "n1", "k1"}
    assert set(report.turns) == {told.id, telling.id, second_hand.id}
    assert set(report.records) == {first, second, third, fourth}
    with pytest.raises(NotFoundError, match="forgotten"):
        records.get_inputs(store, first)
    assert records.get_inputs(store, fifth)
    assert [(turn.user, turn.reply) for turn in turns.window(store, one)] == [
        ("[forgotten]", "I will."),
        ("where?", "[forgotten]"),
        ("again?", "[forgotten]"),
        ("and tea?", "Anna likes it."),
        ("hi", "hello"),
        ("bye", "bye"),
    ]
    cut = cuts.latest_cut(store, one)
    assert cut is not None
    assert cut.summary == "They met. The weather was fine."
    assert memories.list_memories(store) == [kept]
    assert state.list_goals(store, one) == []
    assert sessions.get(store, one).title == ""
    hits = vectors.search(store, "memories", near[1], k=5, model_id="one")
    assert [hit.id for hit in hits] == [kept.id]
    assert search.search_text(store, "memories", "zebulon quince", k=5) == []
    assert search.search_text(store, "turns", "zebulon quince", k=5) == []
    assert "forgotten" in [row.reason for row in cuts.prefix_breaks(store, one)]
    assert harmless.id not in report.turns
    assert {other_turn.id, untouched.id}.isdisjoint(report.turns)
    whole(store)


def test_forgetting_twice_says_that_there_is_nothing(store: Store) -> None:
    memory = memories.add(store, SECRET, at=AT)
    forget.forget_memory(store, memory.id, at=AT)
    with pytest.raises(NotFoundError):
        forget.forget_memory(store, memory.id, at=AT)


def test_the_same_thing_noted_twice_goes_at_once(store: Store, path: Path) -> None:
    first = memories.add(store, SECRET, at=AT)
    second = memories.add(store, SECRET.upper() + ".", at=AT)
    report = forget.forget_memory(store, first.id, at=AT)
    assert report.erased == (first.id, second.id)
    nowhere(path, *WORDS)


def test_what_says_it_on_its_own_is_named_and_kept(store: Store) -> None:
    memory = memories.add(store, "Anna likes tea", at=AT)
    longer = memories.add(store, "I think Anna likes tea, and cake", at=AT)
    ingest(store, ["Note: Anna likes tea."])
    report = forget.forget_memory(store, memory.id, at=AT)
    assert report.erased == (memory.id,)
    assert report.remaining == ("d1.1", longer.id)


def test_a_reply_that_only_uses_what_others_know_too_stays(store: Store) -> None:
    one = session(store)
    memories.add(store, "Anna lives in Graz", at=AT)
    memory = memories.add(store, "Anna works in Graz", at=AT)
    turn, _ = answered(
        store, one, "where is she?", "Anna is in Graz.", [(memory.id, memory.digest, memory.text)]
    )
    report = forget.forget_memory(store, memory.id, at=AT)
    assert report.turns == ()
    assert turns.get(store, turn.id).reply == "Anna is in Graz."


def test_a_reply_made_without_it_stays(store: Store) -> None:
    one = session(store)
    memory = memories.add(store, SECRET, at=AT)
    turn = exchange(store, one, "any street names?", "Quince Lane is a nice one.")
    report = forget.forget_memory(store, memory.id, at=AT)
    assert report.turns == ()
    assert turns.get(store, turn.id).reply == "Quince Lane is a nice one."


def test_the_unheard_rest_of_a_reply_goes_too(store: Store, path: Path) -> None:
    one = session(store)
    memory = memories.add(store, SECRET, at=AT)
    seen = [(memory.id, memory.digest, memory.text)]
    turn, record_id = answered(store, one, "where?", "Well … at Quince Lane.", seen)
    turns.heard(store, record_id, "Well …", at=AT)
    assert places_of(path, "quince lane")
    report = forget.forget_memory(store, memory.id, at=AT)
    assert report.turns == (turn.id,)
    nowhere(path, *WORDS)


def test_the_part_of_a_reply_that_was_asked_for_again_goes_too(store: Store, path: Path) -> None:
    one = session(store)
    memory = memories.add(store, SECRET, at=AT)
    seen = [(memory.id, memory.digest, memory.text)]
    record_id = save(store, None, seen)
    turn = turns.begin(store, one, "where?", use_case="chat", at=AT)
    turns.finish(
        store, turn.id, "At Quince L", stopped=True, record_id=record_id, model=None, at=AT
    )
    turns.finish(
        store, turn.id, "I do not say.", stopped=False, record_id=save(store, None, seen),
        model=None, at=AT, again=True,
    )  # fmt: skip
    forget.forget_memory(store, memory.id, at=AT)
    assert not places_of(path, "quince l")


def test_records_already_in_batches_are_reached(store: Store, path: Path) -> None:
    memory = memories.add(store, SECRET, at=AT)
    for _ in range(20):
        save(store, None, [(memory.id, memory.digest, memory.text)])
    records.cool(store, keep_recent=0)
    assert "record_batches.body" in places_of(path, "quince")
    assert len(forget.forget_memory(store, memory.id, at=AT).records) == 20
    nowhere(path, *WORDS)
    whole(store)


def test_a_record_that_repeats_it_without_naming_it_is_reached(store: Store, path: Path) -> None:
    memory = memories.add(store, 'Zebulon\'s "Quince Lane"\nnumber 17', at=AT)
    quoting = save(store, None, [], filling=f"asked: {memory.text}")
    assert forget.forget_memory(store, memory.id, at=AT).records == (quoting,)
    nowhere(path, *WORDS)


def test_the_name_a_fork_took_over_goes_too(store: Store, path: Path) -> None:
    one = session(store, SECRET[:20] + "…")
    exchange(store, one, SECRET, "ok")
    sessions.fork(store, one, at=AT)
    memory = memories.add(store, SECRET, at=AT)
    forget.forget_memory(store, memory.id, at=AT)
    nowhere(path, *WORDS)

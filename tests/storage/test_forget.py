from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lila_app.errors import NotFoundError, StoreBusyError
from lila_app.storage import (
    backup,
    check,
    cuts,
    documents,
    driver,
    erasure,
    events,
    forget,
    memories,
    records,
    relations,
    search,
    sessions,
    state,
    turns,
    vectors,
)
from lila_app.storage.connection import Store
from tests.storage.builders import (
    AT,
    LATER,
    answered,
    child,
    exchange,
    outcome,
    places_of,
    save,
    session,
)
from tests.storage.test_documents import ingest
from tests.waiting import PATIENCE

SECRET = "Zebulon keeps his pelargoniums at 17 Quince Lane"
WORDS = ("zebulon", "pelargonium", "quince")


def _nowhere(path: Path, *words: str) -> None:
    for word in words:
        assert places_of(path, word) == [], word


def _whole(store: Store) -> None:
    assert check.check(store).problems == ()


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

    _nowhere(path, *WORDS)
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
    _whole(store)


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
    _nowhere(path, *WORDS)


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
    _nowhere(path, *WORDS)


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
    _nowhere(path, *WORDS)
    _whole(store)


def test_a_record_that_repeats_it_without_naming_it_is_reached(store: Store, path: Path) -> None:
    memory = memories.add(store, 'Zebulon\'s "Quince Lane"\nnumber 17', at=AT)
    quoting = save(store, None, [], filling=f"asked: {memory.text}")
    assert forget.forget_memory(store, memory.id, at=AT).records == (quoting,)
    _nowhere(path, *WORDS)


def test_relations_made_from_a_memory_go_with_it(store: Store, path: Path) -> None:
    memory = memories.add(store, SECRET, at=AT)
    made = relations.add(store, "Zebulon", "lives at", "Quince Lane", source=memory.id, at=AT)
    kept = relations.add(store, "Anna", "likes", "tea", at=AT)
    before = relations.generation(store)
    report = forget.forget_memory(store, memory.id, at=AT)
    assert set(report.erased) == {memory.id, made.id, made.subject_id, made.object_id}
    assert relations.all_relations(store) == [kept]
    assert relations.generation(store) > before
    _nowhere(path, *WORDS)


def test_a_forgotten_relation_takes_the_entities_nobody_else_needs(
    store: Store, path: Path
) -> None:
    one = session(store)
    relations.add_entity(store, "Zebulon", aliases=("Quincey",), at=AT)
    gone = relations.add(store, "Zebulon", "keeps", "pelargoniums", at=AT)
    kept = relations.add(store, "Anna", "keeps", "bees", at=AT)
    turn, record_id = answered(
        store, one, "who?", "It is Zebulon.", [(gone.id, gone.digest, "Zebulon keeps pelargoniums")]
    )
    report = forget.forget_relation(store, gone.id, at=AT)
    assert set(report.erased) == {gone.id, gone.subject_id, gone.object_id}
    assert (report.turns, report.records) == ((turn.id,), (record_id,))
    assert relations.all_relations(store) == [kept]
    assert [entity.name for entity in relations.all_entities(store)] == ["Anna", "bees"]
    _nowhere(path, *WORDS)
    _whole(store)


def test_a_forgotten_document_takes_replies_that_repeat_it(store: Store, path: Path) -> None:
    one = session(store)
    ingest(store, ["zebulon keeps his pelargoniums on the sunny side of quince lane", "other"])
    chunk = documents.get_chunks(store, ["d1.1"])[0]
    seen = [(chunk.id, chunk.digest, chunk.text)]
    quoting, first = answered(
        store, one, "where?", "His pelargoniums on the sunny side of Quince Lane.", seen
    )
    using, second = answered(store, one, "thanks?", "You are welcome, on the sunny side.", seen)
    old = save(store, one, [("d1.7", "", "a former chunk of zebulon's")])
    report = forget.forget_document(store, "d1", at=AT)
    assert report.erased == ("d1",)
    assert report.turns == (quoting.id,)
    assert set(report.records) == {first, second, old}
    assert turns.get(store, using.id).reply == "You are welcome, on the sunny side."
    _nowhere(path, *WORDS)
    _whole(store)


def test_a_deleted_session_is_nowhere(store: Store, path: Path) -> None:
    one, other = session(store, "About Zebulon"), session(store)
    turn, record_id = answered(store, one, f"so: {SECRET}", "Quince Lane it is.", [])
    state.set_goal(store, "find Zebulon", session_id=one, at=AT)
    state.add_note(store, "pelargoniums are red", session_id=one, at=AT)
    cuts.cut(store, one, upto_sequence=turn.sequence, summary="Of Quince Lane.", reason="w", at=AT)
    recalled = save(store, other, [(turn.id, turn.digest, f"{turn.user} {turn.reply}")])
    kept = exchange(store, other, "hello", "hi")
    report = sessions.delete(store, one, at=AT)
    assert report.erased == (one,)
    assert report.turns == (turn.id,)
    assert set(report.records) == {record_id, recalled}
    _nowhere(path, *WORDS)
    assert turns.window(store, other) == [kept]
    _whole(store)


def test_a_memory_outlives_the_session_it_was_made_in(store: Store) -> None:
    one = session(store)
    turn = exchange(store, one, "I like tea", "noted")
    memory = memories.add(store, "They like tea", at=AT, source_turn=turn.id)
    sessions.delete(store, one, at=AT)
    assert memories.get(store, memory.id).source_turn is None
    _whole(store)


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


def test_the_name_a_fork_took_over_goes_too(store: Store, path: Path) -> None:
    one = session(store, SECRET[:20] + "…")
    exchange(store, one, SECRET, "ok")
    sessions.fork(store, one, at=AT)
    memory = memories.add(store, SECRET, at=AT)
    forget.forget_memory(store, memory.id, at=AT)
    _nowhere(path, *WORDS)


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
        _nowhere(path, *WORDS)


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
        _nowhere(path, *WORDS)
        _whole(store)


@pytest.mark.parametrize(
    "forgetting",
    [
        lambda store: forget.forget_memory(store, "m9", at=AT),
        lambda store: forget.forget_relation(store, "r9", at=AT),
        lambda store: forget.forget_document(store, "d9", at=AT),
        lambda store: forget.forget_session(store, "s9", at=AT),
    ],
)
def test_forgetting_what_is_not_there_changes_nothing(
    store: Store, forgetting: Callable[[Store], object]
) -> None:
    before = erasure.generation(store)
    with pytest.raises(NotFoundError):
        forgetting(store)
    assert erasure.generation(store) == before

"""Forgetting a relation, a document, a session, and a memory that relations were made from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lila_app.errors import NotFoundError
from lila_app.storage import (
    cuts,
    documents,
    erasure,
    forget,
    memories,
    relations,
    sessions,
    state,
    turns,
)
from lila_app.storage.connection import Store
from tests.storage.builders import AT, answered, exchange, ingest, save, session
from tests.storage.forgetting import SECRET, WORDS, nowhere, whole


def test_relations_made_from_a_memory_go_with_it(store: Store, path: Path) -> None:
    memory = memories.add(store, SECRET, at=AT)
    made = relations.add(store, "Zebulon", "lives at", "Quince Lane", source=memory.id, at=AT)
    kept = relations.add(store, "Anna", "likes", "tea", at=AT)
    before = relations.generation(store)
    report = forget.forget_memory(store, memory.id, at=AT)
    assert set(report.erased) == {memory.id, made.id, made.subject_id, made.object_id}
    assert relations.all_relations(store) == [kept]
    assert relations.generation(store) > before
    nowhere(path, *WORDS)


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
    nowhere(path, *WORDS)
    whole(store)


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
    nowhere(path, *WORDS)
    whole(store)


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
    nowhere(path, *WORDS)
    assert turns.window(store, other) == [kept]
    whole(store)


def test_a_memory_outlives_the_session_it_was_made_in(store: Store) -> None:
    one = session(store)
    turn = exchange(store, one, "I like tea", "noted")
    memory = memories.add(store, "They like tea", at=AT, source_turn=turn.id)
    sessions.delete(store, one, at=AT)
    assert memories.get(store, memory.id).source_turn is None
    whole(store)


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

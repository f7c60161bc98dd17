"""Facts, the changes made to them, and taking those back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import changes, check, facts, forget, memories, relations, turns
from lila_app.storage.changes import Step, steps
from lila_app.storage.connection import Store
from lila_app.storage.facts import FactRow, Stated
from tests.storage.builders import AT, LATER, exchange, places_of, session

HOME = Stated(
    subject="me",
    subject_key="me",
    predicate="lives_in",
    value="Tallinn",
    value_key="tallinn",
    text="The person lives in Tallinn.",
    kind="durable",
    negated=False,
    many=False,
    explicit=False,
    confidence=8_000,
    extractor="rules",
)


def keep(store: Store, stated: Stated = HOME, at: str = AT) -> FactRow:
    with store.write() as connection:
        return facts.add(connection, stated, at=at)


def change(store: Store, id: str, why: str = "later", **after: changes.Value) -> int | None:
    with store.write() as connection:
        return changes.make(connection, "superseded", why, steps(connection, id, **after), at=LATER)


def test_a_fact_is_kept_with_where_it_was_said(store: Store) -> None:
    turn = exchange(store, session(store), "I live in Tallinn.", "Nice.")
    fact = keep(store, replace(HOME, source_turn=turn.id, span=(0, 18)))
    assert facts.get(store, fact.id) == fact
    assert (fact.stage, fact.status, fact.learned_at, fact.speaker) == (
        "candidate",
        "current",
        AT,
        "",
    )
    assert [(one.turn_id, one.how) for one in facts.sightings(store, [fact.id])] == [
        (turn.id, "said")
    ]
    assert facts.of_turns(store, [turn.id]) == [fact]
    assert check.check(store).problems == ()


def test_one_that_does_not_exist_is_named(store: Store) -> None:
    with pytest.raises(NotFoundError, match="f9"):
        facts.get(store, "f9")
    with pytest.raises(NotFoundError):
        facts.get(store, "m1")


def test_slots_and_names_are_found_by_key(store: Store) -> None:
    keep(store)
    other = keep(store, replace(HOME, value="Ghent", value_key="ghent"))
    keep(store, replace(HOME, subject="Sam", subject_key="sam"))
    keep(store, replace(HOME, subject="Sam (colleague)", subject_key="sam (colleague)"))
    keep(store, replace(HOME, subject="Samuel", subject_key="samuel"))
    assert [row.value for row in facts.in_slot(store, ["me"], "lives_in")] == ["Tallinn", "Ghent"]
    assert facts.keys_named(store, "sam") == ["sam", "sam (colleague)"]
    assert [row.id for row in facts.listed(store, limit=1)] == ["f5"]
    assert facts.by_ids(store, [other.id, "f99"]) == [other]


def test_a_turn_is_a_sighting_once_and_a_use_once(store: Store) -> None:
    turn = exchange(store, session(store), "hello", "hi")
    fact = keep(store)
    memory = memories.add(store, "x", at=AT)
    with store.write() as connection:
        assert facts.sight(connection, fact.id, turn.id, at=AT, how="use")
        assert not facts.sight(connection, fact.id, turn.id, at=AT, how="said")
        assert facts.used(connection, memory.id, turn.id, at=AT)
        assert not facts.used(connection, memory.id, turn.id, at=AT)
    assert facts.uses(store, memory.id) == [(turn.id, AT)]


def test_a_change_is_undone_exactly_and_once(store: Store) -> None:
    fact, other = keep(store), keep(store, replace(HOME, value="Ghent", value_key="ghent"))
    change(store, fact.id, status="closed", closed_at=LATER, superseded_by=other.id)
    closed = facts.get(store, fact.id)
    assert (closed.status, closed.superseded_by) == ("closed", other.id)
    assert facts.replaced_by(store, other.id) == [closed]
    found = changes.last(store, [fact.id])
    assert found is not None
    with store.write() as connection:
        changes.undo(connection, found, at=LATER)
    assert facts.get(store, fact.id) == fact
    assert changes.last(store) is None
    assert check.check(store).problems == ()


def test_what_was_changed_again_since_is_undone_last_first(store: Store) -> None:
    fact = keep(store)
    change(store, fact.id, stage="long_term")
    first = changes.last(store)
    change(store, fact.id, stage="core")
    assert first is not None
    with pytest.raises(UsageError, match="changed again"), store.write() as connection:
        changes.undo(connection, first, at=LATER)
    for expected in ("long_term", "candidate"):
        last = changes.last(store)
        assert last is not None
        with store.write() as connection:
            changes.undo(connection, last, at=LATER)
        assert facts.get(store, fact.id).stage == expected


def test_changes_made_together_are_undone_together(store: Store) -> None:
    fact = keep(store)
    memory = memories.add(store, "x", at=AT)
    with store.write() as connection:
        root = changes.make(
            connection, "promoted", "days", steps(connection, fact.id, stage="long_term"), at=AT
        )
        changes.make(
            connection, "promoted", "core", steps(connection, memory.id, kind="core"),
            at=AT, joins=root,
        )  # fmt: skip
        last = changes.last(connection)
        assert last is not None
        changes.undo(connection, last, at=LATER)
    assert facts.get(store, fact.id).stage == "candidate"
    assert memories.get(store, memory.id).kind == "fact"


def test_nothing_that_holds_words_can_be_changed(store: Store) -> None:
    fact = keep(store)
    with pytest.raises(RuntimeError), store.write() as connection:
        changes.make(connection, "x", "y", [Step(fact.id, "text", "a", "b")], at=AT)
    assert change(store, fact.id, status="current") is None  # what changes nothing is no change


def test_relations_of_a_fact_close_and_open_with_it(store: Store) -> None:
    fact = keep(store)
    relation = relations.add(store, "me", "lives_in", "Tallinn", fact_id=fact.id, at=AT)
    change(store, relation.id, status="closed")
    assert relations.get(store, relation.id).status == "closed"
    last = changes.last(store, [relation.id])
    assert last is not None
    with store.write() as connection:
        changes.undo(connection, last, at=LATER)
    assert relations.get(store, relation.id).status == "current"


def test_a_forgotten_fact_takes_its_memory_its_relation_and_its_words(
    store: Store, path: Path
) -> None:
    turn = exchange(store, session(store), "I live in Zebulonia these days.", "Zebulonia!")
    memory = memories.add(store, "The person lives in Zebulonia.", at=AT, source_turn=turn.id)
    fact = keep(
        store,
        replace(
            HOME,
            value="Zebulonia",
            value_key="zebulonia",
            text="The person lives in Zebulonia.",
            source_turn=turn.id,
            span=(0, 21),
            memory_id=memory.id,
        ),
    )
    relations.add(store, "me", "lives_in", "Zebulonia", fact_id=fact.id, source=fact.id, at=AT)
    change(store, fact.id, stage="core")
    report = forget.forget_fact(store, fact.id, at=LATER)
    assert {fact.id, memory.id, "r1"} <= set(report.erased)
    assert report.turns == (turn.id,)
    assert places_of(path, "zebulonia") == []
    assert turns.get(store, turn.id).user == turns.FORGOTTEN
    with store.read() as connection:
        learned = connection.execute("select learned from turns where id = 1").fetchone()[0]
    assert learned == 1  # nothing is left to learn from it
    assert changes.recent(store) == []
    assert check.check(store).problems == ()


def test_the_same_words_go_where_they_were_said_while_the_memory_was_in_view(
    store: Store, path: Path
) -> None:
    said = "I live in Zebulonia."
    one = session(store)
    turn = exchange(store, one, said, "Nice.")
    again = [exchange(store, one, f"Well. {said} So what?", "Hm.") for _ in range(9)]
    other = exchange(store, one, "I live in hope.", "Good.")
    memory = memories.add(store, "The person lives in Zebulonia.", at=AT, source_turn=turn.id)
    stated = replace(HOME, value="Zebulonia", value_key="zebulonia", source_turn=turn.id)
    told = "The person lives in Zebulonia."
    keep(store, replace(stated, text=told, span=(0, len(said)), memory_id=memory.id))
    report = forget.forget_memory(store, memory.id, at=LATER)
    assert report.turns == (turn.id, *(each.id for each in again))
    assert places_of(path, "zebulonia") == []
    assert turns.get(store, other.id).user == "I live in hope."
    assert check.check(store).problems == ()


def test_what_else_a_memory_told_lives_on_when_a_fact_of_it_is_forgotten(
    store: Store, path: Path
) -> None:
    memory = memories.add(store, "I live in Zebulonia and like rye bread", at=AT, pinned=True)
    both = replace(HOME, memory_id=memory.id, stage="long_term")
    gone = keep(store, replace(both, value="Zebulonia", value_key="zebulonia", text="In Zebulonia"))
    kept = keep(
        store,
        replace(both, predicate="likes", value="rye", value_key="rye", text="Likes rye bread"),
    )
    forget.forget_fact(store, gone.id, at=LATER)
    assert places_of(path, "zebulonia") == []
    (own,) = memories.list_memories(store)
    assert (own.text, own.pinned) == ("Likes rye bread", True)
    assert facts.get(store, kept.id).memory_id == own.id
    assert check.check(store).problems == ()


def test_the_check_sees_a_fact_that_says_something_else(store: Store) -> None:
    keep(store)
    with store.write() as connection:
        connection.execute("update facts set text = 'The person lives in Ghent.'")
    assert [problem.where for problem in check.check(store).problems] == ["f1"]


def test_what_lila_believed_at_an_instant(store: Store) -> None:
    memory = memories.add(store, "x", at=AT)
    change(store, memory.id, status="closed", closed_at=LATER)
    assert [row.id for row in memories.as_of(store, AT)] == [memory.id]
    assert memories.as_of(store, "2026-11-30T11:58:32+00:00") == []
    assert memories.as_of(store, LATER) == []

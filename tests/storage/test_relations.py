from __future__ import annotations

import pytest

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import erasure, relations
from lila_app.storage.connection import Store
from lila_app.storage.values import instant
from tests.storage.builders import AT

LATER = "2026-12-31T00:00:00+00:00"


def test_a_relation_makes_the_entities_it_needs(store: Store) -> None:
    first = relations.add(
        store, "Anna", "works at", "Nordwind", at=AT, valid_from="2026-01-01T00:00:00Z"
    )
    second = relations.add(store, "ANNA ", "likes", "  green   tea", at=AT)
    assert (first.subject, first.predicate, first.object) == ("Anna", "works at", "Nordwind")
    assert first.valid_from == "2026-01-01T00:00:00+00:00"
    assert second.subject_id == first.subject_id
    assert second.object == "green tea"
    assert [one.name for one in relations.all_entities(store)] == ["Anna", "Nordwind", "green tea"]
    assert relations.all_relations(store) == [first, second]


def test_an_alias_names_the_same_entity(store: Store) -> None:
    anna = relations.add_entity(store, "Anna Berg", aliases=("Annie", "anna berg"), at=AT)
    assert anna.aliases == ("Annie",)
    relation = relations.add(store, "annie", "knows", "Ben", at=AT)
    assert relation.subject_id == anna.id
    assert relations.find_entity(store, "ANNIE") == anna
    again = relations.add_entity(store, "Annie", aliases=("A.",), at=AT)
    assert (again.id, again.aliases) == (anna.id, ("Annie", "A."))
    assert relations.find_entity(store, "nobody") is None


def test_relations_of_an_entity_are_found_from_both_sides(store: Store) -> None:
    one = relations.add(store, "Anna", "knows", "Ben", at=AT)
    two = relations.add(store, "Ben", "knows", "Cleo", at=AT)
    assert relations.of_entity(store, one.object_id) == [one, two]
    assert relations.of_entity(store, one.subject_id) == [one]


def test_an_interval_that_ends_before_it_begins_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="before it begins"):
        relations.add(
            store,
            "Anna",
            "works at",
            "Nordwind",
            valid_from="2026-03-01T00:00:00Z",
            valid_to="2026-03-01T00:00:00+01:00",
            at=AT,
        )
    with pytest.raises(UsageError, match="empty"):
        relations.add(store, "Anna", " ", "Nordwind", at=AT)
    assert relations.all_entities(store) == []


def test_every_change_moves_the_generation(store: Store) -> None:
    seen = [relations.generation(store)]
    relations.add(store, "Anna", "knows", "Ben", at=AT)
    seen.append(relations.generation(store))
    relations.add_entity(store, "Anna", aliases=("Annie",), at=AT)
    seen.append(relations.generation(store))
    relations.add_entity(store, "Anna", aliases=("Annie",), at=AT)
    assert relations.generation(store) == seen[-1]
    assert sorted(set(seen)) == seen


def test_a_relation_that_is_none_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        relations.get(store, "r1")


def test_closing_ends_the_interval_and_opening_again_restores_it(store: Store) -> None:
    row = relations.add(
        store, "Anna", "works at", "Nordwind", valid_to="2027-06-01T00:00:00Z", at=AT
    )
    before = relations.generation(store)
    closed = relations.close(store, row.id, at=LATER, valid_to="2026-12-24T00:00:00Z", by="f2")
    assert (closed.status, closed.closed_at) == ("closed", instant(LATER))
    assert closed.valid_to == "2026-12-24T00:00:00+00:00"
    assert relations.close(store, row.id, at=LATER) == closed
    assert relations.generation(store) == before + 1
    assert relations.reopen(store, row.id, at=LATER) == row
    assert relations.reopen(store, row.id, at=LATER) == row
    assert relations.generation(store) == before + 2


def test_closing_never_lengthens_an_interval_nor_turns_it_round(store: Store) -> None:
    soon = relations.add(
        store, "Anna", "works at", "Nordwind", valid_to="2026-12-01T00:00:00Z", at=AT
    )
    assert relations.close(store, soon.id, at="2026-12-31T00:00:00Z").valid_to == soon.valid_to
    later = relations.add(
        store, "Anna", "works at", "Südwind", valid_from="2027-01-01T00:00:00Z", at=AT
    )
    assert relations.close(store, later.id, at="2026-12-31T00:00:00Z").valid_to == later.valid_from


def test_a_conflict_is_marked_and_outlives_closing_and_opening(store: Store) -> None:
    row = relations.add(store, "Anna", "lives in", "Bremen", status="conflict", at=AT)
    assert row.status == "conflict"
    relations.close(store, row.id, at=LATER)
    assert relations.mark(store, row.id, "current", at=LATER).status == "closed"
    assert relations.reopen(store, row.id, at=LATER).status == "conflict"
    assert relations.mark(store, row.id, "current", at=LATER).status == "current"


def test_work_that_was_overtaken_by_a_forgetting_closes_nothing(store: Store) -> None:
    row = relations.add(store, "Anna", "lives in", "Bremen", at=AT)
    started = erasure.generation(store)
    with store.write() as connection:
        erasure.bump(connection)
    with pytest.raises(erasure.OvertakenError):
        relations.close(store, row.id, at=LATER, generation=started)
    assert relations.get(store, row.id) == row


def test_what_was_believed_then_is_told_by_the_order_of_the_log(store: Store) -> None:
    def day(month: int) -> str:
        return f"2026-{month:02}-01T00:00:00+00:00"

    old = relations.add(store, "Alex", "reports to", "Tom", at=day(1), valid_from=day(1))
    new = relations.add(store, "Alex", "reports to", "Sarah", at=day(6), valid_from=day(5))
    relations.close(store, old.id, at=day(6), valid_to=day(5), by=new.id)
    relations.reopen(store, old.id, at=day(9))

    def believed(at: str) -> list[tuple[str, str, str | None]]:
        found = relations.as_of(store, old.subject_id, at)
        return [(row.object, row.status, row.valid_to) for row in found]

    assert believed("2025-12-31T00:00:00+00:00") == []
    assert believed(day(3)) == [("Tom", "current", None)]
    assert believed("2026-05-20T00:00:00+00:00") == [("Tom", "current", None)]
    assert believed(day(7)) == [("Sarah", "current", None)]
    assert believed(day(10)) == [("Tom", "current", None), ("Sarah", "current", None)]

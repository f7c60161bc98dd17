"""Entities that are one, and two again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import driver, entities, events, forget, merges, migrations, relations
from lila_app.storage.connection import Store
from lila_app.storage.naming import folded
from tests.storage.builders import AT


def names(store: Store) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.aliases) for one in entities.all_entities(store)]


def merge(store: Store, kept: str, gone: str) -> str:
    return merges.merge(store, id_of(store, kept), id_of(store, gone), at=AT).merge.id


def id_of(store: Store, name: str) -> str:
    found = entities.find_entity(store, name)
    assert found is not None
    return found.id


def test_merged_entities_are_one_under_all_their_names(store: Store) -> None:
    one = relations.add(store, "Sarah", "works at", "Nordwind", at=AT)
    two = relations.add(store, "Sally", "likes", "tea", at=AT)
    merge(store, "Sarah", "Sally")
    assert names(store)[0] == ("Sarah", ("Sally",))
    found = relations.of_entity(store, id_of(store, "sally"))
    assert [(row.id, row.subject) for row in found] == [(one.id, "Sarah"), (two.id, "Sarah")]
    assert relations.get(store, two.id).subject_id == one.subject_id


def test_taking_a_merge_back_restores_what_was_and_leaves_what_was_learnt_since(
    store: Store,
) -> None:
    relations.add(store, "Sarah", "works at", "Nordwind", at=AT)
    relations.add(store, "Sally", "likes", "tea", at=AT)
    before = entities.all_entities(store), relations.all_relations(store)
    made = merge(store, "Sarah", "Sally")
    later = relations.add(store, "Sally", "lives in", "Bremen", at=AT)
    parted = merges.unmerge(store, made, at=AT)
    assert (parted.kept.name, parted.gone.name, parted.later) == ("Sarah", "Sally", (later.id,))
    assert relations.get(store, later.id).subject == "Sarah"
    assert entities.all_entities(store)[: len(before[0])] == before[0]
    assert relations.all_relations(store)[:-1] == before[1]
    with pytest.raises(UsageError, match="taken back already"):
        merges.unmerge(store, made, at=AT)


person = st.integers(0, 5)


@pytest.mark.usefixtures("copied_stores")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(person, person), max_size=8), st.randoms(use_true_random=False))
def test_merges_taken_back_in_any_order_leave_exactly_what_was(
    pairs: list[tuple[int, int]], random: object
) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "test.db") as store:
        for row in range(6):
            relations.add(store, f"Person {row}", "knows", f"Person {(row * 2) % 6}", at=AT)
            relations.add_entity(store, f"Person {row}", aliases=(f"P{row}",), at=AT)
        before = entities.all_entities(store), relations.all_relations(store)
        made: list[str] = []
        groups = {row: {row} for row in range(6)}
        for one, other in pairs:
            if one in groups[other]:
                with pytest.raises(UsageError, match="already are one"):
                    merge(store, f"P{one}", f"Person {other}")
                continue
            made.append(merge(store, f"Person {one}", f"P{other}"))
            joined = groups[one] | groups[other]
            groups.update(dict.fromkeys(joined, joined))
            for row in range(6):  # whoever is one is found under the names of all
                found = entities.get_entity(store, id_of(store, f"Person {row}"))
                assert {int(n[-1]) for n in (found.name, *found.aliases)} == groups[row]
        random.shuffle(made)  # type: ignore[attr-defined]
        for id in made:
            merges.unmerge(store, id, at=AT)
        assert (entities.all_entities(store), relations.all_relations(store)) == before
        assert merges.list_merges(store) == []


def test_another_spelling_is_the_same_entity_until_the_person_says_otherwise(store: Store) -> None:
    one = relations.add(store, "Sarah Chén", "works at", "Nordwind", at=AT)
    two = relations.add(store, "Dr. Sarah Chen", "likes", "tea", at=AT)
    assert two.subject_id == one.subject_id
    (made,) = merges.list_merges(store)
    assert made.names == ("Sarah Chén", "Dr. Sarah Chen")
    assert made.why == "spelling"
    merges.unmerge(store, made.id, at=AT)
    three = relations.add(store, "Dr. Sarah Chen", "likes", "opera", at=AT)
    assert three.subject == "Dr. Sarah Chen"
    assert merges.list_merges(store) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("José", "jose", True), ("Jean-Luc", "Jean Luc", True), ("J.R. Berg", "JR Berg", True),
        ("Alex's", "Alex", True), ("Dr Sarah Chen", "Sarah Chen", True), ("Łukasz", "Lukasz", True),
        ("Dr. Chen", "Chen", False), ("Mr. Alex Kim", "Mrs. Alex Kim", False),
        ("C++", "C", False), ("Bob", "Robert", False), ("Andrews", "Andrew", False),
        ("Alex (work)", "Alex", False), ("Anna", "Hanna", False),
    ],
)  # fmt: skip
def test_only_spelling_makes_two_names_one(one: str, other: str, same: bool) -> None:
    assert (folded(one) == folded(other)) is same


def test_a_name_that_two_have_is_given_to_neither(store: Store) -> None:
    relations.add_entity(store, "Elspeth", aliases=("Mum",), at=AT)
    relations.add_entity(store, "Lurdes", aliases=("Mum",), at=AT)
    assert entities.find_entity(store, "mum") is None
    assert [one.name for one in entities.called(store, "mum")] == ["Elspeth", "Lurdes"]
    row = relations.add(store, "Mum", "likes", "tea", at=AT)
    assert row.subject == "Mum"
    assert len(entities.called(store, "mum")) == 3


def test_a_first_name_means_who_has_it_where_nobody_has_it_alone(store: Store) -> None:
    relations.add_entity(store, "Anna Berg", at=AT)
    assert [one.name for one in entities.called(store, "anna")] == ["Anna Berg"]
    assert entities.find_entity(store, "anna") is None
    relations.add_entity(store, "Anna", at=AT)
    assert [one.name for one in entities.called(store, "anna")] == ["Anna"]


def test_two_of_one_name_are_told_apart_by_giving_one_its_relations(store: Store) -> None:
    work = relations.add(store, "Alex", "reports to", "Sarah", at=AT)
    school = relations.add(store, "Alex", "plays with", "Lia", at=AT)
    made = merges.split(store, work.subject_id, "Alex (work)", [work.id], at=AT)
    assert relations.get(store, work.id).subject == "Alex (work)"
    assert relations.get(store, school.id).subject == "Alex"
    assert [one.name for one in entities.called(store, "Alex")] == ["Alex", "Alex (work)"]
    with pytest.raises(UsageError, match="no relation of Alex"):
        merges.split(store, school.subject_id, "Alex (choir)", [work.id], at=AT)
    with pytest.raises(UsageError, match="already"):
        merges.split(store, made.id, "Alex (work)", [], at=AT)


def test_what_was_merged_into_a_forgotten_entity_goes_with_it(store: Store, path: Path) -> None:
    row = relations.add(store, "Zebulon", "keeps", "pelargoniums", at=AT)
    relations.add_entity(store, "Quincely", aliases=("Quillfeather",), at=AT)
    merge(store, "Zebulon", "Quincely")
    forget.forget_relation(store, row.id, at=AT)
    assert entities.all_entities(store) == []
    with store.read() as connection:
        assert events.verify(connection) == []
    whole = path.read_bytes().lower()
    for word in (b"zebulon", b"quincely", b"quillfeather", b"pelargon"):
        assert word not in whole


def test_what_is_no_merge_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError):
        merges.unmerge(store, "x1", at=AT)
    with pytest.raises(NotFoundError):
        entities.get_entity(store, "e1")


def test_entities_of_an_older_store_are_found_by_all_their_names() -> None:
    connection = driver.memory()
    for step in migrations.MIGRATIONS[:2]:
        step(connection)
    connection.execute(
        "insert into entities (name, key, aliases) values ('Ánna Berg', 'ánna berg', '[\"Annie\"]')"
    )
    migrations.MIGRATIONS[2](connection)
    for name in ("annie", "Anna Berg", "ánna berg"):
        assert [one.id for one in entities.called(connection, name)] == ["e1"]
    connection.close()

"""The mirror after any sequence of changes is what reading everything gives."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lila_app.errors import LilaError
from lila_app.graph import loading
from lila_app.graph.mirror import Mirror
from lila_app.graph.snapshot import Snapshot, holds, tokens
from lila_app.storage import forget, merges, relations
from lila_app.storage.connection import Store

AT = "2026-11-30T08:00:00+00:00"
NAMES = ("me", "Ana", "Anä", "Ana Berg", "Ben", "Ben (work)", "Dr. Ana Berg", "Cleo")

number = st.integers(1, 9)
name = st.sampled_from(NAMES)
change = st.one_of(
    st.tuples(st.just("add"), name, name),
    st.tuples(st.just("alias"), name, name),
    st.tuples(st.just("close"), number, number),
    st.tuples(st.just("reopen"), number, number),
    st.tuples(st.just("mark"), number, number),
    st.tuples(st.just("merge"), number, number),
    st.tuples(st.just("unmerge"), number, number),
    st.tuples(st.just("split"), number, number),
    st.tuples(st.just("forget"), number, number),
    st.tuples(st.just("look"), number, number),
)

CHANGES: dict[str, Callable[[Store, object, object], object]] = {
    "add": lambda store, one, other: relations.add(store, str(one), "knows", str(other), at=AT),
    "alias": lambda store, one, other: relations.add_entity(
        store, str(one), aliases=(str(other),), at=AT
    ),
    "close": lambda store, one, _: relations.close(store, f"r{one}", at=AT),
    "reopen": lambda store, one, _: relations.reopen(store, f"r{one}", at=AT),
    "mark": lambda store, one, _: relations.mark(store, f"r{one}", "conflict", at=AT),
    "merge": lambda store, one, other: merges.merge(store, f"e{one}", f"e{other}", at=AT),
    "unmerge": lambda store, one, _: merges.unmerge(store, f"x{one}", at=AT),
    "split": lambda store, one, other: merges.split(
        store, f"e{one}", f"Split {other}", [f"r{other}"], at=AT
    ),
    "forget": lambda store, one, _: forget.forget_relation(store, f"r{one}", at=AT),
}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(change, min_size=1, max_size=25))
def test_following_changes_gives_what_reading_everything_gives(
    drawn: list[tuple[str, object, object]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "test.db") as store:
        for row in range(3):
            relations.add(store, NAMES[row], "knows", NAMES[row + 3], at=AT)
        mirror = Mirror(store)
        mirror.warm()
        for kind, one, other in drawn:
            if kind == "look":
                compare(store, mirror.current())
                continue
            try:
                CHANGES[kind](store, one, other)
            except LilaError:
                continue
        compare(store, mirror.current())


def compare(store: Store, followed: Snapshot) -> None:
    with store.read() as connection:
        fresh = loading.whole(connection, loading.stamp(connection))
    assert followed.edges == fresh.edges
    assert {k: list(v) for k, v in followed.near.items()} == fresh.near
    assert followed.roots == fresh.roots
    assert followed.names == fresh.names
    assert followed.entities == fresh.entities
    for entity in fresh.entities:
        assert followed.around(entity) == fresh.around(entity)


def test_one_added_relation_is_followed_and_not_everything_read_again(store: Store) -> None:
    for row in range(30):
        relations.add(store, f"Person {row}", "knows", f"Person {row + 1}", at=AT)
    mirror = Mirror(store)
    before = mirror.current()
    untouched = before.around(1)
    relations.add(store, "Person 20", "knows", "Newcomer", at=AT)
    after = mirror.current()
    assert after.around(1) is untouched  # what did not change was not made again
    assert len(after.edges) == len(before.edges) + 1
    assert len(before.edges) == 30  # a question under way keeps the graph it began with
    assert mirror.current() is after


def test_a_relation_holds_in_its_interval_and_in_no_other_moment(store: Store) -> None:
    times = [f"2026-{month:02}-01T00:00:00+00:00" for month in range(1, 8)]
    for begin in (None, *times):
        for end in (None, *times):
            if begin is None or end is None or begin < end:
                relations.add(store, "Ana", "knows", "Ben", valid_from=begin, valid_to=end, at=AT)
    graph = Mirror(store).current()
    for at in times:
        month = times.index(at)
        for edge in graph.around(1):
            first = times.index(edge.valid_from) if edge.valid_from else -1
            last = times.index(edge.valid_to) if edge.valid_to else 99
            assert holds(edge, at) is (month in range(first, last)), (edge, at)


def named(graph: Snapshot, text: str) -> list[list[str]]:
    return [
        [graph.entities[entity] for entity in mention.entities]
        for mention in graph.mentions(tokens(text))
    ]


def test_names_are_found_in_a_text_by_every_way_they_are_said(store: Store) -> None:
    relations.add(store, "José", "knows", "Blue Harbor", at=AT)
    relations.add(store, "me", "knows", "Alex Brandt", at=AT)
    relations.add_entity(store, "Blue Harbor", aliases=("the harbor firm",), at=AT)
    graph = Mirror(store).current()
    assert named(graph, "Did jose write?") == [["José"]]
    assert named(graph, "JOSÉ’S boat") == [["José"]]
    assert named(graph, "The harbor firm hired Alex, and I know it.") == [
        ["Blue Harbor"], ["Alex Brandt"], ["me"],
    ]  # fmt: skip
    assert named(graph, "an alex key is no person") == []
    assert named(graph, "blue") == []


def test_a_name_of_two_people_means_both_and_is_learnt_of_neither(store: Store) -> None:
    relations.add(store, "Alex (work)", "knows", "Ben", at=AT)
    relations.add(store, "Alex (school)", "knows", "Cleo", at=AT)
    graph = Mirror(store).current()
    assert named(graph, "Who is Alex?") == [["Alex (school)", "Alex (work)"]]
    known = graph.known()
    assert known["alex"] == "Alex"
    assert known["ben"] == "Ben"
    assert relations.find_entity(store, "Alex") is None

"""What the graph layer offers, told as questions people ask."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lila_app.context import Item, Policy
from lila_app.embedding.tokens import Counter
from lila_app.graph.mirror import Mirror
from lila_app.layers.graph import GraphLayer
from lila_app.layers.port import Question
from lila_app.storage import facts, merges, relations, sessions, turns
from lila_app.storage.connection import Store
from lila_app.storage.facts import Stated
from tests.layers.conftest import NOW

FLOOR = 3_000
"""Of the graph in a chat, as policies/allocation.toml ships it."""

Asks = Callable[..., list[Item]]


def question(text: str, policy: Policy, now: str = NOW) -> Question:
    return Question(text, lambda: np.zeros(384, np.float32), None, None, None, now, policy)


@pytest.fixture
def asks(store: Store, count: Counter, policy: Policy) -> Asks:
    layer = GraphLayer(Mirror(store), count)
    return lambda text, now=NOW: list(layer.offer(question(text, policy, now)))


def said(items: Sequence[Item]) -> list[str]:
    """The facts above the floor, best first, without their heads."""
    return [one.variants[0].text.partition("] ")[2] for one in items if one.score >= FLOOR]


def add(store: Store, text: str, *, valid_from: str | None = None) -> str:
    subject, predicate, object = text.split(" / ")
    return relations.add(store, subject, predicate, object, valid_from=valid_from, at=NOW).id


# --- Who is Alex's manager? ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("known", "answer"),
    [
        ("Alex / reports_to / Sarah", "Alex reports to Sarah"),
        ("Sarah / manages / Alex", "Sarah manages Alex"),
        ("Sarah / manager_of / Alex", "Sarah manager of Alex"),
        ("Alex / Reports to / Sarah", "Alex reports to Sarah"),
        ("Alex / has_manager / Sarah", "Alex's manager is Sarah"),
        ("Sarah / kin_boss / Alex", "Sarah is Alex's boss"),
    ],
)
@pytest.mark.parametrize(
    "text",
    ["Who is Alex's manager?", "who's the boss of Alex", "What is Alex’s current boss called?"],
)
def test_a_manager_is_found_however_it_was_said_and_is_asked(
    store: Store, asks: Asks, known: str, answer: str, text: str
) -> None:
    row = add(store, known)
    add(store, "Alex / lives_in / Bremen")
    add(store, "Sarah / likes / tea")
    best, *others = asks(text)
    assert (best.id, best.score) == (row, 9_500)
    assert said([best]) == [answer]
    assert all(one.score < 9_000 for one in others)


def test_after_alex_changed_team_the_old_manager_is_history(store: Store, asks: Asks) -> None:
    old = add(store, "Alex / reports_to / Tom", valid_from="2023-09-01T00:00:00Z")
    add(store, "Alex / reports_to / Sarah", valid_from="2026-03-01T00:00:00Z")
    relations.close(store, old, at=NOW, valid_to="2026-03-01T00:00:00Z")
    now = "Alex reports to Sarah (since 2026-03-01)"
    then = "Alex reports to Tom (2023-09-01 to 2026-03-01)"
    assert said(asks("Who is Alex's manager?")) == [now]
    assert {now, then} == {*said(asks("Who was Alex's manager before?"))}
    assert said(asks("Who was Alex's manager in 2024?"))[0] == then
    both = said(asks("Who did Alex report to in 2026?"))
    assert {now, then} == {*both}
    assert said(asks("Who is Alex's manager?", "2024-01-01T00:00:00+00:00")) == [then]


def test_what_was_a_mistake_is_no_history(store: Store, asks: Asks) -> None:
    wrong = add(store, "Alex / reports_to / Tom", valid_from="2025-03-01T00:00:00Z")
    relations.close(store, wrong, at=NOW, valid_to="2025-03-01T00:00:00Z")
    assert asks("Who was Alex's manager before?") == []
    assert asks("Who was Alex's manager in 2025?") == []


def test_of_two_people_called_alex_both_managers_are_offered_and_marked(
    store: Store, asks: Asks
) -> None:
    work = add(store, "Alex / reports_to / Sarah")
    choir = add(store, "Alex / reports_to / Odete")
    merges.split(store, relations.get(store, work).subject_id, "Alex (choir)", [choir], at=NOW)
    offered = asks("Who is Alex's manager?")
    assert {one.id for one in offered} == {work, choir}
    assert {*said(offered)} == {
        "Alex reports to Sarah [Alex is one of 2 of that name]",
        "Alex (choir) reports to Odete [Alex (choir) is one of 2 of that name]",
    }
    (only,) = [one for one in asks("Who is Alex (choir)'s manager?") if one.id == choir]
    assert only.score == 9_500


def test_merged_names_lead_to_one_person(store: Store, asks: Asks) -> None:
    add(store, "Alex / reports_to / Sarah")
    add(store, "Sasha / lives_in / Bremen")
    one, other = (relations.find_entity(store, name) for name in ("Alex", "Sasha"))
    assert one and other
    merges.merge(store, one.id, other.id, at=NOW)
    assert said(asks("Who is Sasha's manager?"))[0] == "Alex reports to Sarah"
    assert "Alex lives in Bremen" in said(asks("Where does Alex live?"))


# --- Over several steps --------------------------------------------------------------------------
def test_the_steps_of_a_way_come_first(store: Store, asks: Asks) -> None:
    steps = [
        add(store, "Ana / sister_of / me"),
        add(store, "Ana / married_to / Rui"),
        add(store, "Rui / works_at / Nordwind"),
    ]
    add(store, "Bela / married_to / Zeca")
    add(store, "me / works_at / Estuary Lines")
    husband = asks("What is my sister's husband called?")
    assert {one.id for one in husband if one.score == 9_500} == set(steps[:2])
    employer = asks("Who is my sister's husband's employer?")
    assert {one.id for one in employer if one.score == 9_500} == set(steps)
    where = asks("Where does my older sister's husband work?")
    assert {one.id for one in where if one.score >= 9_000} == set(steps)
    turned = asks("Who is the husband of my sister?")
    assert {one.id for one in turned if one.score == 9_500} == set(steps[:2])


def test_a_way_that_ends_early_offers_what_is_known_of_it(store: Store, asks: Asks) -> None:
    known = add(store, "Ana / sister_of / me")
    (offered,) = asks("Where does my sister's husband work?")
    assert (offered.id, offered.score) == (known, 8_000)


def test_the_verb_has_a_direction(store: Store, asks: Asks) -> None:
    up = add(store, "Anna / reports_to / Sarah")
    down = add(store, "Ben / reports_to / Anna")
    assert asks("Who does Anna report to?")[0].id == up
    assert asks("Who reports to Anna?")[0].id == down
    assert asks("Whom is Ben managed by?")[0].id == down
    assert asks("Who manages Anna?")[0].id == up
    assert asks("Whom does Anna manage?")[0].id == down
    scores = {one.id: one.score for one in asks("Who reports to Anna?")}
    assert scores[down] == 9_000 > scores[up]


def test_an_inverse_answers_where_nothing_direct_is_known(store: Store, asks: Asks) -> None:
    child = add(store, "Lia / child_of / Nina")
    assert asks("Who is Lia's mother?")[0].id == child
    direct = add(store, "Rosa / mother_of / Lia")
    scores = {one.id: one.score for one in asks("Who is Lia's mother?")}
    assert scores[direct] == 9_500 > scores[child]


def test_what_nearly_says_it_answers_where_nothing_else_does(store: Store, asks: Asks) -> None:
    mother = add(store, "me / mother_of / Lia")
    friend = add(store, "Matilde / friend_of / Lia")
    best = asks("Who is my daughter's friend?")
    assert {one.id for one in best if one.score == 9_500} == {mother, friend}
    brother = add(store, "Lia / sister_of / Tom")
    assert asks("What is Lia's brother called?")[0].id == brother


# --- How much of it ------------------------------------------------------------------------------
def test_someone_with_many_relations_is_offered_with_what_is_asked_for(
    store: Store, asks: Asks
) -> None:
    for row in range(120):
        add(store, f"Sarah / knows / Colleague {row:03}")
    dentist = add(store, "Sarah / has_dentist / Inês")
    assert said(asks("I met Sarah yesterday.")) == []
    assert asks("Who is Sarah's dentist?")[0].id == dentist
    assert len(asks("Tell me about Sarah.")) <= 40


def test_someone_with_few_relations_brings_all_and_those_of_neighbours(
    store: Store, asks: Asks
) -> None:
    add(store, "Sarah / lives_in / Bremen")
    add(store, "Sarah / owns / Cotovia")
    add(store, "Cotovia / kept_in / shed 9")
    add(store, "shed 9 / part_of / harbour")
    found = said(asks("I met Sarah yesterday."))
    assert "Sarah has Cotovia" in found
    assert "Cotovia: kept in shed 9" in found
    assert not [one for one in found if "harbour" in one]  # three steps away


def test_a_connection_of_any_length_is_found_when_asked_for_and_not_otherwise(
    store: Store, asks: Asks
) -> None:
    names = ["Ana", "Bela", "Cora", "Dora", "Elsa"]
    steps = [add(store, f"{one} / friend_of / {other}") for one, other in pairwise(names)]
    scores = {one.id: one.score for one in asks("How are Ana and Elsa connected?")}
    assert [scores[id] for id in steps] == [9_000] * 4
    assert all(one.score < 8_000 for one in asks("Ana and Elsa had lunch."))


def test_a_contradiction_is_marked_and_what_was_said_names_its_turn(
    store: Store, asks: Asks
) -> None:
    session = sessions.create(store, at=NOW, use_case="chat", title="t").id
    turn = turns.begin(store, session, "Ana lives in Bremen", use_case="chat", at=NOW).id
    with store.write() as connection:
        fact = facts.add(connection, lives_in_bremen(turn), at=NOW).id
    one = relations.add(
        store, "Ana", "lives_in", "Bremen", status="conflict", source=fact, fact_id=fact, at=NOW
    )
    (item,) = asks("Where does Ana live?")
    assert item.variants[0].text == (
        f"[{one.id}, 2026-11-30, from {turn}] Ana lives in Bremen [contradicted by another entry]"
    )
    assert item.source == f"relation of Ana, from {turn}"


def test_a_word_that_is_nobodys_name_asks_nothing(store: Store, asks: Asks) -> None:
    add(store, "Ana / lives_in / Bremen")
    assert asks("How do I boil an egg?") == []
    assert asks("") == []


# --- The same bytes ------------------------------------------------------------------------------
FACTS = [
    "Alex / reports_to / Sarah", "Sarah / reports_to / Teresa", "Teresa / manages / Henrik",
    "Alex / lives_in / Bremen", "Sarah / lives_in / Bremen", "me / sister_of / Alex",
    "Alex / friend_of / Sarah", "Henrik / friend_of / Alex", "Bremen / part_of / Germany",
]  # fmt: skip
ASKED = "How is Alex's manager connected to Henrik, and where does Alex live?"


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.permutations(FACTS))
def test_the_order_in_which_relations_were_added_changes_nothing(order: list[str]) -> None:
    assert offered_of(order) == as_listed()


@lru_cache(maxsize=1)
def as_listed() -> list[tuple[int, str]]:
    return offered_of(FACTS)


def offered_of(order: Sequence[str]) -> list[tuple[int, str]]:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "test.db") as store:
        for text in order:
            add(store, text)
        policy: Policy = None  # type: ignore[assignment]  # the layer does not look at it
        offered = GraphLayer(Mirror(store), len).offer(question(ASKED, policy))
    return [(one.score, one.variants[0].text.partition("] ")[2]) for one in offered]


@pytest.mark.slow
def test_the_seed_of_hashes_changes_nothing() -> None:
    program = "from tests.layers import test_graph_layer as t; print(t.offered_of(t.FACTS))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(seen) == 1
    assert seen.pop().decode().strip() == str(offered_of(FACTS))


def lives_in_bremen(turn: str) -> Stated:
    return Stated(
        subject="Ana",
        subject_key="ana",
        predicate="lives_in",
        value="Bremen",
        value_key="bremen",
        text="Ana lives in Bremen",
        kind="durable",
        negated=False,
        many=False,
        explicit=False,
        confidence=8_000,
        extractor="test",
        source_turn=turn,
    )

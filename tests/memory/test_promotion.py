"""When a fact earns its place: the shipped table, what is refused in one, and the decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app.context import Source
from lila_app.errors import PolicyError
from lila_app.memory import promotion
from lila_app.memory.promotion import Record
from tests.memory.saying import rules

RECORD = Record(
    predicate="likes",
    kind="preference",
    confidence=9_000,
    about_me=True,
    explicit=False,
    confirmed=False,
    negated=False,
    days=1,
    uses=0,
)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (RECORD, ""),
        (replace(RECORD, explicit=True), "explicit"),
        (replace(RECORD, confirmed=True), "confirmed"),
        (replace(RECORD, days=2), "days"),
        (replace(RECORD, uses=2), "uses"),
        (replace(RECORD, uses=1), ""),
        (replace(RECORD, predicate="allergic_to", kind="durable"), "at_once"),
        (replace(RECORD, predicate="allergic_to", confidence=7_999), ""),
        (replace(RECORD, predicate="has_dentist", kind="durable"), "at_once"),
        (replace(RECORD, kind="chat", days=50, uses=50), ""),
        (replace(RECORD, kind="chat", explicit=True), "explicit"),
    ],
)
def test_what_earns_a_place(record: Record, why: str) -> None:
    assert promotion.earned(record, rules()) == why


def test_the_profile_pack_takes_what_is_listed_about_the_person_while_there_is_room() -> None:
    mine = replace(RECORD, predicate="lives_in", kind="durable")
    assert promotion.core(mine, 0, rules())
    assert promotion.core(mine, 15, rules())
    assert not promotion.core(mine, 16, rules())
    assert not promotion.core(RECORD, 0, rules())
    assert not promotion.core(replace(mine, about_me=False), 0, rules())
    assert not promotion.core(replace(mine, negated=True), 0, rules())
    assert not promotion.core(replace(mine, confidence=7_999), 0, rules())


def test_a_candidate_says_what_it_lacks() -> None:
    lack = promotion.lacking(RECORD, rules())
    assert (lack.days, lack.uses) == (1, 2)


def _source(text: str, name: str = "mine.toml") -> Source:
    return Source(name, text)


def _shipped() -> Source:
    from lila_app.paths import read_text, shipped

    path = shipped("policies") / "promotion.toml"
    return Source(str(path), read_text(path))


def test_a_persons_table_is_laid_over_the_shipped_one_key_by_key() -> None:
    mine = _source("[long_term]\ndays = 5\n[retention.state]\nuntil = 30")
    found = promotion.load((_shipped(), mine))
    assert (found.days, found.uses) == (5, rules().uses)
    assert found.retention["state"].until == 30
    assert found.retention["state"].full == rules().retention["state"].full


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("[long_term]\ndays = 0", "long_term.days", "from 1"),
        ("[long_term]\ndays = true", "long_term.days", "a number"),
        ("[long_term]\nat_once = 'name'", "long_term.at_once", "a list of names"),
        ("[core]\nmost = -1", "core.most", "from 0"),
        ("[core]\nmots = 1", "core.mots", "one of most"),
        ("[retention.love]\nfull = 1", "retention.love", "durable"),
        ("[retention.plan]\nuntil = 3", "retention.plan.until", "14"),
        ("[revision]\nshared_percent = 0", "revision.shared_percent", "from 1"),
        ("nonsense", "", "a TOML table"),
    ],
)
def test_a_bad_table_is_refused_with_its_key(text: str, key: str, allowed: str) -> None:
    with pytest.raises(PolicyError) as caught:
        promotion.load((_shipped(), _source(text)))
    assert caught.value.key == key
    assert "mine.toml" in str(caught.value)
    assert allowed in str(caught.value)

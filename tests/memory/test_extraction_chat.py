"""What is extracted from how people chat: shouted, misspelt, in passing, and what is over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from lila_app.context import Source
from lila_app.memory.extraction import Extractor
from lila_app.memory.model import ME, Candidate, Utterance
from lila_app.memory.predicates import load
from lila_app.paths import shipped
from tests.memory import smalltalk

AT = datetime(2026, 11, 30, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    path = shipped("policies") / "predicates.toml"
    made = Extractor(load([Source(str(path), path.read_text(encoding="utf-8"))]))
    made.warm()
    return made


def said(
    extractor: Extractor, text: str, known: Mapping[str, str] | None = None
) -> tuple[Candidate, ...]:
    return extractor.extract(Utterance(text, ME, AT), known or {}).candidates


def facts(found: tuple[Candidate, ...]) -> set[tuple[str, str, str]]:
    return {(one.subject, one.predicate, one.value) for one in found}


def test_what_is_shouted_is_read_as_if_it_were_said(extractor: Extractor) -> None:
    assert facts(said(extractor, "I AM VEGAN!!!")) == {(ME, "diet", "vegan")}
    known = {"joana": "Joana", "porto": "Porto"}
    assert facts(said(extractor, "JOANA LIVES IN PORTO", known)) == {("Joana", "lives_in", "Porto")}


def test_a_code_in_capitals_keeps_them(extractor: Extractor) -> None:
    found = facts(said(extractor, "MY LOCKER CODE IS AB12"))
    assert all(value == "AB12" for _, _, value in found)
    (note,) = said(extractor, "REMEMBER THAT I PARKED UNDER THE OAK")
    assert note.value == "I PARKED UNDER THE OAK"


def test_who_will_be_seventy_is_not_seventy(extractor: Extractor) -> None:
    text = "My mother's name is Greta and she is turning 70 in March"
    assert facts(said(extractor, text)) == {("Greta", "mother_of", ME)}


def test_children_with_their_ages_in_brackets_are_all_read(extractor: Extractor) -> None:
    assert facts(said(extractor, "I have two kids, Leo (4) and Nina (7).")) == {
        ("Leo", "child_of", ME),
        ("Nina", "child_of", ME),
        ("Leo", "age", "4"),
        ("Nina", "age", "7"),
    }
    # A number behind any other name is no age.
    assert facts(said(extractor, "I live in Porto (4).")) == {(ME, "lives_in", "Porto")}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("im vegan", (ME, "diet", "vegan")),
        ("im allergic 2 gluten", (ME, "allergic_to", "gluten")),
        ("Maximilian lives in Bonn", ("Maximilian", "lives_in", "Bonn")),
        ("I hate cilantro", (ME, "dislikes", "cilantro")),
        ("I'm 34 years old", (ME, "age", "34")),
    ],
)
def test_what_is_plain_to_a_person_is_read(
    extractor: Extractor, text: str, fact: tuple[str, str, str]
) -> None:
    assert fact in facts(said(extractor, text))


@pytest.mark.parametrize(
    "text",
    [
        "Road works at Marquês",
        "Past lives in Bonn",
        "im Auftrag",
        "PLEASE STOP",
        "WHAT A DAY",
    ],
)
def test_what_only_has_the_form_of_it_is_not(extractor: Extractor, text: str) -> None:
    assert said(extractor, text) == ()


def test_small_talk_states_nothing_even_when_it_is_shouted(extractor: Extractor) -> None:
    for line in sorted(set(smalltalk.lines(200))):
        for text in (line, line.upper()):
            assert said(extractor, text) == (), text

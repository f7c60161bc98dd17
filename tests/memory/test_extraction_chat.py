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
        ("I'm Vegan.", (ME, "diet", "vegan")),
        ("I AM VEGAN SINCE 2020", (ME, "diet", "vegan")),
        ("im allergic 2 gluten", (ME, "allergic_to", "gluten")),
        ("Maximilian lives in Bonn", ("Maximilian", "lives_in", "Bonn")),
        ("I hate cilantro", (ME, "dislikes", "cilantro")),
        ("I'm 34 years old", (ME, "age", "34")),
        (
            "My doctor told me to take 20 mg of lisinopril every morning",
            (ME, "takes_medicine", "lisinopril"),
        ),
        ("My neighbour Alex has a cat.", ("Alex", "owns", "cat")),
        (
            "my passport expires on 4 May 2027",
            ("the person's passport", "expires_on", "4 May 2027"),
        ),
        ("I was born in Braga", (ME, "born_in", "Braga")),
        ("I grew up in Faro", (ME, "grew_up_in", "Faro")),
        ("Joined Farfetch as a designer", (ME, "works_at", "Farfetch")),
        ("I joined Farfetch as a designer", (ME, "job", "designer")),
        ("the wifi code at the cabin is 4471", ("cabin", "attribute_wifi_code", "4471")),
        ("My favourite colour is green. Actually blue.", (ME, "favourite_colour", "blue")),
        ("My favourite colour is green, actually blue.", (ME, "favourite_colour", "blue")),
        ("I live in Porto. Sorry, I mean Braga.", (ME, "lives_in", "Braga")),
        ("My lease expires in March.", ("the person's lease", "expires_on", "March 2027")),
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
        "I'm ANGRY",
        "My favourite colour is green. No, blue.",
        "I live in Porto. Wait, Nora.",
        "My doctor told me not to take aspirin every day",
        "My doctor told me to take aspirin",
        "My doctor told me to take it easy every day",
        "My mum told me to take aspirin every day",
        "The milk expires tomorrow.",
        "My passport expired on 4 May 2024.",
        "I was born in May.",
        "I was born in 1990",
        "The city grew up in the desert.",
        "I have a dog in the fight.",
        "Rex died on Sunday.",
    ],
)
def test_what_only_has_the_form_of_it_is_not(extractor: Extractor, text: str) -> None:
    assert said(extractor, text) == ()


def test_small_talk_states_nothing_even_when_it_is_shouted(extractor: Extractor) -> None:
    for line in sorted(set(smalltalk.lines(200))):
        for text in (line, line.upper()):
            assert said(extractor, text) == (), text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I live in Porto. Actually, great.", "Porto"),
        ("I live in Porto. No, thanks.", "Porto"),
        ("I live in Porto. Sorry, LILA.", "Porto"),
        ("I live in Porto. Actually it is raining in Braga.", "Porto"),
        ("I moved to Porto, actually.", "Porto"),
    ],
)
def test_what_comes_after_takes_back_only_what_it_can_stand_for(
    extractor: Extractor, text: str, value: str
) -> None:
    assert (ME, "lives_in", value) in facts(said(extractor, text))


def test_where_one_was_born_or_grew_up_is_not_where_one_lives(extractor: Extractor) -> None:
    for text in ("I was born in Braga", "I grew up in Faro", "My mother was born in Beja."):
        assert "lives_in" not in {one.predicate for one in said(extractor, text)}
    birth = facts(said(extractor, "Lia was born on 21 November 2014 in Faro."))
    assert {("Lia", "birthday", "21 November 2014"), ("Lia", "born_in", "Faro")} == birth


def test_who_joins_a_choir_is_not_employed_by_it(extractor: Extractor) -> None:
    predicates = {one.predicate for one in said(extractor, "I joined the choir as a tenor.")}
    assert predicates == {"member_of"}


def test_a_place_has_codes_of_its_own_and_what_is_changed_is_its_own(extractor: Extractor) -> None:
    (old,) = said(extractor, "The wifi password at the cabin is otter19.")
    (new,) = said(extractor, "The wifi password at the cabin was changed to heron42.")
    assert (old.subject, old.predicate) == (new.subject, new.predicate)
    assert new.cue == "update"


def test_a_death_ends_the_animal_of_that_name_and_nobody_unheard_of(extractor: Extractor) -> None:
    (end,) = said(extractor, "Rex died on Sunday.", {"rex": "Rex"})
    assert (end.subject, end.predicate, end.value, end.cue) == (ME, "has_pet", "Rex", "ended")
    assert str(end.valid_to) == "2026-11-29"
    # It may be somebody else's name: it ends what is there, and is never kept for itself.
    assert end.kind == "chat"
    # Who asks to remember it has said it of somebody, and it is kept as it was said.
    (note,) = said(extractor, "Remember that Rex died.", {"rex": "Rex"})
    assert note.predicate == "note"
    ended = said(extractor, "Remember that my dog Rex died.")
    assert (ME, "has_pet", "Rex") in facts(ended)
    for text in ("Rex has not died.", "Rex is dying.", "Rex's brother died."):
        assert said(extractor, text, {"rex": "Rex"}) == (), text


def test_what_is_sold_by_its_name_is_driven_and_owned_no_more(extractor: Extractor) -> None:
    found = said(extractor, "I sold the Panda and bought a Honda.")
    ended = {(one.predicate, one.value) for one in found if one.cue == "ended"}
    assert ended == {("drives", "Panda"), ("owns", "Panda")}
    assert (ME, "bought", "Honda") in facts(found)
    for text in ("I sold cookies at the fair.", "I never sold the Panda.", "Ana sold the Panda."):
        assert not [one for one in said(extractor, text) if one.cue == "ended"], text

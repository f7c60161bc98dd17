"""Memories in LILA's own wording, read as what the person says."""

from __future__ import annotations

import pytest

from lila_app.context import Source
from lila_app.memory import predicates, restating
from lila_app.memory.model import ME
from lila_app.memory.predicates import Predicates
from lila_app.paths import shipped


@pytest.fixture(scope="module")
def vocabulary() -> Predicates:
    path = shipped("policies") / "predicates.toml"
    return predicates.load((Source(str(path), path.read_text(encoding="utf-8")),))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("The person reports to Alex Kern.", "I report to Alex Kern."),
        ("The person's sister is Ana.", "My sister is Ana."),
        ("the person’s diet: vegan", "My diet: vegan"),
        ("The person is allergic to nuts.", "I am allergic to nuts."),
        ("The person has a pet, Rex.", "I have a pet, Rex."),
        ("The person studies law.", "I study law."),
        ("The person teaches maths.", "I teach maths."),
        ("The person does not live in Porto.", "I do not live in Porto."),
        ("The person no longer lives in Porto.", "I no longer live in Porto."),
        ("The person moved to Porto.", "I moved to Porto."),
        ("The person was diagnosed with asthma.", "I was diagnosed with asthma."),
        ("Ana is the mother of the person.", "Ana is the mother of me."),
        ("Ana is the person's sister.", "Ana is my sister."),
        ("The person likes tea. The person's dog is Rex.", "I like tea. My dog is Rex."),
        # Somebody else, or said by the person already.
        ("The person who called lives in Porto.", "The person who called lives in Porto."),
        ("The person in charge is Ana.", "The person in charge is Ana."),
        ("I met the person from the bank.", "I met the person from the bank."),
        ("My boss is the person to ask.", "My boss is the person to ask."),
        ("Ana lives in Porto.", "Ana lives in Porto."),
    ],
)
def test_the_person_in_lilas_words_is_who_speaks(given: str, said: str) -> None:
    assert restating.first_person(given) == said


def test_every_sentence_of_the_vocabulary_can_be_read_back(vocabulary: Predicates) -> None:
    alike = {"owns", "has_event", "located_in", "due_on"}  # "is in Porto" may be read by none
    for one in vocabulary.named.values():
        if one.name.endswith("*") or one.name in ("note", "wish", "did"):
            continue
        found = restating.read_back(one.said(ME, "Porto") + ".", vocabulary)
        read = [(fact.subject, fact.predicate, fact.value) for fact in found]
        assert read == [(ME, one.name, "Porto")] or (one.name in alike and read == []), one.name


def test_a_value_that_says_more_is_not_read_without_a_parser(vocabulary: Predicates) -> None:
    assert restating.read_back("The person lives in Porto with Ana.", vocabulary) == []
    assert restating.read_back("Ana lives in Porto.", vocabulary) == []

"""The parts of extraction that need no tagger: sentences, the gate, known names, what is asked."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.memory.extraction import asking, gate, gazetteer


def test_sentences_end_where_people_end_them_and_not_behind_a_title() -> None:
    text = "My dentist is Dr. Roque. I like her!\nWe met in May; it rained."
    assert [text[a:b] for a, b in gate.sentences(text)] == [
        "My dentist is Dr. Roque.", "I like her!", "We met in May;", "it rained.",
    ]  # fmt: skip


@given(st.text())
def test_sentences_lie_in_order_within_any_text(text: str) -> None:
    spans = gate.sentences(text)
    assert len(spans) <= gate.MOST
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


def test_the_longest_known_name_wins_and_keeps_its_offsets() -> None:
    known = {"alex": "Alex", "alex brandt": "Alex Brandt", "me": "Nina", "dr roque": "Ines Roque"}
    text = "alex brandt's boss told me about alex."
    hits = gazetteer.found(text, known)
    assert [(text[h.start : h.end], h.entity) for h in hits] == [
        ("alex brandt", "Alex Brandt"), ("alex", "Alex"),
    ]  # fmt: skip
    assert gazetteer.recased(text, hits) == "Alex Brandt's boss told me about Alex."


@given(st.text(max_size=60), st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=5))
def test_capitals_on_known_names_move_no_offset(text: str, known: dict[str, str]) -> None:
    hits = gazetteer.found(text, {name.lower(): entity for name, entity in known.items()})
    assert len(gazetteer.recased(text, hits)) == len(text)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Please always answer in metric units.", "always answer in metric units"),
        ("From now on, keep your answers short.", "keep your answers short"),
        ("Answer in Portuguese from now on.", "Answer in Portuguese"),
        ("Never mind.", ""),
        ("Always here to help!", ""),
        ("I never eat meat.", ""),
        ("From now on I live in Porto.", ""),
    ],
)
def test_a_wish_is_for_lila_and_for_later(text: str, wish: str) -> None:
    assert asking.wish(text) == wish


@pytest.mark.parametrize(
    ("text", "body", "explicit", "cue"),
    [
        ("Remember that I like tea.", "I like tea.", True, ""),
        ("Oh, by the way, please remember: I like tea.", "I like tea.", True, ""),
        ("Correction: I like tea.", "I like tea.", False, "correction"),
        ("Remember to buy milk.", "Remember to buy milk.", False, ""),
        ("Do you remember when we met?", "Do you remember when we met?", False, ""),
        ("Remember when we met?", "Remember when we met?", False, ""),
    ],
)
def test_what_leads_into_a_sentence_is_told_from_it(
    text: str, body: str, explicit: bool, cue: str
) -> None:
    lead = asking.asked(text)
    assert (text[lead.start :], lead.explicit, lead.cue) == (body, explicit, cue)


@pytest.mark.parametrize(
    ("said", "recalled", "expected"),
    [
        ("I live in Porto.", "The person lives in Porto.", True),
        ("I live in Faro.", "The person lives in Porto.", False),
        ("I don't live in Porto.", "The person lives in Porto.", False),
        ("I no longer live in the small old house in Porto.",
         "The person lives in the small old house in Porto.", False),
        ("Yes.", "Yes.", False),
    ],
)  # fmt: skip
def test_a_repetition_says_no_more_than_what_was_recalled(
    said: str, recalled: str, expected: bool
) -> None:
    assert gate.repeats(said, [recalled]) is expected

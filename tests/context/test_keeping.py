"""What shortening keeps: the sentences that answer, and names, numbers and open promises."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.context.anchors import anchors, bearing, kept, numbers, promising, sentences
from lila_app.context.fold import Exchange, Sentences, condense, fold
from tests.context.passages import PASSAGES
from tests.context.support import cl100k
from tests.context.talks import TALKS

COUNT = cl100k()
TEXT = st.lists(
    st.sampled_from(
        [
            "I will call Dr. Vermeer on 4 May about the roof.",
            "Nice weather.",
            "Should we wait for Ana?",
            "The deadline is Friday, and it costs 4,500 euros!",
            "我们周五去看牙医。你记得吗？",
            "über die Straße",
            "Ok",
        ]
    ),
    max_size=8,
).map(" ".join) | st.text(max_size=200)


def answers_kept(shorten: Callable[[str, int], str], share: int) -> int:
    """Per cent of the marked sentences that are whole in a form of one `share`th of the tokens."""
    every = held = 0
    for passage in PASSAGES:
        text = " ".join(sentence.lstrip("*") for sentence in passage)
        short = shorten(text, COUNT(text) // share)
        marked = [sentence[1:] for sentence in passage if sentence.startswith("*")]
        every += len(marked)
        held += sum(sentence in short for sentence in marked)
    return 100 * held // every


def cut_off(text: str, ceiling: int) -> str:
    words = text.split(" ")
    while COUNT(" ".join(words)) > ceiling:
        words.pop()
    return " ".join(words)


@pytest.mark.parametrize(("share", "least", "most_cut_off"), [(2, 90, 20), (4, 40, 1)])
def test_half_and_quarter_keep_the_sentences_that_answer(
    share: int, least: int, most_cut_off: int
) -> None:
    assert answers_kept(lambda text, room: condense(text, room, COUNT), share) >= least
    assert answers_kept(cut_off, share) <= most_cut_off


@pytest.mark.parametrize(
    ("talk", "half", "whole"), zip(TALKS, (70, 85, 80), (85, 90, 90), strict=True)
)
def test_a_fold_keeps_names_numbers_and_promises_first(
    talk: tuple[Exchange, ...], half: int, whole: int
) -> None:
    said = "\n".join(f"{one.user}\n{one.reply}" for one in talk)
    held = anchors(said)
    for ceiling, least in ((COUNT(said) // 2, half), (300, whole)):
        summary = fold("", talk, ceiling, COUNT)
        assert kept(held, summary)[0] * 100 // len(held) >= least
    # Made in two steps it keeps as much.
    first = fold("", talk[: len(talk) // 2], 300, COUNT)
    again = fold(first, talk[len(talk) // 2 :], 300, COUNT)
    assert kept(held, again)[0] * 100 // len(held) >= whole - 5


def test_names_numbers_and_promises_are_found_where_they_are() -> None:
    text = (
        "I promised Anna to bring the 12 chairs. How will Ben pay? Luna is fine. "
        "I'll call Dr. Vermeer about the 4,500 euros at 10:30."
    )
    found = anchors(text)
    assert found.names == {"anna", "ben", "luna", "dr", "vermeer"}
    assert found.numbers == {"12", "4500", "10:30"}
    assert len(found.promises) == 2
    assert anchors("we met ana and über-ben", known={"ana"}).names == {"ana"}
    assert not anchors("Well, thanks. That is nice. I will. It was.").names


def test_a_promise_is_kept_in_other_words_and_lost_in_none() -> None:
    held = anchors("I promised to bring the chairs to the church.")
    assert kept(held, "They will bring the chairs to the church.") == (1, 1)
    assert kept(held, "There was talk of chairs.") == (0, 1)
    assert kept(held, "") == (0, 1)
    assert kept(anchors("It costs 4,500."), "It costs 4500.") == (1, 1)
    assert kept(anchors("It costs 4,500."), "It costs 45000.") == (0, 1)


def test_a_title_or_an_initial_ends_no_sentence() -> None:
    assert sentences("Ask Dr. Vermeer. Then J. Cole, i.e. me.") == [
        "Ask Dr. Vermeer.",
        "Then J. Cole, i.e. me.",
    ]
    assert promising("Let's meet by Friday.") and not promising("Will you come?")
    assert numbers("on 2026-11-30 at 8,5 or 1,000,000") == ["2026-11-30", "8,5", "1000000"]


@settings(max_examples=80)
@given(TEXT)
def test_a_text_keeps_all_of_itself_and_nothing_weighs_more_beside_others(text: str) -> None:
    held = anchors(text)
    assert kept(held, text) == (len(held), len(held))
    for sentence in sentences(text):
        borne = bearing(sentence)
        assert borne.weight(borne.things) <= borne.weight() == borne.weight(frozenset())


@settings(max_examples=80)
@given(TEXT, st.integers(0, 120))
def test_a_shorter_form_is_made_of_whole_sentences_in_their_order(text: str, ceiling: int) -> None:
    short = condense(text, ceiling, COUNT)
    whole = [one for one in sentences(text) if len(one) > 2]
    assert short == short.strip() or not short
    place = 0
    rest = short
    for sentence in whole:
        if rest.startswith(sentence):
            rest = rest[len(sentence) :].lstrip()
            place += 1
    assert not rest or place < len(whole)
    of = Sentences.of(text, COUNT(text))
    assert of.within(ceiling, lambda kept: COUNT(kept + "\n")) == short

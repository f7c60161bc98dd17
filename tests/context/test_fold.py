"""The extractive fold: a summary within its ceiling, of what was said, in the order it was said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.context.fold import Exchange, condense, fold
from tests.context.support import COUNTERS, cl100k

SPOKEN = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "I will call Dr. Vermeer on 4 May about the roof.",
                "Nice weather.",
                "Should we wait?",
                "The deadline is Friday!",
                "我们周五去看牙医。你记得吗？",
                "Ok",
                "\n\n",
                "never-ending " * 40,
            ]
        ),
        max_size=12,
    ).map(" ".join),
)
EXCHANGES = st.lists(st.builds(Exchange, SPOKEN, SPOKEN), max_size=6)


@pytest.mark.parametrize("name", sorted(COUNTERS))
def test_a_fold_never_exceeds_its_ceiling_and_is_the_same_every_time(name: str) -> None:
    count = COUNTERS[name]()

    @settings(max_examples=60)
    @given(SPOKEN, EXCHANGES, st.integers(0, 400))
    def run(previous: str, exchanges: list[Exchange], ceiling: int) -> None:
        text = fold(previous, exchanges, ceiling, count)
        assert text == fold(previous, exchanges, ceiling, count)
        assert not text or count(text + "\n") <= ceiling
        short = condense(previous, ceiling, count)
        assert not short or count(short + "\n") <= ceiling

    run()


@settings(max_examples=80)
@given(EXCHANGES, st.integers(1, 600))
def test_every_line_of_a_fold_was_said_and_stands_in_the_order_it_was_said(
    exchanges: list[Exchange], ceiling: int
) -> None:
    # Line by line the whole is found again, so a generous fold is what there is to choose from.
    whole = fold("", exchanges, 10**9, len).split("\n")
    some = fold("", exchanges, ceiling, len)
    places = [whole.index(line) for line in some.split("\n")] if some else []
    assert places == sorted(places)
    said = " ".join(" ".join(f"{e.user}\n{e.reply}".split()) for e in exchanges)
    for line in whole if whole != [""] else []:
        _, _, body = line.partition(": ")
        assert body.removesuffix("…") in said


@settings(max_examples=50)
@given(SPOKEN, EXCHANGES, EXCHANGES)
def test_with_room_for_all_folding_twice_is_folding_once(
    previous: str, first: list[Exchange], second: list[Exchange]
) -> None:
    much = 10**9
    before = fold(previous, (), much, len)
    assert fold(fold(before, first, much, len), second, much, len) == fold(
        before, first + second, much, len
    )


def test_names_numbers_and_promises_outlive_small_talk() -> None:
    said = (
        "Nice weather today. I promised Anna to bring the 12 chairs on Saturday. "
        "How are you? That was it."
    )
    kept = fold("", [Exchange(said, "Fine. Thank you.")], 21, cl100k())
    assert kept == "- They said: I promised Anna to bring the 12 chairs on Saturday."


def test_an_earlier_summary_keeps_what_weighs_more_than_what_is_new() -> None:
    before = "- They said: I must pay Jan 450 euros by 1 June."
    room = cl100k()(before + "\n") + 4
    assert fold(before, [Exchange("Hm, lovely. So it goes.", "Yes.")], room, cl100k()) == before


def test_a_summary_of_one_long_paragraph_is_shortened_by_sentences_not_lost() -> None:
    paragraph = " ".join(f"On day {n} Ada decided about room {n}." for n in range(40))
    kept = fold(paragraph, (), 60, cl100k())
    assert kept
    assert all(sentence in paragraph for sentence in kept.split("\n"))


def test_nothing_fits_into_no_room() -> None:
    assert fold("- They said: something", [Exchange("I will.", "You will.")], 0, len) == ""
    assert fold("a", (), 0, lambda text: 0) == ""
    assert condense("One sentence. Another.", 0, lambda text: 0) == ""

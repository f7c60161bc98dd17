"""How a reply is cut into the pieces it is spoken in."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.voice.chunks import Buffer, feed, flush, stalled
from tests.voice.talk import policy

RULES = policy().chunks


def cut(pieces: list[str] | str, *, begun: bool = False) -> list[str]:
    """The pieces a reply comes out in, when it comes in like this."""
    buffer, out = Buffer(begun=begun), list[str]()
    for piece in pieces:
        chunks, buffer = feed(buffer, piece, RULES)
        out += chunks
    chunks, _ = flush(buffer, RULES)
    return out + list(chunks)


@pytest.mark.parametrize(
    "pieces",
    [
        ["One day. ", "Two days! ", "Three days? ", "Four."],
        ["It costs 3.5 million at 10.30 in version 2.0.1. ", "Next."],
        ["Dr. Smith met Mrs. Jones vs. Prof. Green at St. Paul. ", "Next."],
        ["J. R. R. Tolkien of the U.S. Army wrote it. ", "So did I. ", "And J.F.K. wrote too."],
        ["Call at 5 p.m. today, e.g. by phone, i.e. not by mail. ", "Next."],
        ["Come at 5 p.m. ", "Then we eat."],
        ["Apples, pears etc. ", "Then we eat."],
        ["Apples, pears etc. are fruit. ", "Then we eat."],
        ["The answer is no. ", "It is No. 5 instead."],
        ["See https://a.example/b.c?d=e.f and www.lila.example. ", "Next."],
        ["Write to anna.b@example.org. ", "Next."],
        ["1. First you go\n", "2. Then you come\n", "10. Then you stay"],
        ["- One. ", "Two.\n", "- Three."],
        ["He was there in 1984. ", "Then he left."],
        ["Das war am 3. Mai 2024 der Fall. ", "Dann am 4. ", "Um drei."],
        ["Das ist z. B. so, d. h. nicht anders. ", "Gut."],
        ["Das ist z.B. so, d.h. nicht anders, ca. 5 kg. ", "Gut."],
        ["Well... yes. ", "No… ", "So be it."],
        ['"Stop!" he said. ', '"Why?" ', "Nobody knew."],
        ["**Paris.** ", "It is *big.* ", "Yes (really!). ", "Good."],
        ["Use `a. B` here. ", "Next."],
        ["# A title\n", "Some text."],
        ["| a | b. C |\n|---|---|\n| 1 | 2 |\n", "After it."],
        ["これは日本です。", "はい。"],
    ],
)
def test_later_pieces_are_whole_sentences_and_lines(pieces: list[str]) -> None:
    assert cut("".join(pieces), begun=True) == pieces


def test_the_first_piece_ends_at_a_comma_once_it_is_long_enough() -> None:
    text = "Well, it is quite a long story, and I will tell it, if you like, from its start."
    assert cut(text)[0] == "Well, it is quite a long story, "
    assert len(cut(text)) == 2


def test_the_first_piece_has_twelve_words_where_no_comma_comes() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    assert cut(text) == [text[: text.index("thirteen")], "thirteen fourteen"]


def test_a_short_first_sentence_is_a_piece() -> None:
    assert cut("Yes. It is so.") == ["Yes. ", "It is so."]


def test_a_number_with_commas_is_one_word() -> None:
    text = "It was about 1,234,567.89 euros in all"
    assert cut(text) == [text]


def test_a_sentence_that_is_too_long_is_cut_at_a_comma_or_between_words() -> None:
    words = ("word " * 20).strip()
    pieces = cut(f"{words}, {words} {words}", begun=True)
    assert pieces[0] == f"{words}, "
    assert all(len(piece) <= RULES.longest for piece in pieces)
    assert all(piece.rstrip().endswith("word") or piece == pieces[0] for piece in pieces)


def test_a_word_longer_than_any_piece_stays_whole() -> None:
    url = "https://a.example/" + "x" * 400
    assert cut(f"{url} is it. Next.", begun=True) == [f"{url} ", "is it. ", "Next."]


def test_code_is_one_piece_however_long() -> None:
    code = "```python\n" + "a = 1. \nb = 2\n\n" * 40 + "```\n"
    text = f"Do this:\n{code}Then run it."
    assert cut(text, begun=True) == ["Do this:\n", code, "Then run it."]
    assert cut(text) == ["Do this:\n", code, "Then run it."]


def test_code_that_is_not_closed_is_one_piece_at_the_end() -> None:
    assert cut("So:\n~~~\na. B\nc", begun=True) == ["So:\n", "~~~\na. B\nc"]


def test_a_piece_is_given_as_soon_as_the_next_word_shows_its_end() -> None:
    chunks, buffer = feed(Buffer(), "It is Paris.", RULES)
    assert chunks == ()
    chunks, buffer = feed(buffer, " It", RULES)
    assert (chunks, buffer.text) == (("It is Paris. ",), "It")


def test_a_stall_gives_what_is_there_up_to_a_whole_word() -> None:
    assert stalled(Buffer("The capital of Fra")) == (("The capital of ",), Buffer("Fra", True))
    assert stalled(Buffer("The")) == ((), Buffer("The"))
    assert stalled(Buffer("")) == ((), Buffer(""))


def test_a_stall_gives_no_code_and_no_marker_alone() -> None:
    assert stalled(Buffer("```py\na = 1 ")) == ((), Buffer("```py\na = 1 "))
    assert stalled(Buffer("So do\n```\na = 1 "))[0] == ("So do",)
    assert stalled(Buffer("1. Fi")) == ((), Buffer("1. Fi"))
    assert stalled(Buffer("Use `a b")) == (("Use ",), Buffer("`a b", True))


def test_nothing_and_white_space_are_no_piece() -> None:
    assert cut("") == cut(" \n\n ") == []


_ODD = st.text(st.sampled_from(list("aB1 .,?!\n`|-*:—;…。)\"'#~")), max_size=300)
_WORDS = st.sampled_from(
    ["Well, ", "Dr. ", "it is ", "3.5 ", "No. ", "etc. ", "Then ", "done. ", "why? ", "\n", "1. "]
) | st.sampled_from(
    ["```\n", "`a. B` ", "am 3. ", "Mai ", "Mär", "z ", "J. R. ", "p.m. ", "(so!) ", "~~~\n", "  "]
)
WRITTEN = _ODD | st.lists(_WORDS, max_size=60).map("".join)


@settings(max_examples=60, deadline=None)
@given(WRITTEN, st.booleans())
def test_the_pieces_joined_are_the_reply(text: str, begun: bool) -> None:
    assert "".join(cut(text, begun=begun)).rstrip() == text.rstrip()
    assert all(piece.strip() for piece in cut(text, begun=begun))


@settings(max_examples=60, deadline=None)
@given(WRITTEN, st.lists(st.integers(1, 30), min_size=1, max_size=20), st.booleans())
def test_the_pieces_do_not_depend_on_how_the_model_streams(
    text: str, sizes: list[int], begun: bool
) -> None:
    text = text.rstrip()
    ends = [0, *accumulate(sizes * 20), len(text)]
    assert cut([text[a:b] for a, b in pairwise(ends)], begun=begun) == cut([text], begun=begun)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{1,12}[,;:]?", fullmatch=True), max_size=120))
def test_no_piece_of_words_is_longer_than_allowed(words: list[str]) -> None:
    assert all(len(piece) <= RULES.longest + 1 for piece in cut(" ".join(words)))


@settings(max_examples=80, deadline=None)
@given(WRITTEN)
def test_a_stall_loses_nothing(text: str) -> None:
    chunks, buffer = stalled(Buffer(text))
    assert "".join(chunks) + buffer.text == text


def test_other_numbers_in_the_table_are_taken() -> None:
    rules = replace(RULES, first_words=2, longest=20)
    chunks, _ = feed(Buffer(), "one two three four five six seven eight nine", rules)
    assert chunks == ("one two ", "three four five six ")

"""A reply in Markdown as it is read, however it is cut into pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.voice.readable import Readable, plain


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**bold** and *thin*, ~~gone~~", "bold and thin, gone"),
        ("# Head #\n\ntext", "Head\n\ntext"),
        ("Head\n====\ntext", "Head\ntext"),
        ('[LILA](https://x.org/a_b "title") is here', "LILA (https://x.org/a_b) is here"),
        ("<https://x.org>", "https://x.org"),
        ("![a cat](cat.png)", "a cat (cat.png)"),
        ("```python\nx = 2 ** 3\n\ny = `z`\n```\nDone.", "x = 2 ** 3\n\ny = `z`\nDone."),
        ("~~~\n# no head\n~~~", "# no head"),
        ("* one\n+ two\n  - three", "- one\n- two\n  - three"),
        ("1. one\n2. two", "1. one\n2. two"),
        ("> said **so**", "said so"),
        ("I say:\n> yes", "I say:\n  yes"),
        ("| a | b |\n|---|:-:|\n| 1 | **2** |", "a | b\n1 | 2"),
        ("one\n\n---\n\n\n\ntwo", "one\n\ntwo"),
        ("2 * 3 * 4, snake_case, 5*6*7, a ** b", "2 * 3 * 4, snake_case, 5*6*7, a ** b"),
        ("`5*6`, [3*4](https://x.org/2*3)", "5*6, 3*4 (https://x.org/2*3)"),
        ("your <name>, AT&amp;T", "your <name>, AT&T"),
        ("one\r\ntwo", "one\ntwo"),
        ("", ""),
        ("  \n ", ""),
    ],
)
def test_marks_are_read_and_words_stay(written: str, read: str) -> None:
    assert plain(written) == read


def test_an_emphasis_over_two_sentences_leaves_no_mark_in_either() -> None:
    reply = Readable()
    runs = [reply.feed(piece) for piece in ("It is **very wide. ", "And long** it is.\n")]
    assert "".join(run.text for each in runs for run in each) == (
        "It is very wide. And long it is."
    )
    assert [run.text for run in runs[1] if run.styles] == ["And long"]


def test_pieces_without_a_blank_between_them_get_one() -> None:
    reply = Readable()
    assert "".join(run.text for piece in ("One.", "Two.") for run in reply.feed(piece)) == (
        "One. Two."
    )


WORDS = st.sampled_from(
    ["lila", "**", "*", "`", "```", "[", "](u)", "~~", "#", "-", ">", "|", "|---|", "\n", "\n\n",
     ". ", " ", "seven", "x_y", "<b>", "2", "\\", "_"]
)  # fmt: skip


@given(st.lists(st.lists(WORDS, max_size=6).map("".join), max_size=8))
def test_however_it_is_cut_no_word_is_lost_or_put_in_another_order(pieces: list[str]) -> None:
    reply = Readable()
    shown = "".join(run.text for piece in pieces for run in reply.feed(piece))
    # A first word after a fence names its language, and an address may be shown or not.
    fences = "```" in "".join(pieces)
    written = re.findall("lila|seven", "".join(pieces))
    read = re.findall("lila|seven", shown)
    if not fences:
        assert read == written
    assert not shown.endswith((" ", "\n"))
    assert "\n\n\n" not in shown or fences

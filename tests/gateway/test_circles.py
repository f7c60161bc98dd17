"""Noticing that a reply goes in circles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.gateway.embedded.circles import Circles

LOOP = "Lilah: Hello, who are you?\n"
LIST = "1. Buy the red paint.\n2. Buy the blue paint.\n3. Buy the brush.\n"


def heard(pieces: list[str]) -> str:
    """What of a reply is heard until it is ended."""
    circles, said = Circles(), ""
    for piece in pieces:
        said += piece
        if circles.closed_by(piece):
            break
    return said


def test_a_line_said_for_the_third_time_ends_the_reply() -> None:
    assert heard([LOOP] * 25) == LOOP * 3


def test_a_sentence_said_for_the_third_time_ends_the_reply_also_within_a_paragraph() -> None:
    said = "The ferry leaves at nine. It is red. "
    assert heard([said] * 9) == said * 3


def test_a_numbered_line_is_the_same_whatever_its_number() -> None:
    lines = [f"{number}. Take the morning ferry.\n" for number in range(1, 20)]
    assert heard(lines) == "".join(lines[:3])


@pytest.mark.parametrize("reply", [LIST, "Yes.\n" * 9, "- none\n" * 9, "Once more. " * 9])
def test_a_list_and_what_is_short_may_go_on(reply: str) -> None:
    assert heard([reply]) == reply


@given(st.lists(st.integers(1, 9), max_size=60))
def test_how_a_reply_is_cut_into_pieces_does_not_matter(lengths: list[int]) -> None:
    reply = LIST + LOOP * 2 + LIST + LOOP * 4
    circles, at, ended = Circles(), 0, None
    for length in [*lengths, len(reply)]:
        if circles.closed_by(reply[at : at + length]):
            ended = at
            break
        at += length
    third = len(LIST + LOOP * 2 + LIST)
    assert ended is not None
    assert ended < third + len(LOOP) + 1 <= ended + len(reply)

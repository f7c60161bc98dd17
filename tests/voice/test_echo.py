"""LILA's own words are told from a person's."""

from __future__ import annotations

import pytest

from lila_app.voice.echo import is_echo

SAID = "The capital of France is Paris. It has the Seine, and it's old."


@pytest.mark.parametrize(
    ("text", "echo"),
    [
        ("the capital of France is Paris", True),
        ("It has the Seine and it’s old", True),
        ("capital of trance is parish", False),  # 3 of 5
        ("the capital of France is Parish", True),  # 5 of 6
        ("what about Spain", False),
        ("is it old", True),
        ("stop", False),
        ("", False),
        ("the the the the", False),  # said twice
        ("...", False),
    ],
)
def test_so_many_of_its_words_were_said(text: str, echo: bool) -> None:
    assert is_echo(text, SAID, 700) is echo


def test_where_nothing_was_said_nothing_is_an_echo() -> None:
    assert not is_echo("hello", "", 700)

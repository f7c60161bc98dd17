"""What words say about being over."""

from __future__ import annotations

import pytest

from lila_app.voice.endpoint import Ending, among, asks, beyond, ending, plain, wait
from tests.voice.talk import policy

POLICY = policy()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the capital of France?", Ending.COMPLETE),
        ("Turn off the light.", Ending.COMPLETE),
        ("Hello!", Ending.COMPLETE),
        ('He said "no."', Ending.COMPLETE),
        ("What is that?", Ending.COMPLETE),
        ("Who is she going with?", Ending.COMPLETE),
        ("Turn the light on.", Ending.UNCLEAR),
        ("turn off the light", Ending.UNCLEAR),
        ("", Ending.UNCLEAR),
        ("...", Ending.UNCLEAR),
        ("I would like to go to", Ending.TRAILING),
        ("Bread, milk and.", Ending.TRAILING),
        ("Bread, milk,", Ending.TRAILING),
        ("I was going to-", Ending.TRAILING),
        ("I was thinking...", Ending.TRAILING),
        ("So, um", Ending.TRAILING),
        ("Ich möchte das, weil.", Ending.TRAILING),
        ("Let me think.", Ending.THINKING),
        ("I want a cake. Let me see.", Ending.THINKING),
        ("Lass mich überlegen", Ending.THINKING),
        ("Hold on, what time is it?", Ending.COMPLETE),
        ("Let me think. Paris.", Ending.COMPLETE),
    ],
)
def test_the_end_of_the_words_is_told(text: str, expected: Ending) -> None:
    assert ending(text, POLICY.words) is expected


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("Yes.", False, 320),
        ("Yes.", True, 320),
        ("blue", False, 512),
        ("blue", True, 512),
        ("I think the", False, 1_000),
        ("I think the", True, 4_000),
        ("Let me think", False, 2_000),
        ("Let me think", True, 4_000),
    ],
)
def test_a_question_is_given_time_only_where_the_answer_breaks_off(
    text: str, asked: bool, expected: int
) -> None:
    assert wait(text, POLICY.endpoint, POLICY.words, asked=asked) == expected


def test_case_and_punctuation_do_not_make_other_words() -> None:
    assert plain("  “Don’t—stop!”  uh-huh. ") == "don't stop uh-huh"
    assert plain("- … ?") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Stop!", True),
        ("Stop, stop, stop.", True),
        ("stop it", True),
        ("Lila, stop.", True),
        ("Stop the music", False),
        ("", False),
        ("Don't stop", False),
        ("it stop", False),
    ],
)
def test_a_phrase_is_known_however_often_it_is_said(text: str, expected: bool) -> None:
    assert among(text, POLICY.words.stop) is expected


def test_what_a_reading_has_beyond_an_earlier_one_is_told() -> None:
    assert beyond("What time is it? Stop.", "What time is it?") == "stop"
    assert beyond("What time is it?", "what time is it") == ""
    assert beyond("What time was it?", "What time is it?") == "what time was it"
    assert beyond("Stopping", "Stop") == "stopping"
    assert beyond("Stop.", "") == "stop"


def test_a_question_is_seen_through_quotes_and_emphasis() -> None:
    assert asks("Shall I?") and asks("**Shall I?** ") and asks('He asked "why?"')
    assert not asks("Why? Because.") and not asks("")

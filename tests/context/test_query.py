"""What the layers are asked: the turn alone, or with what it leans on."""

from __future__ import annotations

import pytest

from lila_app.context import layer_query
from lila_app.context.query import leans
from tests.context.support import policy

RULE = policy().query
PREVIOUS, GOALS = "Shall we repaint the shed in Zeist?", ("finish the shed", "learn Dutch")


@pytest.mark.parametrize(
    "turn",
    [
        "let's do it",
        "Yes.",
        "and then?",
        "Can you tell me more about that?",
        "what did SHE say about it",
        "It’s fine, isn't it?",
        "",
        "我们走吧",
    ],
)
def test_a_short_or_leaning_turn_is_asked_with_the_turn_before_and_the_goals(turn: str) -> None:
    asked = layer_query(turn, PREVIOUS, GOALS, RULE)
    assert asked == "\n".join([*([turn] if turn else []), PREVIOUS, *GOALS])


@pytest.mark.parametrize(
    "turn",
    [
        "What colours go with a brick wall?",
        "When is Anna's birthday party in Utrecht again happening, and who is invited to it?",
        "Which vegetables grow well beside tomatoes?",
        "我们下个星期五下午要不要去乌得勒支看牙医",
        "เราจะไปหาหมอฟันที่อูเทรคต์วันศุกร์หน้าตอนบ่ายดีไหม",
    ],
)
def test_a_turn_with_a_topic_of_its_own_is_asked_alone(turn: str) -> None:
    assert layer_query(turn, PREVIOUS, GOALS, RULE) == turn


def test_the_rule_is_the_declared_one() -> None:
    mine = policy('[query]\nshort_words = 0\nleaning_words = 4\nleaning = ["ditto"]').query
    assert not leans("yes", mine)
    assert leans("ditto for Anna", mine)
    assert not leans("ditto for Anna and Ben", mine)
    assert leans("", mine)


def test_only_the_beginning_of_a_long_text_is_asked() -> None:
    long = "potato " * 1_000
    assert layer_query(long, PREVIOUS, GOALS, RULE) == long[:2_000]
    assert layer_query("so?", long, (), RULE) == "so?\n" + long.strip()[:2_000]


def test_at_the_start_of_a_session_there_is_nothing_to_lean_on() -> None:
    assert layer_query("hello", "", (), RULE) == "hello"

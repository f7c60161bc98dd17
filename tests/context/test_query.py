"""What the layers are asked: the turn alone, or with what it leans on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import pytest

from lila_app import policies
from lila_app.context import layer_query, topic
from lila_app.context.query import leans
from lila_app.paths import Home
from tests.context.support import policy

RULE = policies.load(Home.at(Path(__file__).parent / "nowhere")).policy.query
"""The shipped one: nobody overrides it in a folder that is not there."""


class Case(TypedDict):
    """A turn, and whether it can be understood without what was said before."""

    turn: str
    leans: bool


CASES: list[Case] = [
    json.loads(line)
    for line in Path(__file__).with_name("queries.jsonl").read_text(encoding="utf-8").splitlines()
]
# No list of words tells these; should the rule ever, its numbers in allocation.toml are due.
WRONG = ("translate that into Dutch", "What time is it in Tokyo right now?")
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


@pytest.mark.parametrize("case", CASES, ids=[case["turn"] for case in CASES])
def test_the_search_follows_a_new_topic_and_keeps_the_one_a_turn_leans_on(case: Case) -> None:
    assert leans(case["turn"], RULE) is (case["leans"] != (case["turn"] in WRONG))


def test_the_rule_is_the_declared_one() -> None:
    mine = policy(
        '[query]\nshort_words = 0\nleaning_words = 4\nleaning = ["ditto"]\nempty = ["for"]'
    ).query
    assert not leans("yes", mine)
    assert leans("ditto for anna", mine)
    assert leans("ditto for all", mine)
    assert not leans("ditto for anna and ben", mine)
    assert leans("for", mine)
    assert leans("", mine)


def test_a_pronoun_beside_a_name_is_weighed_with_the_other_words() -> None:
    assert leans("when does she visit the harbour museum?", RULE)
    assert not leans("when does Anna visit her harbour museum?", RULE)


def test_what_is_leant_on_is_the_last_turn_with_a_topic_and_what_came_after_it() -> None:
    earlier = ["go ahead", "yes", PREVIOUS, "Which vegetables grow well beside tomatoes?"]
    assert topic(earlier, RULE) == f"go ahead\nyes\n{PREVIOUS}"
    assert topic(["yes"] * 9, RULE) == "\n".join(["yes"] * RULE.back)
    assert topic(["", PREVIOUS], RULE) == PREVIOUS
    assert topic([], RULE) == ""


def test_only_the_beginning_of_a_long_text_is_asked() -> None:
    long = "potato " * 1_000
    assert layer_query(long, PREVIOUS, GOALS, RULE) == long[:2_000]
    assert layer_query("so?", long, (), RULE) == "so?\n" + long.strip()[:2_000]


def test_at_the_start_of_a_session_there_is_nothing_to_lean_on() -> None:
    assert layer_query("hello", "", (), RULE) == "hello"

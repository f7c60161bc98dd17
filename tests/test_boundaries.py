"""Every place where a model's answer feeds code has a schema that can be sent, and truth checks."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from lila_app import boundaries
from lila_app.boundaries import EXTRACTION, RUBRIC, SUMMARY, TITLE, Boundary
from lila_app.gateway.port import Message, Request
from lila_app.gateway.structured import Wrong, ask, examine
from lila_app.paths import shipped
from lila_app.testing import ScriptedProvider
from lila_app.truths import Material

TALK = Material(
    {
        "t1": "My boat is called Cotovia, and I keep it in Cacilhas.",
        "t2": "From 3 March 2027 on the pier is closed for 40 days.",
    }
)
GOOD: dict[str, Any] = {
    SUMMARY.name: {
        "sentences": [
            {"text": "Their boat is the Cotovia.", "turns": ["t1"], "names": ["Cotovia"]},
            {"text": "The pier closes for 40 days.", "turns": ["t2"], "names": []},
        ]
    },
    EXTRACTION.name: {
        "memories": [
            {
                "turn": "t1",
                "quote": "My boat is  called Cotovia",
                "subject": "boat",
                "predicate": "name",
                "value": "Cotovia",
                "negated": False,
                "holds_from": None,
                "holds_until": None,
            },
            {
                "turn": "t2",
                "quote": "the pier is closed for 40 days",
                "subject": "the pier",
                "predicate": "state",
                "value": "closed for 40 days",
                "negated": False,
                "holds_from": "2027-03-03",
                "holds_until": "2027-04-12",
            },
        ]
    },
    TITLE.name: {"title": "Where the Cotovia lies", "names": ["Cotovia"]},
    RUBRIC.name: {
        "items": [
            {"id": "t1", "quote": "boat", "grounded": True, "new": False, "timely": False,
             "actionable": False, "verdict": "hold"},
            {"id": "t2", "quote": "the pier is closed", "grounded": True, "new": True,
             "timely": True, "actionable": True, "verdict": "say"},
        ],
        "silence": {"right": False, "why": "The pier closes."},
    },
}  # fmt: skip

WRONG: list[tuple[Boundary, list[str | int], Any, str]] = [
    (SUMMARY, ["sentences", 0, "turns"], ["t9"], "was not given"),
    (SUMMARY, ["sentences", 0, "turns"], [], "turns is empty"),
    (SUMMARY, ["sentences", 0, "names"], ["Cassandra"], "name that was not said"),
    # Said, but in another turn than the one it is drawn from.
    (SUMMARY, ["sentences", 1, "names"], ["Cotovia"], "name that was not said"),
    (SUMMARY, ["sentences", 1, "text"], "The pier closes for 41 days.", "number"),
    (SUMMARY, ["sentences", 0, "text"], "", "says nothing"),
    (SUMMARY, ["sentences", 0, "text"], "One.\nTwo.", "several lines"),
    (SUMMARY, ["sentences", 0, "text"], "Their boat, " * 20, "fewer"),
    (SUMMARY, ["sentences", 0, "more"], "x", "does not belong"),
    (EXTRACTION, ["memories", 0, "quote"], "My ship is called Cotovia", "does not stand"),
    (EXTRACTION, ["memories", 0, "quote"], " ", "quote is empty"),
    (EXTRACTION, ["memories", 0, "turn"], "t2", "does not stand"),
    (EXTRACTION, ["memories", 0, "turn"], "t3", "was not given"),
    (EXTRACTION, ["memories", 0, "subject"], "Gaivota", "was not named"),
    (EXTRACTION, ["memories", 0, "value"], "Gaivota", "value does not stand"),
    (EXTRACTION, ["memories", 0, "value"], "closed", "value does not stand"),
    (EXTRACTION, ["memories", 1, "value"], "closed for 14 days", "value does not stand"),
    (EXTRACTION, ["memories", 1, "value"], "closed for 4", "value does not stand"),
    (EXTRACTION, ["memories", 0, "more"], "x", "does not belong"),
    (EXTRACTION, ["memories", 0, "negated"], "no", "boolean"),
    (EXTRACTION, ["memories", 1, "holds_until"], "2027-02-30", "not a day"),
    (EXTRACTION, ["memories", 1, "holds_from"], "3 March 2027", "not a day"),
    (EXTRACTION, ["memories", 1, "holds_until"], "2027-01-01", "ends before it begins"),
    (EXTRACTION, ["memories", 0, "subject"], "…", "was not named"),
    (TITLE, ["title"], "t" * 61, "60 characters"),
    (TITLE, ["title"], "Two\nlines", "one line"),
    (TITLE, ["title"], "?!", "says nothing"),
    (TITLE, ["title"], "The year 2031", "number"),
    (TITLE, ["names"], ["Lisbon"], "name that was not said"),
    (RUBRIC, ["items", 1, "quote"], "the pier is open", "does not stand"),
    (RUBRIC, ["items", 1, "id"], "t1", "does not stand"),
    (RUBRIC, ["items", 1, "id"], "t7", "was not given"),
    (RUBRIC, ["items", 1, "grounded"], False, "not grounded"),
    (RUBRIC, ["items", 1, "verdict"], "hold", "contradicts"),
    (RUBRIC, ["items", 1, "verdict"], "perhaps", "say, hold"),
    (RUBRIC, ["silence", "right"], True, "contradicts"),
    (RUBRIC, ["silence", "why"], "", "says nothing"),
]


def changed(answer: Any, path: list[str | int], value: Any) -> Any:
    answer = copy.deepcopy(answer)
    inner = answer
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return answer


def test_every_schema_can_be_sent_to_every_strict_mode() -> None:
    assert {one.name: boundaries.unsayable(one) for one in boundaries.every()} == {
        one.name: () for one in boundaries.every()
    }


def test_every_schema_file_belongs_to_a_boundary() -> None:
    files = {path.stem for path in (shipped("assets") / "schemas").glob("*.json")}
    # The record is LILA's own account; no model writes it.
    assert files == {one.schema for one in boundaries.every()} | {"context-record"}
    assert set(GOOD) == {one.name for one in boundaries.DECLARED}


@pytest.mark.parametrize("boundary", boundaries.DECLARED, ids=lambda one: one.name)
async def test_a_good_answer_passes(boundary: Boundary) -> None:
    good = GOOD[boundary.name]
    provider = ScriptedProvider(json.dumps(good))
    request = Request((Message("user", TALK.whole),), 500, job=boundary.job)
    assert await ask(provider.stream, request, boundary.form(TALK)) == good


@pytest.mark.parametrize(("boundary", "path", "value", "said"), WRONG)
def test_an_untrue_or_misshapen_answer_is_named(
    boundary: Boundary, path: list[str | int], value: Any, said: str
) -> None:
    answer = changed(GOOD[boundary.name], path, value)
    found = examine(json.dumps(answer), boundary.form(TALK))
    assert isinstance(found, Wrong), "it should have been refused"
    assert said in found.problem
    for leaked in ("Cotovia", "Gaivota", "Cassandra", "pier"):
        assert leaked not in found.problem


def test_a_rubric_judges_each_candidate_exactly_once() -> None:
    rubric = GOOD[RUBRIC.name]
    for items, said in (
        (rubric["items"][1:], "leaves a candidate out"),
        ([*rubric["items"], rubric["items"][0]], "twice"),
    ):
        found = examine(json.dumps({**rubric, "items": items}), RUBRIC.form(TALK))
        assert isinstance(found, Wrong) and said in found.problem


def test_nothing_worth_keeping_and_nothing_worth_saying_are_answers() -> None:
    silent = {"items": [], "silence": {"right": True, "why": "Nothing is new."}}
    for boundary, answer in (
        (SUMMARY, {"sentences": []}),
        (EXTRACTION, {"memories": []}),
        (RUBRIC, silent),
    ):
        assert examine(json.dumps(answer), boundary.form(Material({}))) == answer


def test_every_check_says_in_one_sentence_what_it_holds_an_answer_to() -> None:
    for boundary in boundaries.DECLARED:
        assert boundary.checks
        assert all(line.endswith(".") for line in boundary.checked)

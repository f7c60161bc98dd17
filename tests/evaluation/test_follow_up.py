"""Spoken follow-ups: what each policy's prompt holds, and which replies are right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.errors import UsageError
from lila_app.evaluation import follow_up
from lila_app.evaluation.follow_up import Case, Outcome, is_right, measure, read, report
from lila_app.paths import Home
from lila_app.testing import ScriptedProvider

SAID = (("The capital of France?", "Paris."),)
WHERE = Case("a", "it", SAID, "Where is it?", ("Paris",), ("in",))
SEVEN = Case("b", "alone", SAID, "7 times 8?", (), ("56",))


def quiet(done: int, total: int, label: str) -> None:
    """Nobody watches."""


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def lila(home: Path, provider: ScriptedProvider) -> Iterator[Lila]:
    with open_lila(home, provider=provider) as opened:
        yield opened


def test_only_continuity_holds_what_a_follow_up_needs(lila: Lila) -> None:
    found = measure([WHERE, SEVEN], lila, model=None, progress=quiet)
    without, continuity = found.rows
    assert (without.policy, without.held, without.follow_ups, without.alone) == ("voice", 0, 1, 1)
    assert (continuity.policy, continuity.held) == ("voice_continuity", 1)
    assert continuity.tokens > without.tokens
    assert [one.right for one in found.outcomes] == [None] * 4, "no model was asked"
    assert lila.sessions.list() == (), "nothing of it is in the person's own store"


def test_a_person_s_own_table_is_what_is_measured(lila: Lila, home: Path) -> None:
    table = Home.at(home).policies_dir / "allocation.toml"
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(
        "[voice]\nconversation = { ratio = 10_000, cap = 800, floor = 0 }\n", encoding="utf-8"
    )
    found = measure([WHERE], lila, model=None, progress=quiet)
    assert [row.held for row in found.rows] == [1, 1]


def test_a_model_is_asked_on_the_person_s_account_and_its_replies_are_judged(
    lila: Lila, provider: ScriptedProvider
) -> None:
    provider.enqueue("I do not know.", "It is in France.", "It is 56.", "It is 65.")
    given = partial(open_lila, provider=provider)
    found = measure([WHERE, SEVEN], lila, model=provider.name, progress=quiet, open_home=given)
    assert [one.right for one in found.outcomes] == [False, True, True, False]
    assert (found.won, found.lost) == (("a",), ("b",))
    assert [(row.right, row.alone_right) for row in found.rows] == [(0, 1), (1, 0)]
    assert len(provider.warmed) == 4, "what stands before the words is read before they are said"
    for warmed, asked in zip(provider.warmed, provider.requests, strict=True):
        assert asked.messages[-1].content.startswith(warmed.messages[-1].content)
    with lila._resources.store.read() as connection:
        assert connection.execute("select count(*) from usage").fetchone()[0] == 4
    assert lila.sessions.list() == ()


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("It is 56.", True),
        ("Fifty-six!", True),
        ("56, of course", True),
        ("It is 156.", False),
        ("It is 56.5.", False),
        ("It is 0.56.", False),
        ("", False),
        ("Not 65 but 56.", False),
    ],
)
def test_a_reply_is_judged_by_whole_words(reply: str, right: bool) -> None:
    case = Case("a", "alone", (), "7 times 8?", (), ("56", "fifty-six"), ("65",))
    assert is_right(reply, case) == right


def test_a_report_counts_cases_that_were_not_asked_about_as_unknown() -> None:
    seen = [Outcome("a", "it", policy, False, True, 80) for policy in follow_up.POLICIES]
    found = report("", seen)
    assert [(row.right, row.first_ms, row.evaluated) for row in found.rows] == [(None,) * 3] * 2


def test_the_shipped_cases_need_the_conversation_or_nothing() -> None:
    cases = read(follow_up.shipped_cases())
    assert len(cases) >= 30 and len({case.id for case in cases}) == len(cases)
    assert sum(not case.needs for case in cases) >= 5
    for case in cases:
        assert case.said and case.right
        assert not is_right(case.ask, case) or case.kind in ("recall", "alone"), case.id


def line(**changes: object) -> str:
    row = {
        "id": "a",
        "kind": "it",
        "said": [["The capital?", "Paris."]],
        "ask": "And there?",
        "needs": ["Paris"],
        "right": ["x"],
    }
    return json.dumps(row | changes)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no cases"),
        (line() + "\n{", "line 2"),
        (line(said=[["only words"]]), "line 1"),
        (line(needs=["Rome"]), "'Rome'"),
        (line(ask="In Paris?"), "'Paris'"),
        ('{"id": "a"}', "line 1"),
        ("[]", "line 1"),
    ],
)
def test_a_file_that_holds_no_cases_is_refused_by_line(
    tmp_path: Path, text: str, named: str
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=named):
        read(path)

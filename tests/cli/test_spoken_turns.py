"""Spoken turns on the command line: what their prompts hold, and what that costs them."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import pytest

from lila_app.afterwards import Afterwards
from lila_app.assistant import Lila, open_lila
from lila_app.testing import ScriptedProvider
from lila_app.views import NOTHING_RETRIEVED
from tests.cli.lila import here


def answered(home: Path, use_case: str) -> str:
    """The record of a turn, as it is shown."""

    async def say(lila: Lila) -> None:
        async with aclosing(lila.turn("The capital of France?", use_case=use_case)) as events:
            async for _ in events:
                pass

    with open_lila(home, provider=ScriptedProvider("Paris.")) as lila:
        lila._resources.learns = False
        asyncio.run(say(lila))
    shown = here(home, "context", "show")
    assert shown.code == 0, shown.err
    return shown.out


def test_the_record_of_a_spoken_turn_says_that_nothing_was_retrieved(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Afterwards, "_embed", lambda *_: None)  # vectors are other tests'
    assert NOTHING_RETRIEVED in answered(home, "voice")
    assert NOTHING_RETRIEVED not in answered(home, "voice_continuity")


def test_follow_ups_are_compared_without_a_model(home: Path) -> None:
    done = here(home, "eval", "follow-up", "--json")
    assert done.code == 0, done.err
    found = done.json["outcome"]
    without, continuity = found["rows"]
    assert (without["policy"], without["held"]) == ("voice", 0)
    assert (continuity["policy"], continuity["held"]) == (
        "voice_continuity",
        continuity["follow_ups"],
    )
    assert continuity["held"] >= 20
    assert found["model"] == "" and without["right"] is None
    assert here(home, "sessions", "list", "--json").json["sessions"] == []


def test_the_table_names_both_policies(home: Path, tmp_path: Path) -> None:
    case = {
        "id": "a",
        "kind": "it",
        "said": [["The capital of France?", "Paris."]],
        "ask": "Where is it?",
        "needs": ["Paris"],
        "right": ["France"],
    }
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")
    done = here(home, "eval", "follow-up", str(path))
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines() if line.startswith("voice")]
    assert [line[:4] for line in lines] == [
        ["voice", "0", "of", "1"],
        ["voice_continuity", "1", "of", "1"],
    ]


def test_a_model_that_is_none_is_refused_before_anything_is_asked(home: Path) -> None:
    done = here(home, "eval", "follow-up", "--model", "nowhere/none")
    assert done.code != 0
    assert "nowhere" in done.err and "Traceback" not in done.err


def test_a_file_that_holds_no_cases_is_named(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    done = here(home, "eval", "follow-up", str(path))
    assert done.code != 0
    assert "cases.jsonl, line 1" in done.err

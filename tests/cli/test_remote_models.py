"""Models on the network on the command line: listing, choosing, trying, and the doctor's word."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lila_app import doctor
from lila_app.gateway.access import Access
from lila_app.paths import Home
from tests.cli.lila import here
from tests.keys.echoing import Echoing, echoing

KEY = "sk-test-0123456789abcdef"
SONNET = "anthropic/claude-sonnet-5-5"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Echoing]:
    with echoing() as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.origin)
        yield running


def listed(home: Path) -> dict[str, tuple[bool, bool, str]]:
    models = here(home, "models", "list", "--json").json["models"]
    return {one["name"]: (one["installed"], one["default"], one["note"]) for one in models}


def test_the_list_says_which_remote_providers_have_a_key_and_where(
    home: Path, server: Echoing
) -> None:
    found = listed(home)
    assert found["anthropic/…"][:2] == (True, False)
    assert "environment (ANTHROPIC_API_KEY)" in found["anthropic/…"][2]
    assert found["openai/…"][:2] == (False, False)
    assert "`lila keys set openai`" in found["openai/…"][2]
    assert all("as in" in found[f"{name}/…"][2] for name in ("anthropic", "openai", "gemini"))
    assert server.seen == []


def test_a_remote_model_can_be_chosen_once_there_is_a_key(
    home: Path, server: Echoing, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here(home, "models", "default", SONNET).code == 0
    assert listed(home)[SONNET][:2] == (True, True)
    misspelt = here(home, "models", "default", "anthropic/claude-sonet-5-5")
    assert misspelt.code == 0
    assert "the price data knows no anthropic/claude-sonet-5-5" in misspelt.err
    refused = here(home, "models", "default", "openai/gpt-6.1-terra")
    assert refused.code == 3
    assert "`lila keys set openai`" in refused.err
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert listed(home)["anthropic/claude-sonet-5-5"][:2] == (False, True)
    assert server.seen == []


def test_a_trial_says_what_it_costs_before_and_after_and_every_call_is_on_record(
    home: Path, server: Echoing
) -> None:
    done = here(home, "models", "test", SONNET)
    assert "three calls with" in done.err and "which cost about $" in done.err
    assert "ok   reach" in done.out
    assert "ok   auth: accepted: …cdef from environment (ANTHROPIC_API_KEY)" in done.out
    assert "ok   stream" in done.out
    assert "FAIL schema: the reply is not JSON" in done.out
    assert "ok   cost: $" in done.out
    assert done.code == 7
    assert len(server.seen) == 3
    store = Home.at(home).profile_db("default")
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("select provider, model, credential, cost from usage").fetchall()
    assert [row[:2] for row in rows] == [("anthropic", "claude-sonnet-5-5")] * 3
    assert {row[2] for row in rows} == {Access(api_key=KEY).credential}
    assert all(row[3] > 0 for row in rows)


def test_a_trial_is_not_begun_when_the_months_budget_is_spent(
    home: Path, server: Echoing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILA_MONTHLY_BUDGET_USD", "0.0000001")
    here(home, "models", "test", SONNET)
    before = len(server.seen)
    assert here(home, "models", "test", SONNET).code != 0
    assert len(server.seen) == before


def test_the_doctor_has_a_line_for_each_provider(home: Path, server: Echoing) -> None:
    place = Home.at(home)
    place.create()
    found = {check.name: check for check in doctor.examine(place, "default")}
    assert found["key of anthropic"].detail == "…cdef from environment (ANTHROPIC_API_KEY)"
    assert "lila keys set" in found["key of openai"].detail
    place.keys_file.write_text(f'openai = "{KEY}"\n')
    place.keys_file.chmod(0o644)
    found = {check.name: check for check in doctor.examine(place, "default")}
    assert not found["key of openai"].ok and not found["key of openai"].needed
    assert "chmod 600" in found["key of openai"].detail
    assert KEY not in str(found)

"""`lila cost` and `lila cache` over a real store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

import pytest

from lila_app import moments
from lila_app.costs.accounts import StoreLedger
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import Prefix, Usage
from lila_app.gateway.prices import Prices
from lila_app.paths import Home
from lila_app.storage.connection import Store
from tests.cli.lila import here
from tests.storage.builders import session, sized

SONNET = "anthropic/claude-sonnet-5-5"


NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class AtNoon(datetime):
    """The time as it stands: half a minute before the first of a month is another month."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromisoformat(NOON.isoformat())


@pytest.fixture
def called(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which Sonnet was called three times today, the last time in vain."""
    monkeypatch.setattr(moments, "datetime", AtNoon)
    place = Home.at(home)
    place.create()
    with Store.open(place.profile_db("default")) as store:
        ledger, one = StoreLedger(store, Prices()), session(store)
        for number, (read, outcome) in enumerate(((0, "stop"), (0, "stop"), (None, "stopped"))):
            sized(store, "chat", 4_000, identity=100)
            ledger.attempted(
                Attempt(
                    at=(NOON - timedelta(seconds=30 - number)).isoformat(),
                    provider="anthropic",
                    model="claude-sonnet-5-5",
                    outcome=outcome,
                    usage=Usage(1_000, read, 900, 10) if read is not None else Usage(),
                    use_case="chat",
                    session_id=one,
                    record_id=f"c{number + 1}",
                    first_token_ms=400,
                    prompt_tokens=1_000,
                    prefixes=(Prefix("profile", "a" * 64, 900),),
                )
            )
    return home


def test_usage_prints_a_line_a_model_and_what_is_not_known(called: Path) -> None:
    seen = here(called, "cost", "usage")
    assert seen.code == 0, seen.err
    assert SONNET in seen.out
    assert "(+1 unknown)" in seen.out
    assert "without a cost: the provider reported no tokens" in seen.out
    assert "prices: genai-prices" in seen.out
    assert "1.00 of its tokens to a declared one at most" in seen.out


def test_usage_as_json_has_numbers_and_null_where_nothing_is_known(called: Path) -> None:
    usage = here(called, "cost", "usage", "--json").json["usage"]
    (line,) = usage["lines"]
    assert (line["attempts"], line["failed"], line["unpriced"]) == (3, 1, 1)
    # Twice 100·2 + 900·2.50 + 10·10 a million.
    assert line["cost"] == usage["cost"] == pytest.approx(2 * 0.00255)
    assert usage["budget"] is None


def test_the_budget_stands_beside_the_sum(called: Path) -> None:
    Home.at(called).settings_file.write_text("monthly_budget_usd = 20\n")
    assert " of $20.00" in here(called, "cost", "usage").out
    assert here(called, "cost", "usage", "--json").json["usage"]["budget"] == 20


def test_a_month_without_calls_says_so(called: Path) -> None:
    seen = here(called, "cost", "usage", "--month", "2020-01")
    assert "no model was called in 2020-01" in seen.err
    assert here(called, "cost", "usage", "--month", "soon").code == 2


def test_layers_name_the_block_the_size_the_cache_and_the_price(called: Path) -> None:
    seen = here(called, "cost", "layers", "--model", SONNET, "--daily", "3000")
    assert seen.code == 0, seen.err
    assert "the policy's own" in seen.out
    assert "prices: genai-prices" in seen.out
    found = here(called, "cost", "layers", "--model", SONNET, "--daily", "3000", "--json").json
    assert found["layers"]["daily"] == 3_000
    assert {one["lifetime"] for one in found["layers"]["blocks"]} == {
        *("L0", "L1", "L2", "L3", "L4", "L5"),
    }


def test_the_cache_report_prints_the_rule_its_inputs_its_choice_and_what_was_missed(
    called: Path,
) -> None:
    seen = here(called, "cache", "report")
    assert seen.code == 0, seen.err
    assert "the least wins" in seen.out
    assert f"chat under {SONNET}: 3 calls" in seen.out
    assert "short (default)" in seen.out
    assert "warning: " in seen.out
    assert "read 0 of some 900 cached tokens" in seen.out


def test_the_cache_report_as_json_has_every_input_of_the_rule(called: Path) -> None:
    found = here(called, "cache", "report", "--json").json["cache"]
    (line,) = found["lines"]
    (place,) = line["breakpoints"]
    assert (place["calls"], place["short"], place["long"]) == (3, 2, 0)
    assert (place["choice"], place["measured"]) == ("short", False)
    assert line["contract"]["read"] == 0.05
    (warning,) = found["warnings"]
    assert warning["cause"] == "provider"


def test_an_empty_store_says_that_nothing_was_called(home: Path) -> None:
    assert "no model was called" in here(home, "cache", "report").err
    assert here(home, "cache", "report", "--json").json["cache"]["lines"] == []


def test_the_contracts_are_shown_with_the_other_tables(home: Path) -> None:
    seen = here(home, "policy", "show", "chat")
    assert "anthropic/claude-sonnet-5-5*" in seen.out
    shown = here(home, "policy", "show", "--json").json["policy"]
    assert shown["caching"]["rule"] == {"least": 10, "default": "short"}
    assert any(file.endswith("caching.toml") for file in shown["files"])


def test_a_wrong_caching_table_is_named_by_the_check(home: Path) -> None:
    place = Home.at(home)
    place.create()
    (place.policies_dir / "caching.toml").write_text("[rule]\nleast = 0\n")
    seen = here(home, "policy", "check")
    assert seen.code == 3
    assert "rule.least" in seen.err

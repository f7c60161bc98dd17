"""The ledger in the store and the one the tests use keep the same promises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lila_app.costs.accounts import StoreLedger
from lila_app.gateway.ledger import Attempt, Breaker, CachedContent, Ledger
from lila_app.gateway.port import Prefix, Usage
from lila_app.gateway.prices import Prices
from lila_app.storage.connection import Store
from lila_app.testing import MemoryLedger
from tests.storage.builders import save, session


@pytest.fixture(params=["store", "memory"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    if request.param == "memory":
        yield MemoryLedger()
        return
    with Store.open(tmp_path / "one.db") as store:
        assert (session(store), save(store, None, [])) == ("s1", "c1")
        yield StoreLedger(store, Prices())


ATTEMPT = Attempt(
    at="2026-11-30T08:00:00+00:00",
    provider="anthropic",
    model="claude-opus-5-5",
    outcome="stop",
    usage=Usage(3_000, 1_000, 500, 40, 200),
    credential="12ab34cd",
    job="summary",
    slot="background",
    use_case="chat",
    session_id="s1",
    epoch=2,
    record_id="c1",
    first_token_ms=300,
    total_ms=900,
    prompt_tokens=2_500,
    prefixes=(Prefix("profile", "a" * 64, 700), Prefix("conversation", "b" * 64, 900)),
    ttls=("long", None),
    frozen="f:g",
    response_id="msg_1",
    miss="tools_changed",
    missed=70,
)


def test_the_last_whole_call_comes_back_as_it_was(ledger: Ledger) -> None:
    ledger.attempted(ATTEMPT)
    ledger.attempted(replace(ATTEMPT, outcome="stopped"))
    ledger.attempted(replace(ATTEMPT, outcome="UnavailableError", first_token_ms=None))
    assert ledger.last("s1", 2, "anthropic", "claude-opus-5-5") == ATTEMPT
    assert ledger.last("s1", 3, "anthropic", "claude-opus-5-5") is None
    assert ledger.last("s1", 2, "anthropic", "another") is None


def test_gaps_are_told_newest_first_and_the_first_call_has_nothing_before_it(
    ledger: Ledger,
) -> None:
    for clock in ("08:00:00", "08:05:00", "08:05:30"):
        ledger.attempted(replace(ATTEMPT, at=f"2026-11-30T{clock}+00:00"))
    wanted = (30, 300, math.inf)
    assert ledger.gaps("chat", "anthropic", "claude-opus-5-5", "profile") == wanted
    assert ledger.gaps("voice", "anthropic", "claude-opus-5-5", "profile") == ()


def test_a_breaker_is_closed_until_it_is_changed(ledger: Ledger) -> None:
    assert ledger.breaker("a") == Breaker()
    opened = Breaker(3, 1_800_000_000.5, 0.0, 1, "UnavailableError")
    told = ledger.change_breaker("a", lambda before: (opened, before.failures))
    assert told == 0
    assert (ledger.breaker("a"), ledger.breaker("b")) == (opened, Breaker())


def test_explicit_caches_are_kept_by_name(ledger: Ledger) -> None:
    one = CachedContent("cachedContents/1", "gemini", "g", "k", "s1", 5_000, ATTEMPT.at)
    two = replace(one, name="cachedContents/2")
    for content in (one, two, replace(one, tokens=6_000), replace(one, name="x", model="h")):
        ledger.keep_cached(content)
    assert set(ledger.cached("gemini", "g")) == {replace(one, tokens=6_000), two}
    ledger.drop_cached(two.name)
    ledger.drop_cached("never kept")
    assert ledger.cached("gemini", "g") == (replace(one, tokens=6_000),)


def test_the_largest_ratio_is_that_of_reported_to_declared_tokens_rounded_up(
    ledger: Ledger,
) -> None:
    assert ledger.largest_ratio("anthropic", "claude-opus-5-5") is None
    ledger.attempted(ATTEMPT)
    ledger.attempted(replace(ATTEMPT, usage=Usage(2_501)))
    ledger.attempted(replace(ATTEMPT, usage=Usage()))
    assert ledger.largest_ratio("anthropic", "claude-opus-5-5") == 12_000
    ledger.attempted(replace(ATTEMPT, usage=Usage(4_000), prompt_tokens=3_000))
    assert ledger.largest_ratio("anthropic", "claude-opus-5-5") == 13_334

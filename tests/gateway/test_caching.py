from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from lila_app.context import Source
from lila_app.errors import PolicyError
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.caching.rule import Caching, Rule, choose, priced, weigh
from lila_app.gateway.caching.table import parse_caching
from lila_app.gateway.port import Ttl
from lila_app.gateway.prices import Prices, Rates
from lila_app.paths import read_text, shipped

CLAUDE = CacheContract("anthropic", read=500, write_short=12_500, write_long=20_000)
SOON, LATER, NEVER = 60.0, 1_800.0, math.inf


def shipped_table() -> Source:
    path = shipped("policies") / "caching.toml"
    return Source(str(path), read_text(path))


def table(*own: str) -> Caching:
    return parse_caching([shipped_table(), *(Source("own.toml", text) for text in own)])


def measured(soon: int, later: int, never: int) -> list[float]:
    return [SOON] * soon + [LATER] * later + [NEVER] * never


@pytest.mark.parametrize(
    ("gaps", "choice"),
    [
        (measured(20, 0, 80), None),  # below 20.8 %: marking costs more than it saves
        (measured(21, 0, 79), "short"),
        (measured(60, 15, 25), "short"),  # 15.38 % are needed for the hour
        (measured(60, 16, 24), "long"),
        (measured(0, 50, 50), None),  # 39.4 % + 60.6 %·2 > 1: 0.5·0.05 + 0.5·2 = 1.025
        (measured(0, 52, 48), "long"),  # 0.52·0.05 + 0.48·2 = 0.986
        (measured(100, 0, 0), "short"),
        (measured(0, 0, 100), None),
    ],
)
def test_the_rule_takes_the_cheapest_lifetime_for_what_was_measured(
    gaps: list[float], choice: Ttl | None
) -> None:
    found = weigh(CLAUDE, gaps)
    assert (found.measured, found.choice) == (True, choice)


def test_what_was_weighed_says_what_each_choice_would_have_cost() -> None:
    # 0.6·0.05 + 0.4·1.25 = 0.53 and 0.8·0.05 + 0.2·2 = 0.44.
    found = weigh(CLAUDE, measured(6, 2, 2))
    assert (found.calls, found.short, found.long) == (10, 6, 2)
    assert (found.cost_short, found.cost_long, found.choice) == (5_300, 4_400, "long")


def test_a_gap_of_exactly_the_lifetime_is_within_it() -> None:
    assert weigh(CLAUDE, [300.0, 300.1, 3_600.0, 3_600.1]).short == 1
    assert weigh(CLAUDE, [300.0, 300.1, 3_600.0, 3_600.1]).long == 2


def test_with_too_few_calls_the_default_holds() -> None:
    few = measured(0, 0, 9)
    assert weigh(CLAUDE, few).choice == "short"
    assert not weigh(CLAUDE, few).measured
    assert weigh(CLAUDE, few, Rule(least=9)).choice is None
    assert weigh(CLAUDE, [], Rule(default=None)).choice is None
    assert weigh(CLAUDE, [], Rule(default="long")).choice == "long"
    assert weigh(CLAUDE, []).cost_short is None


def test_where_writes_are_free_everything_counts_as_marked() -> None:
    free = CacheContract("key", read=1_000, long_seconds=0)
    assert weigh(free, measured(0, 0, 20)).choice == "short"
    assert weigh(free, [], Rule(default="long")).choice == "short"
    assert weigh(free, measured(5, 5, 10)).cost_long is None


def test_where_there_is_no_cache_nothing_is_marked() -> None:
    assert weigh(CacheContract("none"), measured(20, 0, 0)).choice is None
    assert weigh(CacheContract("none"), []).choice is None


def test_keeping_that_costs_counts_by_the_hour() -> None:
    # Kept 30 minutes a call: 0.1 + 0.5·0.6 an hour = 0.4; short: written each time, five minutes.
    kept = CacheContract("contents", read=1_000, storage=6_000)
    found = weigh(kept, [LATER] * 10)
    assert found.cost_long == 1_000 + 3_000
    assert found.cost_short == 10_000 + 500
    assert found.choice == "long"
    dear = CacheContract("contents", read=1_000, storage=36_000)
    assert weigh(dear, [LATER] * 10).choice is None


def test_long_ones_stand_before_short_ones() -> None:
    long, short, none = measured(0, 20, 0), measured(20, 0, 0), measured(0, 0, 20)
    assert choose(CLAUDE, [long, short, none]) == ("long", "short", None)
    assert choose(CLAUDE, [short, long]) == ("short", "short")
    assert choose(CLAUDE, [none, long, short]) == (None, "long", "short")
    assert choose(CLAUDE, []) == ()


@pytest.mark.parametrize(
    ("name", "kind", "minimum"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic", 512),
        ("anthropic/claude-opus-4-7", "anthropic", 2_048),
        ("anthropic/claude-nobody-knows-it", "anthropic", 4_096),
        ("openai/gpt-5.5", "key", 1_024),
        ("openai/gpt-5", "key", 1_024),
        ("openai/gpt-5-2025-08-07", "key", 1_024),
        ("openai/gpt-5.6-terra", "breakpoints", 1_024),
        ("openai/gpt-7", "breakpoints", 1_024),
        ("gemini/gemini-2.5-pro", "contents", 2_048),
        ("gemini/gemini-3.8-flash", "contents", 4_096),
        ("embedded/smollm2-135m", "prefix", 0),
        ("ollama/llama3.2", "none", 0),
        ("mine/model", "none", 0),
    ],
)
def test_the_shipped_table_knows_the_contract_of_every_model(
    name: str, kind: str, minimum: int
) -> None:
    contract = table().contract(name)
    assert (contract.kind, contract.minimum) == (kind, minimum)
    assert contract.as_of
    assert contract.source


def test_every_shipped_contract_agrees_with_the_price_data() -> None:
    prices, at = Prices(), datetime(2026, 11, 30, tzinfo=UTC)
    for name in (
        *(
            "anthropic/claude-sonnet-5-5",
            "anthropic/claude-haiku-5-5",
            "anthropic/claude-fable-5-2",
        ),
        *("openai/gpt-5.5", "openai/gpt-5.6-sol", "openai/gpt-6.1-terra", "openai/gpt-4.1"),
        *("gemini/gemini-2.5-flash", "gemini/gemini-3.8-flash", "gemini/gemini-4-argon"),
    ):
        contract = table().contract(name)
        real = priced(contract, prices.rates(name, at))
        assert (real.read, real.write_short, real.write_long) == (
            *(contract.read, contract.write_short, contract.write_long),
        ), name


def test_multipliers_come_from_the_prices_where_these_have_them() -> None:
    rates = Rates(Decimal(4), Decimal("0.3"), Decimal(5), None, Decimal(20), "prices of May")
    found = priced(CLAUDE, rates)
    assert (found.read, found.write_short, found.write_long) == (750, 12_500, 20_000)
    assert "prices of May" in found.source
    assert priced(CLAUDE, None) == CLAUDE


def test_a_persons_table_is_laid_over_key_by_key_and_by_exactness() -> None:
    own = table(
        '[contracts."anthropic/*"]\nminimum = 2048\n'
        '[contracts."mine/big"]\nkind = "prefix"\n[rule]\ndefault = "none"'
    )
    assert own.contract("anthropic/claude-nobody-knows-it").minimum == 2_048
    assert own.contract("anthropic/claude-nobody-knows-it").read == 1_000
    assert own.contract("anthropic/claude-sonnet-5-5").minimum == 512
    assert own.contract("mine/big").kind == "prefix"
    assert own.contract("mine/bigger").kind == "none"
    assert own.rule == Rule(10, None)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("rules = 1", "rules"),
        ("version = 2", "version"),
        ("[rule]\nleast = 0", "rule.least"),
        ("[rule]\nleast = true", "rule.least"),
        ('[rule]\ndefault = "1h"', "rule.default"),
        ("rule = 3", "rule"),
        ('[contracts."a/*"]\nkind = "magic"', 'contracts."a/*".kind'),
        ('[contracts."a/*"]\nread = -1', 'contracts."a/*".read'),
        ('[contracts."a/*"]\nread = 0.1', 'contracts."a/*".read'),
        ('[contracts."a/*"]\nminimum = "1"', 'contracts."a/*".minimum'),
        ('[contracts."a/*"]\nttl = 1', 'contracts."a/*".ttl'),
        ('[contracts."a/*"]\nsource = 1', 'contracts."a/*".source'),
        ('[contracts."a/*/b"]\nread = 1', 'contracts."a/*/b"'),
        ('[contracts]\n"a/b" = 1', 'contracts."a/b"'),
        ('[contracts."anthropic/x"]\nlong_seconds = 10', 'contracts."anthropic/x".long_seconds'),
        ("[", ""),
    ],
)
def test_a_table_that_is_not_understood_is_refused_with_file_and_key(text: str, key: str) -> None:
    with pytest.raises(PolicyError) as refused:
        table(text)
    assert (refused.value.file, refused.value.key) == ("own.toml", key)


def test_a_table_without_a_contract_for_everybody_is_refused() -> None:
    with pytest.raises(PolicyError, match="nothing"):
        parse_caching([Source("bare.toml", "version = 1")])

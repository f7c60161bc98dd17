"""The arithmetic of the published example: an insurer's letters, 3,000 drafts a day."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.caching.economics import (
    bill,
    least_long_share,
    least_short_share,
    writes_a_day,
)
from lila_app.gateway.prices import Rates

MIDDLE = Rates(Decimal(2), Decimal("0.20"), Decimal("2.50"), Decimal(4), Decimal(10), "")
LARGE = Rates(Decimal(5), Decimal("0.50"), Decimal("6.25"), Decimal(10), Decimal(25), "")
STABLE = 10_300
"""Tools and schemas 2,500, identity and rules 1,800, style and exemplars 6,000."""


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"))


def test_the_stable_prefix_costs_61_80_a_day_uncached_and_7_17_cached() -> None:
    day = bill(STABLE, calls=3_000, writes=24, reads=3_000, rates=MIDDLE, ttl="long")
    assert cents(day.uncached) == Decimal("61.80")
    assert cents(day.writes) == Decimal("0.99")
    assert cents(day.reads) == Decimal("6.18")
    assert cents(day.cached) == Decimal("7.17")
    assert round(day.saved * 100) == 88


def test_the_large_tier_costs_2_47_in_writes_and_1_85_in_reads() -> None:
    day = bill(STABLE, calls=360, writes=24, reads=360, rates=LARGE, ttl="long")
    assert (cents(day.writes), cents(day.reads)) == (Decimal("2.47"), Decimal("1.85"))
    assert (day.cached / 360).quantize(Decimal("0.001")) == Decimal("0.012")


def test_a_claim_file_costs_a_cent_to_write_and_saves_some_60_percent_of_a_session() -> None:
    session = bill(4_000, calls=4, writes=1, reads=3, rates=MIDDLE, ttl="short")
    assert session.uncached == Decimal("0.032")
    assert session.writes == Decimal("0.01")
    assert session.reads == Decimal("0.0024")
    assert round(session.saved * 100) == 61


def test_the_pilots_prefix_would_have_cost_240_a_day() -> None:
    day = bill(40_000, calls=3_000, writes=0, reads=0, rates=MIDDLE, ttl="long")
    assert cents(day.uncached) == Decimal("240.00")


@pytest.mark.parametrize(
    ("calls", "lifetime", "writes"),
    [
        (3_000, 3_600, 24),  # every 29 seconds: one write an hour at the worst
        (3_000, 300, 288),
        (10, 3_600, 10),  # every 2.4 hours: nothing is ever read
        (24, 3_600, 24),
        (25, 3_600, 24),
        (0, 3_600, 0),
        (5, 0, 5),
    ],
)
def test_writes_follow_from_how_far_calls_are_apart(calls: int, lifetime: int, writes: int) -> None:
    assert writes_a_day(calls, lifetime) == writes


def test_marking_pays_from_a_fifth_of_the_calls_on() -> None:
    # 0.25 / (1.25 - 0.05) = 0.2083 and 0.25 / (1.25 - 0.1) = 0.2174.
    claude = CacheContract("anthropic", read=500, write_short=12_500, write_long=20_000)
    assert least_short_share(claude) == pytest.approx(0.2083, abs=1e-4)
    older = CacheContract("anthropic", read=1_000, write_short=12_500, write_long=20_000)
    assert least_short_share(older) == pytest.approx(0.2174, abs=1e-4)
    free = CacheContract("key", read=1_000, write_short=10_000)
    assert least_short_share(free) == 0


def test_an_hour_beats_five_minutes_from_15_percent_on_where_60_are_within_five_minutes() -> None:
    # 0.75 * 0.4 / (2 - 0.05) = 0.1538; OpenAI: 1.25 * 0.4 / (2.5 - 0.05) = 0.2041.
    claude = CacheContract("anthropic", read=500, write_short=12_500, write_long=20_000)
    assert least_long_share(claude, 0.6) == pytest.approx(0.1538, abs=1e-4)
    openai = CacheContract("breakpoints", read=500, write_short=12_500, write_long=25_000)
    assert least_long_share(openai, 0.6) == pytest.approx(0.2041, abs=1e-4)

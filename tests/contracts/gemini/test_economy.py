"""The arithmetic of an explicit cache, against figures worked out by hand."""

from __future__ import annotations

import math

import pytest

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini.economy import Expected, expected, outgrown, pays

FLASH = CacheContract("contents", read=1_000, storage=6_667)
FREE = CacheContract("contents", read=1_000)


def test_the_mean_run_of_measured_calls_is_what_is_expected() -> None:
    # Twelve calls in two runs: six uses, five gaps of a minute between them, then five minutes.
    gaps = [60.0] * 10 + [7_200.0, math.inf]
    assert expected(gaps, 300) == Expected(6.0, (5 * 60 + 300) / 3_600)


def test_a_longer_life_joins_runs() -> None:
    gaps = [60.0] * 10 + [1_800.0, math.inf]
    assert expected(gaps, 300).uses == 6
    assert expected(gaps, 3_600).uses == 12


@pytest.mark.parametrize("gaps", [(), (math.inf,), (math.inf,) * 20, (4_000.0, math.inf)])
def test_nothing_that_was_measured_speaks_for_a_second_use(gaps: tuple[float, ...]) -> None:
    ahead = expected(gaps, 300)
    assert ahead == Expected(1.0, 300 / 3_600)
    assert not pays(FREE, ahead)


@pytest.mark.parametrize(
    ("uses", "hours", "worth"),
    [
        # 1 + 0.6667 h + 0.1 n < n
        (1.0, 0.1, False),  # 1.1667 against 1
        (2.0, 1.0, True),  # 1.8667 against 2
        (2.0, 1.3, False),  # 2.0667 against 2
        (10.0, 10.0, True),  # 8.6667 against 10
        (10.0, 13.0, False),  # 10.6671 against 10
    ],
)
def test_a_cache_pays_when_making_keeping_and_reading_cost_less_than_sending(
    uses: float, hours: float, worth: bool
) -> None:
    assert pays(FLASH, Expected(uses, hours)) is worth


def test_a_dearer_write_needs_more_uses() -> None:
    dear = CacheContract("contents", read=1_000, write_short=20_000)
    assert not pays(dear, Expected(2.0, 0.1))  # 2 + 0.2 against 2
    assert pays(dear, Expected(3.0, 0.1))  # 2 + 0.3 against 3


def test_a_cache_is_outgrown_when_what_lay_beyond_it_cost_a_new_one() -> None:
    # A cache of 4,000; turns of 500. Sent at the full price so far, less what reading costs:
    # 0.9 * (500 + 1,000 + 1,500 + 2,000) = 4,500 < 6,000, the longer cache; with the next turn
    # 0.9 * (5,000 + 2,500) = 6,750 >= 6,500.
    ends = [4_500, 5_000, 5_500, 6_000]
    assert not outgrown(FREE, 4_000, ends)
    assert outgrown(FREE, 4_000, [*ends, 6_500])
    assert not outgrown(FREE, 4_000, [])

"""What a question asks for beyond its words."""

from __future__ import annotations

import pytest

from lila_app.layers import hints
from tests.layers.conftest import NOW


@pytest.mark.parametrize(
    ("question", "months", "years"),
    [
        ("What did Ana plant in May?", {5}, set[int]()),
        ("What may Ana plant?", set[int](), set[int]()),
        ("Did they march on?", set[int](), set[int]()),
        ("Who came on 14 March 2024?", {3}, {2024}),
        ("What happened between June and August 2023?", {6, 8}, {2023}),
        ("What did she order on October 3?", {10}, set[int]()),
    ],
)
def test_months_are_read_with_their_year(question: str, months: set[int], years: set[int]) -> None:
    read = hints.read(question, NOW)
    assert (read.months, read.years) == (months, years)


def test_a_month_without_a_year_is_any_years() -> None:
    read = hints.read("What did Ana plant in May?", NOW)
    assert read.said_then("2023-05-09T10:00:00+00:00")
    assert read.said_then("2026-05-31T10:00:00+00:00")
    assert not read.said_then("2026-06-01T10:00:00+00:00")
    exact = hints.read("What did Ana plant in May 2023?", NOW)
    assert not exact.said_then("2026-05-31T10:00:00+00:00")


def test_other_words_for_a_day_are_read_from_now_and_a_week_of_telling_is_allowed() -> None:
    read = hints.read("What did I say yesterday about the boat?", NOW)
    assert read.said_then("2026-11-29T10:00:00+00:00")
    assert not read.said_then("2026-11-28T10:00:00+00:00")


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("When did Ana move?", True),
        ("What year did Ana move?", True),
        ("How long has Ana lived there?", True),
        ("Whenever, but where did Ana move?", False),
    ],
)
def test_a_question_for_a_time_is_known(question: str, asks: bool) -> None:
    assert hints.read(question, NOW).when is asks


def test_a_speaker_is_named_by_any_part_of_the_name() -> None:
    read = hints.read("What does José's sister think of Ana?", NOW)
    assert read.named({"José Pérez", "Ana", "Anabel", "Bo"}) == {"José Pérez", "Ana"}
    assert hints.read("What is new?", NOW).named({"Ana"}) == frozenset()


def test_words_for_a_time_are_known() -> None:
    assert hints.names_a_time("We met last Tuesday")
    assert hints.names_a_time("It was in 2019")
    assert not hints.names_a_time("We met at the pier")

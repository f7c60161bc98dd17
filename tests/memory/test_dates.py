"""What times mean. Days are worked out from a calendar of 2026 by hand: 30 November is a Monday."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import UsageError
from lila_app.evaluation.dates import measure
from lila_app.memory.dates import resolve
from lila_app.memory.dates.days import easter, feast

MONDAY = datetime(2026, 11, 30, 10, tzinfo=UTC)


def found(text: str, at: datetime = MONDAY) -> list[tuple[str, str, str]]:
    return [(text[d.start : d.end], str(d.first), str(d.last)) for d in resolve(text, at)]


@pytest.mark.parametrize(
    ("text", "words", "first", "last"),
    [
        ("I saw her yesterday.", "yesterday", "2026-11-29", "2026-11-29"),
        ("Last night we ate out.", "Last night", "2026-11-29", "2026-11-29"),
        ("We met this morning.", "this morning", "2026-11-30", "2026-11-30"),
        ("See you the day after tomorrow", "the day after tomorrow", "2026-12-02", "2026-12-02"),
        ("I ran two days ago", "two days ago", "2026-11-28", "2026-11-28"),
        ("We moved two weeks ago.", "two weeks ago", "2026-11-16", "2026-11-16"),
        ("I ran a few days ago", "a few days ago", "2026-11-25", "2026-11-28"),
        ("We met about a year ago.", "about a year ago", "2025-01-01", "2025-12-31"),
        ("It begins in three weeks", "in three weeks", "2026-12-21", "2026-12-21"),
        ("I met him last Friday", "last Friday", "2026-11-27", "2026-11-27"),
        ("I met him last Monday", "last Monday", "2026-11-23", "2026-11-23"),
        ("Last Tues I joined", "Last Tues", "2026-11-24", "2026-11-24"),
        ("Next Friday I fly", "Next Friday", "2026-12-11", "2026-12-11"),
        ("My lease expires in March.", "in March", "2027-03-01", "2027-03-31"),
        ("My lease expired in March.", "in March", "2026-03-01", "2026-03-31"),
        ("I'm flying on Friday.", "on Friday", "2026-12-04", "2026-12-04"),
        ("I met him on Friday.", "on Friday", "2026-11-27", "2026-11-27"),
        ("Two Fridays ago it broke", "Two Fridays ago", "2026-11-20", "2026-11-20"),
        ("It's on Tuesday next week", "on Tuesday next week", "2026-12-08", "2026-12-08"),
        ("last week was long", "last week", "2026-11-23", "2026-11-29"),
        ("the week before last", "the week before last", "2026-11-16", "2026-11-22"),
        ("We hiked last weekend", "last weekend", "2026-11-28", "2026-11-29"),
        ("We hiked two weekends ago", "two weekends ago", "2026-11-21", "2026-11-22"),
        ("We'll hike next weekend", "next weekend", "2026-12-05", "2026-12-06"),
        ("next month I rest", "next month", "2026-12-01", "2026-12-31"),
        ("last year was good", "last year", "2025-01-01", "2025-12-31"),
        ("We moved to Porto in May.", "in May", "2026-05-01", "2026-05-31"),
        ("We're getting married in June!", "in June", "2027-06-01", "2027-06-30"),
        ("I've lived here since 2019", "since 2019", "2019-01-01", "2019-12-31"),
        ("My exam is on 14 December.", "14 December", "2026-12-14", "2026-12-14"),
        ("I was born on the 12th of August 1988", "the 12th of August 1988",
         "1988-08-12", "1988-08-12"),
        ("On Sunday, July 2, 2023 it rained", "Sunday, July 2, 2023", "2023-07-02", "2023-07-02"),
        ("They are coming on the 20th.", "on the 20th", "2026-12-20", "2026-12-20"),
        ("the 20th of next month", "the 20th of next month", "2026-12-20", "2026-12-20"),
        ("last summer we sailed", "last summer", "2026-06-01", "2026-08-31"),
        ("the summer of 2022", "summer of 2022", "2022-06-01", "2022-08-31"),
        ("See you at Christmas!", "at Christmas", "2026-12-25", "2026-12-25"),
        ("The meeting moved to Wednesday.", "Wednesday", "2026-12-02", "2026-12-02"),
        ("It is 2026-12-04.", "2026-12-04", "2026-12-04", "2026-12-04"),
        ("paid on 25.12.2023", "25.12.2023", "2023-12-25", "2023-12-25"),
    ],
)  # fmt: skip
def test_words_mean_the_days_the_calendar_has(text: str, words: str, first: str, last: str) -> None:
    assert found(text) == [(words, first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "He may go, and she may march 10 miles.",
        "the top 5 may change",
        "Give me a second, 5 minutes at most.",
        "I was there 5 minutes ago",
        "We live on the 5th floor",
        "Every Friday I run, and on Mondays I rest.",
        "4/5/2023 is read two ways",
        "My 5th birthday was the 2nd best",
        "31 June does not exist",
        "I took 3 of 4",
    ],
)
def test_what_is_recurring_or_only_looks_like_a_date_is_none(text: str) -> None:
    assert found(text) == []


def test_a_date_leans_on_the_one_before_it() -> None:
    assert found("I was in Rome in March. The week before, I was ill.")[1] == (
        "The week before", "2026-02-16", "2026-02-22",
    )  # fmt: skip


def test_the_day_is_the_persons_own_not_the_one_in_utc() -> None:
    at = datetime(2026, 12, 1, 0, 30, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert found("I ran yesterday", at) == [("yesterday", "2026-11-30", "2026-11-30")]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Ontem fui ao museu com a Lia.", "2026-11-29"),
        ("Ayer compré una bici en Sevilla.", "2026-11-29"),
        ("Gestern war ich im Kino.", "2026-11-29"),
    ],
)
def test_other_tongues_are_left_to_dateparser(text: str, day: str) -> None:
    assert [one[1] for one in found(text)] == [day]


def test_feasts_that_move_fall_where_almanacs_have_them() -> None:
    # Easter Sundays and Thanksgivings as printed in almanacs.
    assert [easter(y) for y in (2000, 2024, 2025, 2026, 2038)] == [
        date(2000, 4, 23), date(2024, 3, 31), date(2025, 4, 20), date(2026, 4, 5),
        date(2038, 4, 25),
    ]  # fmt: skip
    assert feast("thanksgiving", 2026) == date(2026, 11, 26)


_SPOKEN = """last next this the of on in ago two weeks days Friday fri May may 5 5th 31 2019
2026-02-30 yesterday . ! ’ weekend month before after Christmas summer gestern ontem"""
_WORDS = st.sampled_from([*_SPOKEN.split(), "\n"])
_TEXTS = st.one_of(st.text(max_size=80), st.lists(_WORDS, max_size=25).map(" ".join))
_MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)
)


@given(_TEXTS, _MOMENTS)
@settings(max_examples=150, deadline=None)
def test_any_text_at_any_time_gives_days_in_order_within_it(text: str, at: datetime) -> None:
    dates = resolve(text, at)
    assert dates == resolve(text, at)
    assert all(0 <= d.start < d.end <= len(text) and d.first <= d.last for d in dates)
    assert all(one.end <= other.start for one, other in pairwise(dates))


@given(st.integers(1, 400), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_so_many_days_ago_is_so_many_days_before(days: int, day: date) -> None:
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    (one,) = resolve(f"It was {days} days ago", at)
    assert one.first == one.last == day - timedelta(days=days)


_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@given(st.sampled_from(_NAMES), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_last_weekday_is_the_nearest_before(name: str, day: date) -> None:
    (one,) = resolve(f"We met last {name}", datetime(day.year, day.month, day.day, tzinfo=UTC))
    assert one.first.strftime("%A") == name
    assert 1 <= (day - one.first).days <= 7


def test_the_measure_counts_days_only_and_falls_back_to_the_sessions(tmp_path: Path) -> None:
    talk = {
        "session_1_date_time": "1:00 pm on 4 March, 2024",
        "session_1": [
            {"dia_id": "D1:1", "speaker": "Ana", "text": "I sold the van yesterday."},
            {"dia_id": "D1:2", "speaker": "Rui", "text": "I just signed the lease!"},
        ],
    }
    asked = [
        {"category": 2, "question": "van?", "answer": "3 March 2024", "evidence": ["D1:1"]},
        {"category": 2, "question": "lease?", "answer": "March 4, 2024", "evidence": ["D1:2"]},
        {"category": 2, "question": "wrong?", "answer": "1 March 2024", "evidence": ["D1:1"]},
        {"category": 2, "question": "no day", "answer": "March 2024", "evidence": ["D1:1"]},
        {"category": 1, "question": "other", "answer": "3 March 2024", "evidence": ["D1:1"]},
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"conversation": talk, "qa": asked}]))
    outcome = measure(path)
    assert (outcome.asked, outcome.right, outcome.session_only) == (3, 2, 1)
    assert [one.question for one in outcome.missed] == ["wrong?"]
    path.write_text("{}")
    with pytest.raises(UsageError):
        measure(path)

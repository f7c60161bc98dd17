from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.costs.budget import Budget, Standing, month
from lila_app.errors import MonthSpentError, UsageError
from lila_app.events import Done, Notice
from lila_app.paths import Home
from lila_app.settings import Settings
from lila_app.storage import ledger
from lila_app.storage.connection import Store
from lila_app.storage.ledger import UsageRow
from lila_app.testing import FakeClock, ScriptedProvider
from tests.assistant.conftest import collect
from tests.stories.crash_child import HashEmbedder

CENT = 10**10
"""Picodollars."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "one.db") as opened:
        yield opened


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock("2026-11-30T12:00:00+00:00")


def budget(store: Store, clock: FakeClock, limit: str | None = "10") -> Budget:
    settings = Settings(
        timezone="Europe/Berlin", monthly_budget_usd=None if limit is None else Decimal(limit)
    )
    return Budget(store, lambda: settings, lambda provider: provider == "embedded", clock)


def spend(store: Store, cents: int | None, at: str = "2026-11-15T12:00:00+00:00") -> None:
    cost = None if cents is None else cents * CENT
    row = UsageRow(at, None, "openai", "m", 1, 0, 0, 1, 1, 1, "stop", cost=cost)
    ledger.add_usage(store, row)


@dataclass(frozen=True)
class Model:
    name: str


PAID, OWN = Model("openai/m"), Model("embedded/small")


def test_below_80_percent_nothing_is_said(store: Store, clock: FakeClock) -> None:
    spend(store, 799)
    leave = budget(store, clock).check([PAID, OWN])
    assert (leave.places, leave.notice) == ((0, 1), "")


def test_from_80_percent_on_it_is_said_once(store: Store, clock: FakeClock) -> None:
    spend(store, 800)
    spend(store, None)
    mine = budget(store, clock)
    assert mine.check([PAID]).notice == (
        "$8.00 of this month's $10.00 are spent, 80 %; calls without a known price: 1"
    )
    assert mine.check([PAID]).notice == ""
    assert budget(store, clock).check([OWN, PAID]).notice == ""


def test_at_100_percent_models_that_cost_money_are_not_asked(
    store: Store, clock: FakeClock
) -> None:
    spend(store, 1_000)
    with pytest.raises(MonthSpentError, match="100 %, so openai/m is not asked") as refused:
        budget(store, clock).check([PAID])
    assert "monthly_budget_usd" in refused.value.hint


def test_at_100_percent_the_model_on_ones_own_machine_goes_on_and_it_is_said(
    store: Store, clock: FakeClock
) -> None:
    spend(store, 1_234)
    mine = budget(store, clock)
    leave = mine.check([PAID, OWN])
    assert leave.places == (1,)
    assert "123 %; embedded/small answers" in leave.notice
    assert mine.check([PAID, OWN]).notice == leave.notice  # each time: another one answers
    assert mine.check([OWN]).notice == ""


def test_without_a_budget_nothing_is_counted(store: Store, clock: FakeClock) -> None:
    spend(store, 1_000_000)
    mine = budget(store, clock, None)
    assert mine.check([PAID]).places == (0,)
    assert mine.standing() == Standing("2026-11", None, Decimal(10_000), 0)


def test_a_month_is_that_of_the_persons_own_calendar(store: Store, clock: FakeClock) -> None:
    # In Berlin November begins at 23:00 UTC of 31 October and ends at 23:00 UTC of the 30th.
    spend(store, 1, "2026-10-31T22:59:59+00:00")
    spend(store, 10, "2026-10-31T23:00:00+00:00")
    spend(store, 100, "2026-11-30T22:59:59+00:00")
    spend(store, 1_000, "2026-11-30T23:00:00+00:00")
    assert budget(store, clock).standing().spent == Decimal("1.10")
    clock.advance(12 * 3600)
    assert budget(store, clock).standing() == Standing("2026-12", Decimal(10), Decimal(10), 0)


def test_months_are_named_as_in_iso_8601() -> None:
    now = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)
    berlin = ZoneInfo("Europe/Berlin")
    assert month(None, now, berlin).name == "2027-01"
    found = month("2026-12", now, berlin)
    assert found.end.isoformat() == "2027-01-01T00:00:00+01:00"
    for wrong in ("2026", "2026-13", "November", ""):
        with pytest.raises(UsageError, match="is no month"):
            month(wrong, now, berlin)


# --- in a turn -------------------------------------------------------------------------------


def budgeted(home: Path, cents: int, *models: ScriptedProvider) -> Lila:
    """A home with a budget of $10, of which so much is spent."""
    place = Home.at(home)
    place.create()
    place.settings_file.write_text("monthly_budget_usd = 10\n")
    with Store.open(place.profile_db("default")) as store:
        spend(store, cents)
    clock = FakeClock("2026-11-30T12:00:00+00:00")
    return open_lila(home, provider=models, clock=clock, embedder=HashEmbedder())


def test_a_turn_says_once_that_most_of_the_month_is_spent(home: Path) -> None:
    with budgeted(home, 900, ScriptedProvider("One.", "Two.")) as lila:
        first = asyncio.run(collect(lila, "Hello there"))
        second = asyncio.run(collect(lila, "And again", session="s1"))
    said = [event.text for event in first if isinstance(event, Notice)]
    assert said == ["$9.00 of this month's $10.00 are spent, 90 %"]
    assert not [event for event in second if isinstance(event, Notice)]


def test_a_turn_that_may_not_cost_anything_keeps_the_words_and_calls_nobody(home: Path) -> None:
    model = ScriptedProvider("never said")
    with budgeted(home, 1_000, model) as lila:
        with pytest.raises(MonthSpentError):
            asyncio.run(collect(lila, "Hello there"))
        assert lila.sessions.show("s1").turns[0].user == "Hello there"
        assert lila.costs.usage().lines[0].provider == "openai"
        assert len(lila.costs.usage().lines) == 1
    assert model.requests == []


def test_in_a_turn_that_may_not_cost_anything_the_model_on_this_machine_answers(
    home: Path,
) -> None:
    paid = ScriptedProvider("never said")
    small = ScriptedProvider("Here.", name="embedded/small")
    with budgeted(home, 1_000, paid, small) as lila:
        events = asyncio.run(collect(lila, "Hello there"))
    assert isinstance(events[-1], Done)
    assert events[-1].model == "embedded/small"
    assert any("embedded/small answers" in e.text for e in events if isinstance(e, Notice))
    assert paid.requests == []

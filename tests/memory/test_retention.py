"""How long each kind of memory is offered; nothing is deleted by it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.memory import retention
from lila_app.memory.promotion import Fading
from lila_app.storage import memories
from lila_app.storage.connection import Store
from lila_app.storage.memories import MemoryRow
from tests.memory.saying import life, rules, when

ROW = MemoryRow(
    id="m1",
    text="x",
    kind="fact",
    pinned=False,
    at=when(0),
    digest="",
    superseded_by=None,
    source_turn=None,
    external_ids=(),
    status="current",
    retention="durable",
    valid_from=None,
    valid_to=None,
    expires_at=None,
    closed_at=None,
)


@pytest.mark.parametrize(
    ("kind", "days", "left"),
    [
        ("durable", 4_000, 10_000),
        ("preference", 365, 10_000),
        ("preference", 4_000, 6_000),
        ("state", 2, 10_000),
        ("state", 14, 0),
        ("event", 30, 10_000),
        ("event", 365, 2_000),
        ("plan", 14, 10_000),
        ("plan", 37, 5_000),
        ("plan", 60, 0),
        ("chat", 0, 0),
        ("something of a newer version", 999, 10_000),
    ],
)
def test_each_kind_is_offered_for_its_time(kind: str, days: int, left: int) -> None:
    assert retention.offered(replace(ROW, retention=kind), when(days), rules()) == left


def test_what_is_pinned_keeps_all_of_it_and_what_is_core_while_it_holds() -> None:
    tired = replace(ROW, retention="state")
    assert retention.offered(replace(tired, pinned=True), when(900), rules()) == 10_000
    core = replace(tired, kind="core", valid_to="2026-01-20")
    assert retention.offered(core, when(19), rules()) == 10_000
    assert retention.offered(core, when(20), rules()) == 0


def test_a_plan_ends_a_day_after_its_date() -> None:
    ends = retention.expires("plan", date(2026, 1, 10), rules())
    assert ends == "2026-01-12T00:00:00+00:00"
    row = replace(ROW, retention="plan", expires_at=ends)
    assert retention.offered(row, when(10), rules()) == 10_000
    assert retention.offered(row, when(11), rules()) == 0
    assert retention.expires("durable", date(2026, 1, 10), rules()) is None
    assert retention.expires("plan", date.max, rules()) is None


def test_what_is_known_to_end_is_not_offered_afterwards() -> None:
    row = replace(ROW, valid_to="2026-02-01")
    assert retention.offered(row, when(20), rules()) == 10_000
    assert retention.offered(row, when(50), rules()) == 0


@given(
    st.builds(
        lambda full, more, least: Fading(full, full + more, least, 0),
        st.integers(0, 500),
        st.integers(0, 500),
        st.integers(0, 10_000),
    ),
    st.integers(0, 2_000),
)
def test_it_only_ever_falls_and_never_below_the_least(rule: Fading, days: int) -> None:
    now, then = retention.faded(days, rule), retention.faded(days + 1, rule)
    assert 10_000 >= now >= then >= rule.least


def test_what_is_no_longer_offered_is_still_there(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        person = life(store)
        person.say("Remember: I am tired.")
        (row,) = memories.list_memories(store)
        assert row.retention == "state"
        assert retention.offered(row, when(1), rules()) == 10_000
        assert retention.offered(row, when(30), rules()) == 0
        assert memories.get(store, row.id).status == "current"

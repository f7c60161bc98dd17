"""Fifty turns through the real assembler and the real SDK: what the prompt cache gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.paths import Home
from lila_app.sample import PROFILE
from lila_app.storage.connection import Store
from lila_app.testing import FakeClock
from tests.contracts.anthropic_server import AnthropicServer
from tests.contracts.asking_anthropic import NAME, factory
from tests.contracts.story import HEADING, TURNS, clock_in_l1, tell

pytestmark = pytest.mark.slow


def test_fifty_turns_read_what_an_ideal_client_reads_and_write_little_more(
    home: Path, server: AnthropicServer, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tell(home, server, factory(server), clock)
    with capsys.disabled():
        print(f"\n{HEADING}\n{told.row(NAME)}")
    assert told.sum.calls == TURNS
    assert told.sum.ideal_read > 0.7 * told.sum.total, "the chat is long enough to matter"
    assert told.sum.read_share >= 0.95
    assert told.sum.write_ratio <= 1.1
    # A cut is the one thing that leaves nothing to append to, and there are few.
    unread = [call for call in told.calls[3:] if call.read < 0.5 * call.total]
    assert len(unread) == told.cuts <= 5

    # Each call names the one before, and the provider's reason for a miss is kept: the summary.
    asked = [body["diagnostics"]["previous_message_id"] for body in server.bodies]
    assert asked == [None, *[f"msg_{number}" for number in range(1, TURNS)]]
    assert misses(home) == ["system_changed"] * told.cuts


def misses(home: Path) -> list[str]:
    """The provider's reasons in the ledger, oldest first."""
    database = Home.at(home).profile_db(PROFILE)
    with Store.open(database, read_only=True) as store, store.read() as connection:
        rows = connection.execute("select miss from usage where miss is not null order by id")
        return [row[0] for row in rows]


def test_turns_ten_minutes_apart_are_kept_for_an_hour_once_that_is_measured(
    home: Path, server: AnthropicServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def configured(place: Home) -> None:
        place.settings_file.write_text(f'model = "{NAME}"\n')
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-story")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.origin)

    told = tell(home, server, configured, clock, turns=20, between=600)
    # Five minutes until ten calls are measured, each for nothing; then an hour, and all is read.
    assert [call.read for call in told.calls[:11]] == [0] * 11
    assert [call.written_long for call in told.calls[:10]] == [0] * 10
    assert all(call.read > 0.5 * call.total for call in told.calls[-5:])
    assert told.calls[-1].written_long == told.calls[-1].written > 0


def test_the_person_is_told_what_the_server_counted(
    home: Path, server: AnthropicServer, clock: FakeClock
) -> None:
    told = tell(home, server, factory(server), clock, turns=6)
    said = [(usage.total, usage.read, usage.written) for usage in told.usages]
    assert said == [(call.total, call.read, call.written) for call in told.calls]


def test_with_a_clock_above_everything_nothing_is_read(
    home: Path, server: AnthropicServer, clock: FakeClock
) -> None:
    told = tell(home, server, factory(server), clock, turns=12, blocks=clock_in_l1())
    assert told.sum.ideal_read > 0
    assert told.sum.read == 0

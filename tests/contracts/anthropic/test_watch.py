"""What the watch says of a real chat through the real SDK, and of one with a clock at its top."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from lila_app.assistant import open_lila
from lila_app.costs.views import CacheReport
from lila_app.sample import PROFILE
from lila_app.testing import FakeClock
from tests.contracts.anthropic_server import AnthropicServer
from tests.contracts.asking_anthropic import NAME, factory
from tests.contracts.story import clock_in_l1, tell
from tests.stories.crash_child import HashEmbedder


def report(home: Path, clock: FakeClock) -> CacheReport:
    with open_lila(home, PROFILE, clock=clock, embedder=HashEmbedder()) as lila:
        return lila.cache.report()


@pytest.mark.slow
def test_a_chat_that_reads_its_cache_is_not_warned_about_cuts_included(
    home: Path, server: AnthropicServer, clock: FakeClock
) -> None:
    told = tell(home, server, factory(server), clock, turns=30)
    assert told.cuts > 0
    found = report(home, clock)
    assert found.warnings == ()
    (line,) = found.lines
    assert (line.model, line.calls) == (NAME, 30)
    assert line.read == sum(call.read for call in told.calls)
    assert line.written == sum(call.written for call in told.calls)
    assert line.saved is not None
    assert line.saved > 0
    (rolling,) = [one for one in line.breakpoints if one.after == "conversation"]
    assert (rolling.calls, rolling.gap, rolling.choice) == (30, 61, "short")


@pytest.mark.slow
def test_a_clock_at_the_top_is_named_as_the_block_that_differs(
    home: Path, server: AnthropicServer, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        told = tell(home, server, factory(server), clock, turns=6, blocks=clock_in_l1())
    assert told.sum.read == 0
    found = report(home, clock).warnings
    assert found
    assert {(one.cause, one.block, one.miss) for one in found} == {
        ("changed", "clock", "system_changed")
    }
    assert "block clock is not what it was; anthropic says system_changed" in found[0].text
    logged = [one.getMessage() for one in caplog.records if "cache read" in one.getMessage()]
    assert logged == [f"a promised cache read did not come: {NAME}, changed"] * len(found)


@pytest.mark.slow
def test_a_cache_that_was_lost_at_the_provider_is_the_providers(
    home: Path, server: AnthropicServer, clock: FakeClock
) -> None:
    def lose(text: str) -> None:
        server.cache.entries.clear()
        AnthropicServer.say(server, text)

    server.say = lose  # type: ignore[method-assign]
    tell(home, server, factory(server), clock, turns=5)
    found = report(home, clock).warnings
    assert found
    assert {(one.cause, one.block) for one in found} == {("provider", None)}
    clock.advance(timedelta(hours=13).total_seconds())
    with open_lila(home, PROFILE, clock=clock, embedder=HashEmbedder()) as lila:
        assert lila.cache.warnings(found[0].session_id) == ()  # no news any more

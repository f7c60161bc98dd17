"""Fifty turns through the real assembler and the real SDK: what OpenAI's prompt cache gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lila_app.context.items import ModelLimits
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import Provider
from lila_app.paths import Home
from lila_app.testing import FakeClock
from tests.contracts.asking_openai import AUTOMATIC, MARKS, openai
from tests.contracts.openai_server import OpenAIServer
from tests.contracts.story import HEADING, TURNS, clock_in_l1, tell

pytestmark = pytest.mark.slow

ROOMY = ModelLimits(window=400_000, context_budget=100_000, tools=True)


def factory(
    server: OpenAIServer, model: str = "gpt-5.6", contract: CacheContract = MARKS
) -> Callable[[Home], Provider]:
    return lambda _: openai(server, model, contract, limits=ROOMY)


def test_fifty_turns_read_what_an_ideal_client_reads_and_write_little_more(
    home: Path, server: OpenAIServer, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tell(home, server, factory(server), clock)
    with capsys.disabled():
        print(f"\n{HEADING}\n{told.row('openai/gpt-5.6')}")
    assert told.sum.calls == TURNS
    assert told.sum.ideal_read > 0.7 * told.sum.total, "the chat is long enough to matter"
    assert told.sum.read_share >= 0.95
    assert told.sum.write_ratio <= 1.1
    said = [(usage.total, usage.read, usage.written) for usage in told.usages]
    assert said == [(call.total, call.read, call.written) for call in told.calls]


def test_fifty_turns_of_an_earlier_model_read_nearly_all_by_themselves(
    home: Path, server: OpenAIServer, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tell(home, server, factory(server, "gpt-5.5", AUTOMATIC), clock)
    with capsys.disabled():
        print(f"\n{HEADING}\n{told.row('openai/gpt-5.5')}")
    assert told.sum.ideal_read > 0.7 * told.sum.total
    assert told.sum.read_share >= 0.95


@pytest.mark.parametrize(("model", "contract"), [("gpt-5.6", MARKS), ("gpt-5.5", AUTOMATIC)])
def test_with_a_clock_above_everything_nothing_is_read(
    home: Path, server: OpenAIServer, clock: FakeClock, model: str, contract: CacheContract
) -> None:
    provider = factory(server, model, contract)
    told = tell(home, server, provider, clock, turns=20, blocks=clock_in_l1())
    assert told.sum.ideal_read > 0
    assert told.sum.read == 0

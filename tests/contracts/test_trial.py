"""`lila models test` of remote models, by the real SDKs against servers that keep contracts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Literal

import pytest

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import AnthropicProvider
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini.provider import GeminiProvider
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.openai.provider import OpenAIProvider
from lila_app.gateway.port import Provider
from lila_app.gateway.prices import Cost
from lila_app.gateway.trial import Terms, trial
from lila_app.testing import FakeClock, MemoryLedger
from lila_app.views import Stage
from tests.contracts.anthropic_server import AnthropicServer, anthropic_server
from tests.contracts.gemini_server import GeminiServer, gemini
from tests.contracts.openai_server import KEY, OpenAIServer, openai_server
from tests.contracts.serving import OVERLOADED, RATE_LIMITED, REFUSED

Family = Literal["anthropic", "openai", "gemini"]
Serving = AnthropicServer | OpenAIServer | GeminiServer

FAMILIES: tuple[Family, ...] = ("anthropic", "openai", "gemini")
STAGES = ["reach", "auth", "stream", "schema", "cache on call 2", "cost"]
LIMITS = ModelLimits(window=400_000, context_budget=16_000)
GREEN = '{"colour": "green"}'
MINIMUM = {"anthropic": 512, "openai": 1_024, "gemini": 4_096}


@contextmanager
def serving(family: Family) -> Iterator[Serving]:
    match family:
        case "anthropic":
            with anthropic_server(minimum=MINIMUM[family]) as server:
                yield server
        case "openai":
            with openai_server() as server:
                yield server
        case "gemini":
            with gemini() as server:
                yield server


def provider(family: Family, server: Serving, key: str = KEY) -> Provider:
    match family:
        case "anthropic":
            name = "anthropic/claude-sonnet-5-5"
            contract = CacheContract("anthropic", minimum=MINIMUM[family])
            return AnthropicProvider(name, Access(server.origin, key), LIMITS, contract)
        case "openai":
            contract = CacheContract("breakpoints", minimum=MINIMUM[family])
            access = Access(f"{server.origin}/v1", key)
            return OpenAIProvider("openai/gpt-6.1-terra", access, LIMITS, contract)
        case "gemini":
            contract = CacheContract("contents", minimum=MINIMUM[family])
            access, clock = Access(server.origin, key), FakeClock()
            return GeminiProvider(
                "gemini/gemini-3.8-flash", access, LIMITS, contract, MemoryLedger(), clock
            )


def terms(family: Family, kept: list[Attempt] | None = None) -> Terms:
    """A cent a call, so that the sum is known."""
    kinds: dict[Family, Literal["anthropic", "breakpoints", "contents"]] = {
        "anthropic": "anthropic",
        "openai": "breakpoints",
        "gemini": "contents",
    }
    return Terms(
        key="…d3ad from keyring (test)",
        remote=True,
        contract=CacheContract(kinds[family], minimum=MINIMUM[family]),
        cost=lambda _: Cost(Decimal("0.01"), prices="a list"),
        record=(kept if kept is not None else []).append,
        now=lambda: "2026-11-30T12:00:00+00:00",
    )


async def stages(made: Provider, under: Terms) -> dict[str, Stage]:
    return {stage.name: stage async for stage in trial(made, under)}


def say(server: Serving, *replies: str) -> None:
    for reply in replies:
        server.say(reply)


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_remote_model_that_works_passes_every_stage(family: Family) -> None:
    kept: list[Attempt] = []
    with serving(family) as server:
        say(server, "Hello to you.", "Good night.", GREEN)
        found = await stages(provider(family, server), terms(family, kept))
    assert list(found) == STAGES
    assert [stage for stage in found.values() if not stage.ok] == []
    assert found["auth"].detail == "accepted: …d3ad from keyring (test)"
    assert found["schema"].detail == "the reply keeps to a JSON Schema"
    assert found["cost"].detail.startswith("$0.0300 for 3 calls: ")
    # The prefix is above the minimum the provider has, and not by much.
    for attempt in kept[:2]:
        assert attempt.usage.total is not None
        assert MINIMUM[family] < attempt.usage.total < 2 * MINIMUM[family] + 700
    assert [attempt.outcome for attempt in kept] == ["stop"] * 3
    assert {attempt.use_case for attempt in kept} == {"trial"}


@pytest.mark.parametrize("family", ["anthropic", "openai"])
async def test_the_second_call_really_reads_what_the_first_one_wrote(family: Family) -> None:
    kept: list[Attempt] = []
    with serving(family) as server:
        say(server, "Hello to you.", "Good night.", GREEN)
        found = await stages(provider(family, server), terms(family, kept))
    first, second, _ = (attempt.usage for attempt in kept)
    assert first.written and not first.read
    assert second.read == first.written
    assert f"{second.read:,} of {second.total:,} prompt" in found["cache on call 2"].detail


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_server_that_is_gone_fails_at_reach(family: Family) -> None:
    with serving(family) as server:
        server.fail(REFUSED)
        found = await stages(provider(family, server), terms(family))
    assert list(found) == ["reach"]
    assert not found["reach"].ok


async def test_a_wrong_key_fails_at_auth_and_is_not_repeated() -> None:
    with openai_server() as server:
        found = await stages(provider("openai", server, "sk-the-wrong-one"), terms("openai"))
    assert list(found) == ["reach", "auth"]
    assert found["reach"].ok and not found["auth"].ok
    assert "refused the key" in found["auth"].detail
    assert "sk-the-wrong-one" not in found["auth"].detail


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_model_that_asks_to_wait_fails_at_stream(family: Family) -> None:
    with serving(family) as server:
        server.fail(RATE_LIMITED)
        found = await stages(provider(family, server), terms(family))
    assert list(found) == ["reach", "auth", "stream"]
    assert not found["stream"].ok and "wait" in found["stream"].detail
    assert found["auth"].detail.startswith("not refused")


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_failure_on_its_side_is_named_with_its_number(family: Family) -> None:
    with serving(family) as server:
        server.fail(OVERLOADED)
        found = await stages(provider(family, server), terms(family))
    assert [stage.name for stage in found.values() if not stage.ok] == ["reach"]
    assert "529" in found["reach"].detail or "overloaded" in found["reach"].detail.lower()


async def test_a_cache_that_reads_nothing_fails_with_the_providers_reason() -> None:
    kept: list[Attempt] = []
    with anthropic_server(minimum=100_000) as server:
        say(server, "Hello to you.", "Good night.", GREEN)
        found = await stages(provider("anthropic", server), terms("anthropic", kept))
    assert [stage.name for stage in found.values() if not stage.ok] == ["cache on call 2"]
    assert found["cache on call 2"].detail.startswith("0 of ")


async def test_what_costs_an_unknown_amount_says_so() -> None:
    with openai_server() as server:
        say(server, "Hello to you.", "Good night.", GREEN)
        under = Terms(remote=True, cost=lambda _: Cost(None, "no price is known for it"))
        found = await stages(provider("openai", server), under)
    assert found["cost"].ok
    assert found["cost"].detail.startswith("no price is known for it; ")


def test_what_a_trial_will_use_is_near_what_it_used() -> None:
    expected = terms("gemini").usage
    assert expected.total is not None
    assert 2 * MINIMUM["gemini"] < expected.total < 3 * MINIMUM["gemini"]

"""The stand-ins obey the contract of the port they stand in for."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import ContextTooLarge, TruncatedReplyError, UnavailableError
from lila_app.gateway.port import Finished, Provider, TextDelta, ThinkingDelta, Usage
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.gateway.asking import Reply, ask, opened, request


async def test_replies_come_in_order_in_pieces_then_usage_then_the_end() -> None:
    provider: Provider = ScriptedProvider("one two", Scripted(("x", "y"), thinking="hm"))
    first = await ask(provider, request("a b c", system="s"))
    assert first.text == "one two"
    assert first.kinds == [TextDelta, TextDelta, Usage, Finished]
    assert first.usage == Usage(total=4, read=0, output=2)
    second = await ask(provider, request("a"))
    assert (second.thinking, second.text, second.kinds[0]) == ("hm", "xy", ThinkingDelta)


async def test_it_remembers_what_it_was_asked_and_what_it_was_warmed_with() -> None:
    provider = ScriptedProvider("yes")
    warmed, asked = request("a", max_tokens=0), request("a", "b", "c")
    await provider.warm(warmed)
    reply = await ask(provider, asked)
    assert (provider.warmed, provider.requests) == ([warmed], [asked])
    assert reply.usage.read == 6  # "You answer in few words." and "a"


async def test_each_slot_has_a_cache_of_its_own() -> None:
    provider = ScriptedProvider("1", "2", "3")
    await ask(provider, request("a b"))
    assert (await ask(provider, request("a b", slot="voice"))).usage.read == 0
    assert (await ask(provider, request("a b"))).usage.read == 7


@pytest.mark.parametrize(
    ("scripted", "error"),
    [
        (Scripted(("par",), error=UnavailableError("gone")), UnavailableError),
        (Scripted(("par",), whole=False), TruncatedReplyError),
    ],
)
async def test_a_scripted_fault_comes_after_the_pieces(
    scripted: Scripted, error: type[Exception]
) -> None:
    partial = Reply()
    with pytest.raises(error):
        await ask(ScriptedProvider(scripted), request("a"), partial)
    assert partial.text == "par"


async def test_a_prompt_beyond_the_window_is_refused_at_the_token_ratio() -> None:
    limits = ModelLimits(window=20, context_budget=10, token_ratio=20_000)
    provider = ScriptedProvider("yes", limits=limits)
    with pytest.raises(ContextTooLarge):
        await ask(provider, request("w " * 7, system="", max_tokens=8))
    assert (await ask(provider, request("w " * 6, system="", max_tokens=8))).text == "yes"


async def test_closing_and_cancelling_are_counted() -> None:
    slow = Scripted(("a", "b", "c"), delay=0.05)
    provider = ScriptedProvider(slow, slow)
    stream = opened(provider, request("a"))
    async for _ in stream:
        break
    await stream.aclose()
    assert provider.stopped == 1
    partial = Reply()
    asking = asyncio.create_task(ask(provider, request("a"), partial))
    await partial.began.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert provider.stopped == 2


async def test_an_empty_script_is_a_mistake_of_the_test() -> None:
    with pytest.raises(AssertionError, match="script is empty"):
        await ask(ScriptedProvider(), request("a"))


def test_the_clock_stands_until_it_is_moved() -> None:
    clock = FakeClock("2026-11-30T12:00:00+01:00")
    assert clock() == clock() == datetime.fromisoformat("2026-11-30T11:00:00+00:00")
    clock.advance(90)
    assert clock() - datetime.fromisoformat("2026-11-30T11:00:00+00:00") == timedelta(seconds=90)
    assert clock.iso() == "2026-11-30T11:01:30+00:00"
    with pytest.raises(AssertionError, match="zone"):
        FakeClock("2026-11-30T12:00:00")

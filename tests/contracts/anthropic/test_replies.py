"""The Messages API through the real SDK: every event, every field, and what leaves this machine."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import RequestRefusedError, TruncatedReplyError
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import BASE_URL, AnthropicProvider
from lila_app.gateway.port import (
    Call,
    Carried,
    Finished,
    ProviderEvent,
    Receipt,
    Result,
    Step,
    TextDelta,
    ThinkingDelta,
    Tool,
    Usage,
)
from tests.contracts.anthropic_server import AnthropicServer, Reply, ToolUse
from tests.contracts.asking_anthropic import (
    CONTRACT,
    KEY,
    NAME,
    anthropic,
    conversation,
    events,
    gathered,
)
from tests.contracts.serving import Exchange
from tests.waiting import PATIENCE, SOON

WEATHER = Tool(
    "weather",
    "The weather at a place.",
    {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
        "additionalProperties": False,
    },
)


async def test_a_reply_comes_in_pieces_then_the_account_then_the_end(
    server: AnthropicServer,
) -> None:
    said = await events(anthropic(server), conversation(0))
    counted = server.counted[0]
    assert counted.written > 600
    assert said == [
        TextDelta("Hel"),
        TextDelta("lo"),
        Receipt("msg_1"),
        Usage(total=counted.total, read=0, written=counted.written, output=7, written_long=0),
        Finished("stop"),
    ]


async def test_what_the_prompt_costs_is_said_before_the_first_word(server: AnthropicServer) -> None:
    """So a reply that the person stops is accounted for."""
    async with aclosing(anthropic(server).stream(conversation(0))) as stream:
        first = [await anext(stream), await anext(stream)]
    counted = server.counted[0]
    assert first == [
        Receipt("msg_1"),
        Usage(counted.total, 0, counted.written, output=1, written_long=0),
    ]


async def test_thinking_is_told_apart_and_not_carried_out_of_a_turn(
    server: AnthropicServer,
) -> None:
    server.script.append(Reply(thinking=("Let me ", "see."), redacted="secret"))
    said = await events(anthropic(server), conversation(0))
    assert said[:4] == [
        ThinkingDelta("Let me "),
        ThinkingDelta("see."),
        TextDelta("Hel"),
        TextDelta("lo"),
    ]
    assert [type(event) for event in said[4:]] == [Receipt, Usage, Finished]


async def test_a_call_comes_whole_whatever_its_pieces(server: AnthropicServer) -> None:
    pieces = ("", '{"pla', 'ce": "V\\u00e9r', 'on"}')
    server.script.append(
        Reply(calls=(ToolUse("toolu_1", "weather", pieces), ToolUse("toolu_2", "weather", ())))
    )
    said = await events(anthropic(server), replace(conversation(0), tools=(WEATHER,)))
    assert [event for event in said if isinstance(event, Call)] == [
        Call("toolu_1", "weather", '{"place": "V\\u00e9ron"}'),
        Call("toolu_2", "weather", "{}"),
    ]
    assert said[-1] == Finished("tools")
    assert not any(isinstance(event, Carried) for event in said), "there was no thinking"


async def test_a_call_that_was_cut_off_is_none(server: AnthropicServer) -> None:
    half = (ToolUse("toolu_1", "weather", ('{"place": "V',)),)
    server.script.append(Reply(calls=half, stop_reason="max_tokens"))
    said = await events(anthropic(server), replace(conversation(0), tools=(WEATHER,)))
    assert not any(isinstance(event, Call) for event in said)
    assert said[-1] == Finished("length")


async def test_the_tool_loop_carries_signed_thinking_back_unchanged(
    server: AnthropicServer,
) -> None:
    provider = anthropic(server)
    request = replace(conversation(2), tools=(WEATHER,))
    server.script.append(
        Reply(
            pieces=("I ", "look."),
            thinking=("The ferry ", "needs wind."),
            redacted="dark",
            calls=(ToolUse("toolu_1", "weather", ('{"place": "Faro"}',)),),
        )
    )
    first = await events(provider, request)
    carried = tuple(event for event in first if isinstance(event, Carried))
    assert [each.model for each in carried] == [NAME]
    (call,) = [event for event in first if isinstance(event, Call)]
    step = Step("I look.", (Result(call, "18 degrees"),), carried)
    second = await events(provider, replace(request, steps=(step,)))
    assert second[-1] == Finished("stop")
    # The server checks each signature against the model and the words; here it is seen whole.
    assert server.bodies[1]["messages"][5]["content"] == [
        {
            "type": "thinking",
            "thinking": "The ferry needs wind.",
            "signature": "signed:The ferry needs wind.",
        },
        {"type": "redacted_thinking", "data": "signed:dark"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"place": "Faro"}},
    ]


async def test_thinking_of_one_model_would_be_refused_by_another(server: AnthropicServer) -> None:
    thought = [{"type": "thinking", "thinking": "a", "signature": "signed:a"}]
    call = Call("toolu_1", "weather", "{}")
    use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    carried = Carried("anthropic/claude-opus-5-5", json.dumps([*thought, use]))
    request = replace(
        conversation(0), tools=(WEATHER,), steps=(Step("", (Result(call, "x"),), (carried,)),)
    )
    assert (await events(anthropic(server), request))[-1] == Finished("stop")
    with pytest.raises(RequestRefusedError, match="signature"):
        await events(anthropic(server, "anthropic/claude-opus-5-5"), request)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
    ],
)
async def test_how_a_reply_ended(
    server: AnthropicServer, stop: str, reason: Literal["stop", "length"]
) -> None:
    server.script.append(Reply(stop_reason=stop))
    assert (await events(anthropic(server), conversation(0)))[-1] == Finished(reason)


async def test_a_refusal_is_an_error_and_is_paid_for(server: AnthropicServer) -> None:
    server.script.append(Reply(stop_reason="refusal", explanation="It looks like an exploit."))
    said: list[ProviderEvent] = []
    with pytest.raises(RequestRefusedError, match=r"content filter.*exploit"):
        await gathered(anthropic(server), conversation(0), said)
    assert [type(event) for event in said] == [TextDelta, TextDelta, Receipt, Usage]


async def test_a_paused_turn_is_not_a_whole_reply(server: AnthropicServer) -> None:
    server.script.append(Reply(stop_reason="pause_turn"))
    with pytest.raises(TruncatedReplyError):
        await events(anthropic(server), conversation(0))


async def test_the_last_counts_win_and_the_total_is_all_three(server: AnthropicServer) -> None:
    server.script.append(Reply(late=2, output=41))
    said = await events(anthropic(server), conversation(0, ttls=("long", "short")))
    (usage,) = [event for event in said if isinstance(event, Usage)]
    use = server.uses[0]
    assert usage == Usage(
        total=use.uncached + use.read + 2 + use.creation + 2,
        read=use.read + 2,
        written=use.creation + 2,
        output=41,
        written_long=use.written["1h"],
    )
    assert usage.written_long == use.prompt.tokens(0)


async def test_what_a_compatible_server_does_not_report_is_not_zero(
    server: AnthropicServer,
) -> None:
    def plain(exchange: Exchange) -> None:
        usage = {"input_tokens": 30, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "x"}
        exchange.begin()
        exchange.event(
            "message_start", {"type": "message_start", "message": message | {"usage": usage}}
        )
        start = {"type": "text", "text": "Hi"}
        exchange.event(
            "content_block_start",
            {"type": "content_block_start", "index": 0, "content_block": start},
        )
        exchange.event("content_block_stop", {"type": "content_block_stop", "index": 0})
        exchange.event("new_kind", {"type": "new_kind", "index": 0})
        delta = {"stop_reason": "end_turn"}
        counts = {"output_tokens": 3, "input_tokens": None}
        last = {"type": "message_delta", "delta": delta, "usage": counts}
        exchange.event("message_delta", last)
        exchange.event("message_stop", {"type": "message_stop"})
        exchange.end()

    server.instead = plain
    assert await events(anthropic(server), conversation(0)) == [
        TextDelta("Hi"),
        Receipt("m"),
        Usage(total=30, output=3),
        Finished("stop"),
    ]


async def test_a_schema_is_asked_for(server: AnthropicServer) -> None:
    schema = {
        "type": "object",
        "properties": {"mood": {"type": "string", "enum": ["good", "bad"]}},
        "required": ["mood"],
        "additionalProperties": False,
    }
    server.script.append(Reply(pieces=('{"mood": ', '"good"}')))
    said = await events(anthropic(server), replace(conversation(0), schema=schema))
    text = "".join(event.text for event in said if isinstance(event, TextDelta))
    assert json.loads(text) == {"mood": "good"}
    assert server.bodies[0]["output_config"]["format"]["schema"] == schema


async def test_nothing_of_the_machine_or_its_environment_leaves(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-someone-elses")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-someone-elses")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-team: secret\nanthropic-beta: odd")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    await events(anthropic(server), conversation(0))
    headers = server.seen[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["user-agent"] == "lila"
    assert set(headers) == {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
        "authorization",
        "anthropic-version",
    }


async def test_without_a_key_none_is_sent(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_PROFILE", "somebody")  # would be looked for on the disk
    seen: list[dict[str, str]] = []
    server.instead = lambda exchange: (seen.append(exchange.headers), exchange.drop())[1]
    with pytest.raises(Exception, match="broke off"):
        await events(anthropic(server, key=""), conversation(0))
    assert "authorization" not in seen[0]


def test_the_provider_says_its_name_and_limits_and_keeps_its_key() -> None:
    limits = ModelLimits(window=200_000, context_budget=9_000)
    provider = AnthropicProvider(NAME, Access("", KEY), limits, CONTRACT)
    assert (provider.name, provider.limits()) == (NAME, limits)
    assert BASE_URL == "https://api.anthropic.com"
    assert KEY not in repr(vars(provider))


async def test_warming_asks_and_pays_for_nothing(server: AnthropicServer) -> None:
    provider = anthropic(server)
    await provider.warm(conversation(3))
    await provider.close()
    await provider.close()
    assert server.seen == []


@pytest.mark.parametrize("how", ["close", "cancel"])
async def test_stopping_hangs_up_at_once(server: AnthropicServer, how: str) -> None:
    began, over = threading.Event(), threading.Event()

    def endless(exchange: Exchange) -> None:
        exchange.begin()
        start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
        exchange.event("content_block_start", start)
        delta = {"type": "text_delta", "text": "on and "}
        made = {"type": "content_block_delta", "index": 0, "delta": delta}
        exchange.until_hung_up(
            lambda: (exchange.event("content_block_delta", made), began.set())[1]
        )
        over.set()

    server.instead = endless
    said: list[ProviderEvent] = []
    if how == "cancel":
        task = asyncio.create_task(gathered(anthropic(server), conversation(0), said))
        await asyncio.to_thread(began.wait, PATIENCE)
        stopped = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        stream = anthropic(server).stream(conversation(0))
        assert await anext(stream) == TextDelta("on and ")
        stopped = time.monotonic()
        await stream.aclose()
    assert await asyncio.to_thread(over.wait, PATIENCE)
    assert time.monotonic() - stopped < SOON
    assert server.seen[0].broken.is_set()


def test_one_provider_serves_many_event_loops_at_once(server: AnthropicServer) -> None:
    provider = anthropic(server)
    found: list[ProviderEvent] = []

    def one() -> None:
        found.append(asyncio.run(events(provider, conversation(1)))[-1])

    threads = [threading.Thread(target=one) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [Finished("stop")] * 5

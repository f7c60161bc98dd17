"""OpenAI's Responses API through the real SDK: events, tools, schemas, ends and what is sent."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.openai import OpenAIProvider, wire
from lila_app.gateway.port import (
    Call,
    Carried,
    Finished,
    Message,
    Receipt,
    Request,
    Result,
    Step,
    TextDelta,
    ThinkingDelta,
    Tool,
    Usage,
)
from tests.contracts.asking_openai import AUTOMATIC, HI, MARKS, openai, said
from tests.contracts.openai_server import KEY, OpenAIServer, Said
from tests.contracts.serving import STALLED_FIRST
from tests.waiting import PATIENCE, SOON

TOOL = Tool(
    "memory_search",
    "Search what was remembered.",
    {
        "type": "object",
        "required": ["query"],
        "properties": {"query": {"type": "string"}},
        "additionalProperties": False,
    },
)


async def test_a_reply_comes_in_pieces_then_receipt_usage_and_the_end(server: OpenAIServer) -> None:
    first, second, receipt, usage, end = await said(openai(server))
    assert (first, second, end) == (TextDelta("Hel"), TextDelta("lo"), Finished("stop"))
    assert receipt == Receipt("resp_1")
    # In the server's bytes: 12 before the messages, 20 and 15 for them, and four are a token.
    assert usage == Usage(total=11, read=0, written=0, output=7, written_long=0)


async def test_what_is_sent_is_what_is_meant_and_nothing_about_the_person(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-meant-for-somebody-else")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-somebody")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: hush\nAuthorization: Bearer secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    await said(openai(server))
    (seen,) = server.seen
    assert seen.path == "/v1/responses"
    key = seen.body.pop("prompt_cache_key")
    assert isinstance(key, str) and len(key) == 32
    developer = [{"type": "input_text", "text": "Be kind."}]
    person = [{"type": "input_text", "text": "---\n"}, {"type": "input_text", "text": "Hi."}]
    assert seen.body == {
        "model": "gpt-5.6",
        "input": [
            {"type": "message", "role": "developer", "content": developer},
            {"type": "message", "role": "user", "content": person},
        ],
        "max_output_tokens": 100 + 8_192,  # it thinks, and that counts
        "store": False,
        "stream": True,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_options": {"mode": "explicit"},
    }
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    words = " ".join([*seen.headers, *seen.headers.values()]).lower()
    for word in ("secret", "hush", "somebody", "stainless", "openai"):
        assert word not in words


async def test_earlier_models_are_told_a_key_and_nothing_else_about_caching(
    server: OpenAIServer,
) -> None:
    await said(openai(server, "gpt-4.1", AUTOMATIC))
    body = server.seen[0].body
    assert "prompt_cache_key" in body
    assert "prompt_cache_options" not in body and "breakpoint" not in json.dumps(body)
    assert "include" not in body  # models that do not reason refuse it


async def test_every_event_the_server_sends_is_one_of_the_sdks_types(server: OpenAIServer) -> None:
    import httpx2

    server.reply = lambda body: Said(thinks="Hm.", calls=(("memory_search", '{"query": "a"}'),))
    body = {"model": "gpt-5.6", "input": "hi", "stream": True}
    async with httpx2.AsyncClient(trust_env=False) as client:
        headers = {"authorization": f"Bearer {KEY}"}
        answer = await client.post(f"{server.base_url}/responses", json=body, headers=headers)
    lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    types = TypeAdapter(ResponseStreamEvent)
    for event in events:
        types.validate_python(event)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert answer.headers["x-request-id"] == "req_resp_1"


async def test_thinking_is_kept_apart(server: OpenAIServer) -> None:
    server.reply = lambda body: Said(thinks="Hm, well.")
    events = await said(openai(server))
    assert events[:2] == [ThinkingDelta("Hm, well."), TextDelta("Hel")]
    assert not [event for event in events if isinstance(event, Carried)]  # nothing follows it


async def test_a_refusal_is_what_the_model_says_to_the_person(server: OpenAIServer) -> None:
    server.reply = lambda body: Said(pieces=("I would ", "rather not."), refuses=True)
    events = await said(openai(server))
    assert events[:2] == [TextDelta("I would "), TextDelta("rather not.")]
    assert events[-1] == Finished("stop")


async def test_a_reply_at_its_limit_says_so(server: OpenAIServer) -> None:
    server.reply = lambda body: Said(ends="incomplete", why="max_output_tokens")
    events = await said(openai(server))
    assert events[-1] == Finished("length")
    assert isinstance(events[-2], Usage)


async def test_a_call_cut_at_the_limit_is_no_call(server: OpenAIServer) -> None:
    cut = Said((), (("a", "{}"), ("b", '{"que')), ends="incomplete", why="max_output_tokens")
    server.reply = lambda body: cut
    events = await said(openai(server), replace(HI, tools=(TOOL,)))
    assert [event.name for event in events if isinstance(event, Call)] == ["a"]
    assert events[-1] == Finished("length")


async def test_few_tokens_are_the_fewest_the_api_takes(server: OpenAIServer) -> None:
    await said(openai(server, "gpt-4.1", AUTOMATIC), replace(HI, max_tokens=1))
    assert server.seen[0].body["max_output_tokens"] == 16


@pytest.mark.parametrize(
    ("model", "contract", "effort", "limit"),
    [
        ("gpt-4.1", AUTOMATIC, None, 100),
        ("gpt-5", AUTOMATIC, None, 100 + 8_192),
        ("o3", AUTOMATIC, "high", 100 + 25_000),
        ("gpt-6.1", MARKS, "low", 100 + 2_048),
    ],
)
def test_effort_is_asked_for_and_thinking_has_room_beside_the_reply(
    model: str, contract: CacheContract, effort: Any, limit: int
) -> None:
    body = wire.body(replace(HI, effort=effort), f"openai/{model}", contract)
    assert body["max_output_tokens"] == limit
    assert body.get("reasoning") == (None if effort is None else {"effort": effort})


async def test_thinking_that_came_unsealed_is_not_carried(server: OpenAIServer) -> None:
    wanted = Said((), (("memory_search", "{}"),), thinks="Hm.", sealed=False)
    server.reply = lambda body: wanted
    asked = openai(server, "gpt-5", AUTOMATIC)
    events = await said(asked, replace(HI, tools=(TOOL,)))
    assert not [event for event in events if isinstance(event, Carried)]
    assert events[-1] == Finished("tools")


async def test_a_schema_is_asked_for_strictly_and_keeps_its_order(server: OpenAIServer) -> None:
    properties = {"why": {"type": "string"}, "how": {"type": "string"}}
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["why", "how"],
        "additionalProperties": False,
    }
    await said(openai(server), replace(HI, schema=schema))
    text = server.seen[0].body["text"]
    form = {"type": "json_schema", "name": "reply", "schema": schema, "strict": True}
    assert text == {"format": form}
    assert b'"why":{"type"' in server.seen[0].raw.replace(b" ", b"")
    assert server.seen[0].raw.index(b'"why"') < server.seen[0].raw.index(b'"how"')


async def test_tools_are_sorted_strict_and_the_same_bytes_whatever_order_they_came_in(
    server: OpenAIServer,
) -> None:
    turned = Tool(TOOL.name, TOOL.description, dict(sorted(TOOL.parameters.items())))
    other = replace(TOOL, name="add_goal")
    await said(openai(server), replace(HI, tools=(TOOL, other)))
    await said(openai(server), replace(HI, tools=(other, turned)))
    tools = server.seen[0].body["tools"]
    assert isinstance(tools, list)
    assert [tool["name"] for tool in tools] == ["add_goal", "memory_search"]
    assert all(tool["strict"] is True for tool in tools)
    assert server.seen[0].raw == server.seen[1].raw


async def test_calls_come_whole_and_the_turn_waits_for_their_results(server: OpenAIServer) -> None:
    wanted = (("memory_search", '{"query": "boat"}'), ("memory_search", '{"query": "wall"}'))
    server.reply = lambda body: Said(pieces=("Let me look.",), calls=wanted)
    events = await said(openai(server), replace(HI, tools=(TOOL,)))
    calls = [event for event in events if isinstance(event, Call)]
    assert calls == [
        Call("call_resp_1_1", "memory_search", '{"query": "boat"}'),
        Call("call_resp_1_2", "memory_search", '{"query": "wall"}'),
    ]
    assert events[-1] == Finished("tools")


async def a_step(server: OpenAIServer, asked: OpenAIProvider) -> Step:
    """The model's first answer in a turn with a tool, and what the tool returned."""
    called = (("memory_search", '{"query": "boat"}'),)
    server.reply = lambda body: Said(("Let me look.",), called, thinks="A boat?")
    events = await said(asked, replace(HI, tools=(TOOL,)))
    server.reply = lambda body: Said()
    results = tuple(Result(call, "It is red.") for call in events if isinstance(call, Call))
    carried = tuple(event for event in events if isinstance(event, Carried))
    return Step("Let me look.", results, carried)


async def test_within_a_turn_the_models_own_output_goes_back_as_it_came(
    server: OpenAIServer,
) -> None:
    asked = openai(server)
    step = await a_step(server, asked)
    assert [carried.model for carried in step.carried] == ["openai/gpt-5.6"]
    await said(asked, replace(HI, tools=(TOOL,), steps=(step,)))
    items = server.seen[1].body["input"]
    assert isinstance(items, list)
    thought, words, call, output = items[2:]
    assert thought["encrypted_content"] == "sealed:rs_resp_1"
    assert words["content"][0]["text"] == "Let me look."
    assert (call["call_id"], call["arguments"]) == ("call_resp_1_2", '{"query": "boat"}')
    assert output == {
        "type": "function_call_output",
        "call_id": "call_resp_1_2",
        "output": "It is red.",
    }


async def test_another_model_sees_what_was_said_and_found_and_no_thinking(
    server: OpenAIServer,
) -> None:
    step = await a_step(server, openai(server))
    await said(openai(server, "gpt-6.1"), replace(HI, tools=(TOOL,), steps=(step,)))
    items = server.seen[1].body["input"]
    assert isinstance(items, list)
    assert items[2] == {"type": "message", "role": "assistant", "content": "Let me look."}
    assert [item["type"] for item in items[3:]] == ["function_call", "function_call_output"]
    assert b"sealed" not in server.seen[1].raw


async def test_a_failed_result_says_so(server: OpenAIServer) -> None:
    step = Step("", (Result(Call("c1", "memory_search", "{}"), "no such table", failed=True),))
    await said(openai(server), replace(HI, tools=(TOOL,), steps=(step,)))
    items = server.seen[0].body["input"]
    assert isinstance(items, list)
    assert items[-1]["output"] == "failed: no such table"


async def test_half_a_character_does_not_break_a_turn(server: OpenAIServer) -> None:
    broken = Request((Message("user", "a\ud83d"),), max_tokens=20)
    assert (await said(openai(server), broken))[-1] == Finished("stop")


async def test_closing_the_stream_hangs_up_at_once(server: OpenAIServer) -> None:
    server.reply = lambda body: Said(pieces=("x",) * 100_000)
    stream = openai(server).stream(HI)
    async for event in stream:
        assert isinstance(event, TextDelta)
        break
    started = time.monotonic()
    await stream.aclose()
    assert time.monotonic() - started < SOON
    assert await asyncio.to_thread(server.seen[0].broken.wait, SOON)


async def test_cancelling_before_the_first_word_hangs_up_at_once(server: OpenAIServer) -> None:
    server.fail(STALLED_FIRST)
    asking = asyncio.create_task(said(openai(server)))
    await asyncio.to_thread(server.asked.wait, PATIENCE)
    started = time.monotonic()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert time.monotonic() - started < SOON
    assert await asyncio.to_thread(server.seen[0].broken.wait, SOON)


async def test_nothing_is_awaited_once_the_terminal_event_came(server: OpenAIServer) -> None:
    """A server that keeps the connection open after its last event holds nobody up."""
    server.reply = lambda body: Said(lingers=True)
    assert (await said(openai(server)))[-1] == Finished("stop")
    assert await asyncio.to_thread(server.seen[0].broken.wait, SOON)  # it was the one to hang up


@pytest.mark.parametrize("lingers", [True, False])
async def test_a_stream_that_is_left_leaves_nothing_behind(
    server: OpenAIServer, lingers: bool
) -> None:
    """Generators left suspended are collected in any thread, after their loop, with a warning."""
    server.reply = lambda body: Said(pieces=("x",) * 50, lingers=lingers)
    await said(openai(server))
    stream = openai(server).stream(HI)
    assert await anext(stream) == TextDelta("x")
    await stream.aclose()
    left = [each for each in gc.get_objects() if inspect.isasyncgen(each) and each.ag_frame]
    assert not [each for each in left if "openai" in each.ag_code.co_filename]


async def test_warming_costs_nothing_unless_it_is_asked_for_with_a_request(
    server: OpenAIServer,
) -> None:
    await openai(server).warm(replace(HI, max_tokens=0))
    assert not server.seen


async def test_a_request_for_no_tokens_warms_the_prefix(server: OpenAIServer) -> None:
    events = await said(openai(server), replace(HI, max_tokens=0))
    body = server.seen[0].body
    assert body["prompt_cache_options"] == {"mode": "explicit", "prewarm": True}
    assert "max_output_tokens" not in body
    assert [type(event) for event in events] == [Receipt, Usage, Finished]

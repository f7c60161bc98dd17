"""Calls of tools over Chat Completions, in the ways servers word them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

import pytest

from lila_app.gateway.port import (
    CachePlan,
    Call,
    Finished,
    ProviderEvent,
    Receipt,
    Result,
    Step,
    TextDelta,
    Tool,
    Usage,
)
from tests.gateway.asking import ask, opened, request
from tests.gateway.chat_server import ChatServer, Exchange
from tests.gateway.compatible import provider

TOOL = Tool(
    "search", "Search.", {"type": "object", "properties": {}, "additionalProperties": False}
)


async def events_of(server: ChatServer) -> list[ProviderEvent]:
    asked = replace(request("Hi."), tools=(TOOL,))
    async with aclosing(opened(provider(server), asked)) as events:
        return [event async for event in events]


def wanting(*pieces: dict[str, object], ends: str = "tool_calls") -> Callable[[Exchange], None]:
    """A reply that asks for tools, piece by piece."""

    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.piece("Let me look.")
        for piece in pieces:
            exchange.piece(None, tool_calls=[piece])
        exchange.piece(None, ends)
        exchange.usage(prompt_tokens=5, completion_tokens=1, total_tokens=6)
        exchange.done()

    return answer


def of(index: int, arguments: object, **more: object) -> dict[str, object]:
    named = {"name": more.pop("name")} if "name" in more else {}
    return {"index": index, "function": {**named, "arguments": arguments}, **more}


async def test_calls_are_put_together_from_their_pieces(server: ChatServer) -> None:
    server.instead = wanting(
        of(0, "", id="a", type="function", name="search"),
        of(0, '{"q": '),
        of(1, '{"q": "wall"}', id="b", type="function", name="search"),
        of(0, '"boat"}'),
    )
    assert await events_of(server) == [
        TextDelta("Let me look."),
        Call("a", "search", '{"q": "boat"}'),
        Call("b", "search", '{"q": "wall"}'),
        Receipt("c1"),
        Usage(total=5, output=1),
        Finished("tools"),
    ]


@pytest.mark.parametrize(
    ("pieces", "ends", "calls"),
    [
        # Whole calls that all say they are the first; an end that says nothing of tools.
        ((of(0, "{}", id="a", name="x"), of(0, "{}", id="b", name="y")), "stop", ["x", "y"]),
        # No id, and arguments that are an object already.
        ((of(0, {"q": 1}, name="x"),), "tool_calls", ["x"]),
        # Nothing to say in the arguments.
        ((of(0, "", id="a", name="x"),), "tool_calls", ["x"]),
        # Cut by the limit: it may not be whole.
        ((of(0, '{"q', id="a", name="x"),), "length", []),
    ],
)
async def test_servers_word_calls_in_their_own_ways(
    server: ChatServer, pieces: tuple[dict[str, object], ...], ends: str, calls: list[str]
) -> None:
    server.instead = wanting(*pieces, ends=ends)
    events = await events_of(server)
    found = [event for event in events if isinstance(event, Call)]
    assert [call.name for call in found] == calls
    assert all(call.id and isinstance(json.loads(call.arguments), dict) for call in found)
    assert len({call.id for call in found}) == len(found)
    assert events[-1] == Finished("tools" if calls else "length")


async def test_tools_and_the_steps_of_a_turn_are_sent_and_nothing_about_caching(
    server: ChatServer,
) -> None:
    one, two = Call("a", "search", '{"q": "boat"}'), Call("b", "search", "{}")
    results = (Result(one, "It is <|im_end|> red."), Result(two, "no such table", failed=True))
    asked = replace(
        request("Hi."),
        tools=(TOOL, replace(TOOL, name="add")),
        steps=(Step("Let me look.", results),),
        effort="high",
        cache=CachePlan(profile="p", previous="c0", ttls=("long",)),
    )
    asked = replace(
        asked, messages=(replace(asked.messages[0], breakpoint=True), asked.messages[1])
    )
    await ask(provider(server), asked)
    body = server.seen[0].body
    assert sorted(body) == ["max_tokens", "messages", "model", "stream", "stream_options", "tools"]
    schema = {"additionalProperties": False, "properties": {}, "type": "object"}
    described = {"description": "Search.", "parameters": schema, "strict": True}
    assert body["tools"] == [
        {"type": "function", "function": {"name": "add", **described}},
        {"type": "function", "function": {"name": "search", **described}},
    ]
    messages = body["messages"]
    assert isinstance(messages, list)
    function = {"name": "search", "arguments": '{"q": "boat"}'}
    assert messages[2:] == [
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": function},
                {"id": "b", "type": "function", "function": {"name": "search", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "It is < |im_end|> red."},
        {"role": "tool", "tool_call_id": "b", "content": "failed: no such table"},
    ]

"""The real OpenAI SDK against a loopback server: what is sent, what comes, and hanging up."""

from __future__ import annotations

import asyncio
import time

import pytest

from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
from lila_app.gateway.port import TextDelta, Usage
from tests.gateway.asking import ask, opened, request
from tests.gateway.chat_server import ChatServer, Exchange
from tests.gateway.compatible import LIMITS, provider
from tests.waiting import SOON, until


async def test_a_reply_comes_in_pieces_then_usage_then_the_end(server: ChatServer) -> None:
    reply = await ask(provider(server), request("Hi."))
    assert (reply.text, reply.ended) == ("Hello", "stop")
    assert reply.usage == Usage(total=30, read=24, written=None, output=2)


async def test_the_model_and_the_messages_are_sent_and_nothing_about_the_person(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-meant-for-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: hush")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/v1")
    await ask(provider(server), request("Hi.", system="Be kind.", max_tokens=7))
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Hi."},
        ],
        "max_tokens": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    said = " ".join([*seen.headers, *seen.headers.values()])
    assert "authorization" not in seen.headers
    for word in ("secret", "hush", "somebody", "stainless", "openai"):
        assert word not in said.lower()


async def test_a_key_is_sent_when_there_is_one(server: ChatServer) -> None:
    await ask(provider(server, key="k1"), request("Hi."))
    assert server.seen[0].headers["authorization"] == "Bearer k1"


async def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert (await ask(provider(server), request("Hi."))).text == "Hello"


async def test_a_schema_is_asked_for(server: ChatServer) -> None:
    await ask(provider(server), request("Hi.", schema={"type": "object"}))
    assert server.seen[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}},
    }


async def test_markers_inside_a_document_are_broken(server: ChatServer) -> None:
    await ask(provider(server), request("see <|im_start|>system and [INST] and <|eot_id|>"))
    messages = server.seen[0].body["messages"]
    assert isinstance(messages, list)
    assert messages[1]["content"] == "see < |im_start|>system and [ INST] and < |eot_id|>"


async def test_thinking_is_kept_apart_whichever_way_it_is_said(server: ChatServer) -> None:
    def thinks(exchange: Exchange) -> None:
        exchange.begin()
        exchange.piece(None, reasoning_content="Hm, ")  # llama-server, vLLM
        exchange.piece("", reasoning="well.")  # Ollama
        exchange.piece("Yes.")
        exchange.piece(None, "stop")
        exchange.done()

    server.instead = thinks
    reply = await ask(provider(server), request("Hi."))
    assert (reply.thinking, reply.text) == ("Hm, well.", "Yes.")


@pytest.mark.parametrize("details", [{}, {"prompt_tokens_details": None}])
async def test_a_cache_nobody_reports_is_unknown_and_not_zero(
    server: ChatServer, details: dict[str, object]
) -> None:
    def ollama(exchange: Exchange) -> None:
        exchange.begin()
        exchange.piece("Yes.", "stop")
        exchange.usage(prompt_tokens=5, completion_tokens=1, total_tokens=6, **details)
        exchange.done()

    server.instead = ollama
    usage = (await ask(provider(server), request("Hi."))).usage
    assert usage == Usage(total=5, read=None, written=None, output=1)


async def test_no_usage_at_all_is_no_usage_event(server: ChatServer) -> None:
    def silent(exchange: Exchange) -> None:
        exchange.begin()
        exchange.piece("Yes.", "length")
        exchange.done()

    server.instead = silent
    reply = await ask(provider(server), request("Hi."))
    assert Usage not in reply.kinds
    assert reply.ended == "length"


async def test_closing_the_stream_hangs_up_at_once(server: ChatServer) -> None:
    server.instead = lambda exchange: (exchange.begin(), exchange.until_broken("x"))[0]
    stream = opened(provider(server), request("Hi."))
    async for event in stream:
        assert isinstance(event, TextDelta)
        break
    started = time.monotonic()
    await stream.aclose()
    assert time.monotonic() - started < SOON
    assert await asyncio.to_thread(server.seen[0].broken.wait, SOON)


async def test_cancelling_before_the_first_word_hangs_up_at_once(server: ChatServer) -> None:
    server.instead = lambda exchange: exchange.stall()
    asking = asyncio.create_task(ask(provider(server), request("Hi.")))
    await asyncio.to_thread(until, lambda: bool(server.seen))
    started = time.monotonic()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert time.monotonic() - started < SOON
    assert await asyncio.to_thread(server.seen[0].broken.wait, SOON)


async def test_warming_asks_a_server_on_this_machine_for_one_token(server: ChatServer) -> None:
    await provider(server).warm(request("Hi.", max_tokens=0))
    assert server.seen[0].body["max_tokens"] == 1


async def test_warming_never_asks_another_machine() -> None:
    far = OpenAICompatibleProvider("far/m", Endpoint("https://models.example/v1", "k"), LIMITS)
    await far.warm(request("Hi.", max_tokens=0))  # a call would fail: tests have no network

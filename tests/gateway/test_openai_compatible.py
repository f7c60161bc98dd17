"""The real OpenAI SDK against a loopback server that behaves well, and badly in every known way."""

from __future__ import annotations

import asyncio
import json
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TruncatedReplyError,
    UnavailableError,
)
from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
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
from tests.gateway.asking import Reply, ask, opened, request
from tests.gateway.chat_server import ChatServer, Exchange, hello, serving
from tests.waiting import SOON, until

LIMITS = ModelLimits(window=8_192, context_budget=4_000)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(hello) as running:
        yield running


def provider(
    server: ChatServer, *, key: str | None = None, name: str = "local/m"
) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider(name, Endpoint(server.base_url, key), LIMITS)


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


async def test_an_account_without_money_is_not_asked_to_wait(server: ChatServer) -> None:
    server.instead = _error(429, "You exceeded your quota.", code="insufficient_quota")
    with pytest.raises(SpendLimitError, match="exceeded your quota"):
        await ask(provider(server), request("Hi."))
    server.instead = _error(402, "Insufficient credits.")
    with pytest.raises(SpendLimitError):
        await ask(provider(server), request("Hi."))


def _error(status: int, message: str = "no", **more: object) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.json(status, {"error": {"message": message, **more}})


def _dropped(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.drop()


def _cut(exchange: Exchange) -> None:
    """A proxy that closes the stream politely in the middle of a reply."""
    exchange.begin()
    exchange.piece("Hel")
    exchange.end()


def _cut_before_the_reason(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hello")
    exchange.done()


def _garbage(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.data("{not json")
    exchange.done()


def _error_in_the_stream(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.data('{"error": {"message": "out of memory", "code": 500}}')
    exchange.done()


def _filtered(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel", "content_filter")
    exchange.done()


def _web_page(exchange: Exchange) -> None:
    exchange.text(200, "<html>a router's login page</html>")


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (_error(401), AuthenticationError, "refused the key"),
        (_error(403), AuthenticationError, "refused the key"),
        (_error(404, "model not found"), RequestRefusedError, "model not found"),
        (_error(400, "bad"), RequestRefusedError, r"\(400\): bad"),
        (_error(422), RequestRefusedError, r"\(422\)"),
        (_error(500), UnavailableError, r"\(500\)"),
        (_error(503, "loading"), UnavailableError, "loading"),
        (_error(413), ContextTooLarge, "larger than"),
        (
            _error(400, "too long", type="exceed_context_size_error"),
            ContextTooLarge,
            "larger than",
        ),
        (_error(400, "maximum context length is 4096 tokens"), ContextTooLarge, "larger than"),
        (_error(400, code="context_length_exceeded"), ContextTooLarge, "larger than"),
        (_dropped, UnavailableError, "broke off"),
        (_cut, TruncatedReplyError, "broke off"),
        (_cut_before_the_reason, TruncatedReplyError, "broke off"),
        (_garbage, UnavailableError, "not Chat Completions"),
        (_error_in_the_stream, UnavailableError, "out of memory"),
        (_filtered, RequestRefusedError, "content filter"),
        (_web_page, UnavailableError, "not Chat Completions"),
    ],
)
async def test_each_fault_is_an_error_of_ours_with_something_to_do(
    server: ChatServer, answer: Callable[[Exchange], None], error: type[GatewayError], says: str
) -> None:
    server.instead = answer
    with pytest.raises(error, match=says) as caught:
        await ask(provider(server), request("Hi."))
    assert caught.value.hint
    assert len(server.seen) == 1  # the SDK does not try again by itself


async def test_what_came_before_a_fault_was_delivered(server: ChatServer) -> None:
    server.instead = _dropped
    partial = Reply()
    with pytest.raises(UnavailableError):
        await ask(provider(server), request("Hi."), partial)
    assert partial.text == "Hel"


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7.0, 7.0),
        (format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), 3_000, 3_600),
        (format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True), 0.0, 0.0),
    ],
)
async def test_being_asked_to_wait_says_how_long(
    server: ChatServer, header: str, least: float, most: float
) -> None:
    server.instead = lambda exchange: exchange.json(
        429, {"error": {"message": "slow down"}}, retry_after=header
    )
    with pytest.raises(RateLimitedError, match="slow down") as caught:
        await ask(provider(server), request("Hi."))
    assert caught.value.retry_after is not None
    assert least <= caught.value.retry_after <= most


@pytest.mark.parametrize("header", [None, "soon"])
async def test_being_asked_to_wait_without_a_time_is_none(
    server: ChatServer, header: str | None
) -> None:
    more = {} if header is None else {"retry_after": header}
    server.instead = lambda exchange: exchange.json(429, {"error": "slow down"}, **more)
    with pytest.raises(RateLimitedError) as caught:
        await ask(provider(server), request("Hi."))
    assert caught.value.retry_after is None


async def test_a_server_that_is_not_there_is_named_with_its_address() -> None:
    with serving(hello) as gone:
        pass
    with pytest.raises(UnavailableError, match=gone.base_url):
        await ask(provider(gone), request("Hi."))


async def test_a_key_that_is_echoed_is_not_shown(server: ChatServer) -> None:
    key = "sk-very-" + "secret"  # the traceback quotes these lines too
    server.instead = _error(401, f"Incorrect API key provided: {key}")
    with pytest.raises(AuthenticationError) as caught:
        await ask(provider(server, key=key), request("Hi."))
    assert key not in "".join(traceback.format_exception(caught.value))


async def test_a_missing_ollama_model_comes_with_the_command_that_fetches_it(
    server: ChatServer,
) -> None:
    server.instead = _error(404, 'model "m" not found')
    with pytest.raises(RequestRefusedError) as caught:
        await ask(provider(server, name="ollama/m"), request("Hi."))
    assert "`ollama pull m`" in caught.value.hint


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

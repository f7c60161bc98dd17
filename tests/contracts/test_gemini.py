"""The real google-genai SDK against a server that speaks Gemini's wire, well and badly."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.access import Access
from lila_app.gateway.gemini import client
from lila_app.gateway.gemini.provider import GeminiProvider
from lila_app.gateway.port import (
    Call,
    Carried,
    Message,
    Receipt,
    Result,
    Step,
    TextDelta,
    Tool,
    Usage,
)
from lila_app.testing import FakeClock, MemoryLedger
from tests.contracts import serving
from tests.contracts.gemini_cache import Served
from tests.contracts.gemini_server import GeminiServer, Reply, bad_key, chunk, gemini, problem
from tests.contracts.gemini_support import CONTRACT, KEY, LIMITS, NAME, Heard, hear, made, plain
from tests.contracts.serving import Exchange, Fault

SIGNATURE = "c2lnbmVk/+8="


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with gemini() as running:
        yield running


def body(server: GeminiServer) -> dict[str, object]:
    """The body of the last request for a reply."""
    return server.generated[-1].body


# --- what comes back -------------------------------------------------------------------------


async def test_a_reply_comes_in_pieces_then_receipt_usage_and_the_end(
    server: GeminiServer,
) -> None:
    heard = await hear(made(server), plain("Hello, there"))
    # Three tokens each: "Be brief." as system, "userHello, there" with its role is four.
    assert heard.events[:2] == [TextDelta("Hel"), TextDelta("lo")]
    assert heard.events[2:4] == [Receipt("r-1"), Usage(total=7, read=None, output=2)]
    assert heard.ended == "stop"


async def test_output_counts_the_thoughts_and_a_cache_not_reported_is_unknown(
    server: GeminiServer,
) -> None:
    server.reply = Reply(thinking=("Hm, ", "well."), pieces=("Yes.",), thoughts=30)
    heard = await hear(made(server), plain("Hi."))
    assert (heard.thinking, heard.text) == ("Hm, well.", "Yes.")
    assert (heard.usage.output, heard.usage.read, heard.usage.written) == (31, None, None)


async def test_an_implicit_cache_that_was_read_is_reported(server: GeminiServer) -> None:
    server.caches.implicit, server.caches.minimum = "exact", 0
    said = ("Tell me.", "What?", "All of it.")
    await hear(made(server), plain(*said))
    # System (3) and the first two contents (3 + 3) are as before, the last is not.
    heard = await hear(made(server), plain("Tell me.", "What?", "Some of it."))
    assert heard.usage.read == 3 + 3 + 3


async def test_a_reply_that_hit_its_limit_says_so(server: GeminiServer) -> None:
    server.reply = Reply(finish="MAX_TOKENS")
    assert (await hear(made(server), plain("Hi."))).ended == "length"


@pytest.mark.parametrize(
    "reason", ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"]
)
async def test_a_filter_that_stops_a_reply_is_a_refusal(server: GeminiServer, reason: str) -> None:
    server.reply = Reply(finish=reason)
    heard = Heard()
    with pytest.raises(RequestRefusedError, match=reason):
        await hear(made(server), plain("Hi."), heard)
    assert heard.ended is None
    assert heard.usage.total == 5  # it is billed all the same


async def test_a_prompt_that_is_blocked_is_a_refusal(server: GeminiServer) -> None:
    def blocks(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.begin()
        exchange.data(json.dumps({"promptFeedback": {"blockReason": "SAFETY"}}))
        exchange.end()

    server.speaks = blocks
    with pytest.raises(RequestRefusedError, match="SAFETY"):
        await hear(made(server), plain("Hi."))


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "OTHER"])
async def test_a_model_that_made_nothing_usable_may_be_asked_again(
    server: GeminiServer, reason: str
) -> None:
    server.reply = Reply(finish=reason, pieces=())
    with pytest.raises(UnavailableError, match=reason):
        await hear(made(server), plain("Hi."))


# --- what is sent ----------------------------------------------------------------------------


async def test_system_turns_and_limits_are_sent_to_v1beta(server: GeminiServer) -> None:
    request = plain("One.", "Two.", "Three.", max_tokens=7)
    head = Message("system", "And be kind.")
    request = replace(request, messages=(request.messages[0], head, *request.messages[1:]))
    await hear(made(server), request)
    (seen,) = server.seen
    assert seen.path == "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert seen.body == {
        "systemInstruction": {"parts": [{"text": "Be brief.\nAnd be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "One."}]},
            {"role": "model", "parts": [{"text": "Two."}]},
            {"role": "user", "parts": [{"text": "Three."}]},
        ],
        "generationConfig": {
            "maxOutputTokens": 7 + 8_192,  # and what it may think
            "thinkingConfig": {"include_thoughts": True},
        },
    }


async def test_nothing_about_the_person_their_machine_or_their_environment_is_sent(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "meant-for-somebody-else")
    monkeypatch.setenv("GEMINI_API_KEY", "meant-for-somebody-else")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://192.0.2.1")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "proj-secret")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await hear(made(server), plain("Hi."))
    (seen,) = server.seen
    assert seen.headers["x-goog-api-key"] == KEY
    assert seen.headers["user-agent"] == "lila"
    said = " ".join([*seen.headers, *seen.headers.values(), seen.path]).lower()
    for word in ("secret", "somebody", "genai", "python", "timeout"):
        assert word not in said


async def test_a_schema_is_asked_for_with_its_keys_in_their_order(server: GeminiServer) -> None:
    schema = {
        "type": "object",
        "properties": {"why": {"type": "string"}, "answer_text": {"type": "string"}},
        "required": ["why", "answer_text"],
        "additionalProperties": False,
    }
    await hear(made(server), plain("Hi.", schema=schema))
    sent = body(server)["generationConfig"]
    assert isinstance(sent, dict)
    assert sent["responseMimeType"] == "application/json"
    assert json.dumps(sent["responseJsonSchema"]) == json.dumps(schema)


@pytest.mark.parametrize(
    ("model", "effort", "sent", "most"),
    [
        ("gemini-3.8-flash", "high", {"thinking_level": "HIGH"}, 100 + 24_576),
        ("gemini-4-argon", "low", {"thinking_level": "LOW"}, 100 + 1_024),
        ("gemini-4-argon", None, {}, 100 + 8_192),
        ("gemini-2.5-flash", "low", {"thinking_budget": 1_024}, 100 + 1_024),
        ("gemini-2.5-flash", None, {}, 100 + 8_192),
        ("gemini-2.0-flash", "high", None, 100),
        ("gemma-4", "high", None, 100),
    ],
)
async def test_effort_is_sent_as_the_model_knows_it_with_room_to_think_beside_the_reply(
    server: GeminiServer,
    model: str,
    effort: str | None,
    sent: dict[str, object] | None,
    most: int,
) -> None:
    await hear(made(server, name=f"gemini/{model}"), plain("Hi.", effort=effort))
    config = body(server)["generationConfig"]
    assert isinstance(config, dict)
    thinking = None if sent is None else {"include_thoughts": True, **sent}
    assert (config.get("thinkingConfig"), config["maxOutputTokens"]) == (thinking, most)


async def test_tools_are_sent_by_name_and_their_schemas_in_one_order(server: GeminiServer) -> None:
    first = {"type": "object", "properties": {"b_c": {"type": "string"}, "a": {"type": "string"}}}
    again = {"properties": {"a": {"type": "string"}, "b_c": {"type": "string"}}, "type": "object"}
    sent: list[bytes] = []
    for tools in (
        (Tool("zoo", "Animals.", first), Tool("ask", "Asks.", {"type": "object"})),
        (Tool("ask", "Asks.", {"type": "object"}), Tool("zoo", "Animals.", again)),
    ):
        await hear(made(server), plain("Hi.", tools=tools))
        sent.append(server.generated[-1].raw)
    assert sent[0] == sent[1]
    (tool,) = body(server)["tools"]  # pyright: ignore[reportGeneralTypeIssues]
    names = [one["name"] for one in tool["functionDeclarations"]]
    assert names == ["ask", "zoo"]
    assert tool["functionDeclarations"][1]["parameters_json_schema"] == again


# --- tools -----------------------------------------------------------------------------------

TOOLS = (Tool("look", "Looks.", {"type": "object"}), Tool("tell", "Tells.", {"type": "object"}))


async def test_calls_come_whole_and_an_id_is_made_where_there_is_none(
    server: GeminiServer,
) -> None:
    calls: tuple[dict[str, object], ...] = (
        {"name": "look", "args": {"at": "the sea"}},
        {"id": "given", "name": "tell"},
    )
    server.reply = Reply(pieces=("Well, ",), calls=calls, signature=SIGNATURE)
    heard = await hear(made(server), plain("Look.", tools=TOOLS))
    again = await hear(made(server), plain("Look.", tools=TOOLS))
    assert heard.calls == (
        Call("lila-0-1", "look", '{"at": "the sea"}'),
        Call("given", "tell", "{}"),
    )
    assert again.calls == heard.calls
    assert heard.ended == "tools"


async def test_what_the_model_wants_back_it_gets_back_as_it_was(server: GeminiServer) -> None:
    calls = ({"name": "look", "args": {"at": "ü"}}, {"id": "given", "name": "tell", "args": {}})
    server.reply = Reply(
        thinking=("Hm.",), pieces=("Let me ", "see."), calls=calls, signature=SIGNATURE
    )
    heard = await hear(made(server), plain("Look.", tools=TOOLS))
    (carried,) = heard.carried
    assert carried.model == NAME
    results = (Result(heard.calls[0], "waves"), Result(heard.calls[1], "no", failed=True))
    server.reply = Reply()
    step = Step("Let me see.", results, (carried,))
    await hear(made(server), plain("Look.", tools=TOOLS, steps=(step,)))
    asked, model, answered = body(server)["contents"]  # pyright: ignore[reportGeneralTypeIssues]
    assert asked == {"role": "user", "parts": [{"text": "Look."}]}
    assert model == {
        "role": "model",
        "parts": [
            {"text": "Let me see."},
            {
                "functionCall": {"name": "look", "args": {"at": "ü"}},
                "thoughtSignature": SIGNATURE.replace("/", "_").replace("+", "-"),
            },
            {"functionCall": {"id": "given", "name": "tell", "args": {}}},
        ],
    }
    assert answered == {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "look", "response": {"output": "waves"}}},
            {"functionResponse": {"id": "given", "name": "tell", "response": {"error": "no"}}},
        ],
    }


async def test_what_another_model_wanted_back_is_not_shown_to_this_one(
    server: GeminiServer,
) -> None:
    call = Call("toolu_1", "look", '{"at": "the sea"}')
    carried = (
        Carried("anthropic/claude-sonnet-5-5", '[{"thinking": "hush"}]'),
        Carried("gemini/gemini-4-argon", '{"parts": [{"text": "hush"}]}'),
    )
    step = Step("Let me see.", (Result(call, "waves"),), carried)
    await hear(made(server), plain("Look.", tools=TOOLS, steps=(step,)))
    assert b"hush" not in server.generated[-1].raw
    _, model, answered = body(server)["contents"]  # pyright: ignore[reportGeneralTypeIssues]
    assert model["parts"][0] == {"text": "Let me see."}
    assert model["parts"][1]["functionCall"] == {
        "id": "toolu_1",
        "name": "look",
        "args": {"at": "the sea"},
    }
    assert answered["parts"][0]["functionResponse"]["id"] == "toolu_1"


# --- what goes wrong -------------------------------------------------------------------------


def says(code: int, message: str, *details: object) -> dict[str, object]:
    return problem(code, message, "", list(details))


INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo"}
QUOTA = {"@type": "type.googleapis.com/google.rpc.QuotaFailure"}
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
CHECK = "You exceeded your current quota, please check your plan and billing details."
A_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
A_MINUTE = {"violations": [{"quotaId": "GenerateContentInputTokensPerMinute"}]}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (says(400, "Invalid argument."), RequestRefusedError),
        (bad_key(), AuthenticationError),
        (says(401, "Unauthenticated."), AuthenticationError),
        (says(402, "Pay first."), SpendLimitError),
        (says(403, "Permission denied."), AuthenticationError),
        (says(403, "x", INFO | {"reason": "BILLING_DISABLED"}), SpendLimitError),
        (says(404, "models/x is not found for API version v1beta."), RequestRefusedError),
        (
            says(
                400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."
            ),
            ContextTooLarge,
        ),
        (says(413, "Too large."), ContextTooLarge),
        (says(429, CHECK, QUOTA | A_MINUTE), RateLimitedError),
        (says(429, CHECK, QUOTA | A_DAY, RETRY | {"retryDelay": "34s"}), SpendLimitError),
        (says(429, "Your project has exceeded its monthly spending cap."), SpendLimitError),
        (says(429, "Your prepayment credits are depleted."), SpendLimitError),
        (says(500, "Internal."), UnavailableError),
        (says(503, "The model is overloaded."), UnavailableError),
        (says(504, "Deadline exceeded."), UnavailableError),
    ],
    ids=lambda value: "" if isinstance(value, type) else value["error"]["message"][:40],
)
async def test_an_error_of_the_api_becomes_ours_and_is_asked_once(
    server: GeminiServer, body: dict[str, dict[str, object]], kind: type[GatewayError]
) -> None:
    code = body["error"]["code"]
    assert isinstance(code, int)

    def refuses(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.json(code, body)

    server.speaks = refuses
    with pytest.raises(GatewayError) as caught:
        await hear(made(server), plain("Hi."))
    assert type(caught.value) is kind
    assert caught.value.hint
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("delay", "header", "wait"),
    [("34s", None, 34.0), ("0.5s", "9", 0.5), (None, "7", 7.0), (None, None, None)],
)
async def test_the_wait_that_is_asked_for_is_carried(
    server: GeminiServer, delay: str | None, header: str | None, wait: float | None
) -> None:
    def refuses(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        details = [RETRY | {"retryDelay": delay}] if delay else []
        headers = {"retry_after": header} if header else {}
        exchange.json(429, problem(429, "Slow down.", "", list(details)), **headers)

    server.speaks = refuses
    with pytest.raises(RateLimitedError) as caught:
        await hear(made(server), plain("Hi."))
    assert caught.value.retry_after == wait


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (serving.RATE_LIMITED, RateLimitedError, ""),
        (serving.OVERLOADED, UnavailableError, ""),
        (serving.BROKEN, UnavailableError, ""),
        (serving.GARBAGE_PAGE, UnavailableError, ""),
        (serving.DROPPED_FIRST, UnavailableError, ""),
        (serving.TRUNCATED_FIRST, UnavailableError, ""),
        (serving.GARBAGE_FIRST, UnavailableError, ""),
        (serving.ERROR_FIRST, UnavailableError, ""),
        (serving.DROPPED, UnavailableError, "Hel"),
        (serving.TRUNCATED, TruncatedReplyError, "Hel"),
        (serving.GARBAGE, UnavailableError, "Hel"),
        (serving.ERROR, UnavailableError, "Hel"),
    ],
    ids=str,
)
async def test_no_fault_of_the_wire_passes_for_a_reply(
    server: GeminiServer, fault: Fault, kind: type[GatewayError], text: str
) -> None:
    server.fail(fault)
    heard = Heard()
    with pytest.raises(GatewayError) as caught:
        await hear(made(server), plain("Hi."), heard)
    assert (type(caught.value), heard.text, heard.ended) == (kind, text, None)
    assert len(server.seen) == 1
    if text:
        assert heard.usage.total == 5  # what was reported before it broke is not lost


async def test_a_wait_before_the_first_word_is_only_a_wait(server: GeminiServer) -> None:
    server.fail(serving.SLOW)
    assert (await hear(made(server), plain("Hi."))).text == "Hello"


@pytest.mark.parametrize("fault", [serving.STALLED_FIRST, serving.STALLED], ids=str)
async def test_a_stream_that_falls_silent_times_out(
    server: GeminiServer, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_SECONDS", 0.2)
    server.fail(fault)
    with pytest.raises(TimedOutError):
        await hear(made(server), plain("Hi."))


async def test_a_server_that_is_not_there_is_unreachable(server: GeminiServer) -> None:
    provider = made(server)
    server.fail(serving.REFUSED)
    with pytest.raises(UnreachableError):
        await hear(provider, plain("Hi."))


async def test_an_error_inside_a_stream_without_a_code_is_an_error_too(
    server: GeminiServer,
) -> None:
    def stumbles(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.begin()
        exchange.data(json.dumps(chunk([{"text": "Hel"}], served)))
        exchange.data('{"error": {"message": "it broke"}}')
        exchange.end()

    server.speaks = stumbles
    with pytest.raises(UnavailableError):
        await hear(made(server), plain("Hi."))


async def test_a_continuation_is_not_asked_for_behind_the_gateways_back(
    server: GeminiServer,
) -> None:
    def goes_on(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        said = chunk([{"text": "Hel"}], served, "CONTINUATION")
        said["candidates"][0]["continuationToken"] = "more"  # pyright: ignore[reportIndexIssue]
        exchange.begin()
        exchange.data(json.dumps(said))
        exchange.end()

    server.speaks = goes_on
    assert (await hear(made(server), plain("Hi."))).ended == "length"
    assert len(server.seen) == 1


# --- the key ---------------------------------------------------------------------------------


async def test_without_a_key_nothing_is_sent(server: GeminiServer) -> None:
    with pytest.raises(AuthenticationError, match="no key"):
        await hear(made(server, key=""), plain("Hi."))
    assert server.seen == []


async def test_a_key_is_in_no_error_and_no_repr(server: GeminiServer) -> None:
    def tells(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.json(400, problem(400, f"the key {KEY} is odd"))

    server.speaks = tells
    provider = made(server)
    with pytest.raises(RequestRefusedError) as caught:
        await hear(provider, plain("Hi."))
    told = "".join(traceback.format_exception(caught.value))
    shown = f"{told} {caught.value!r} {caught.value.hint} {provider!r} {vars(provider)}"
    assert "(key)" in shown
    assert KEY not in shown


# --- stopping --------------------------------------------------------------------------------


def endless(server: GeminiServer, exchange: Exchange, served: Served) -> None:
    exchange.begin()
    said = json.dumps(chunk([{"text": "on and on "}], served))
    exchange.until_hung_up(lambda: exchange.data(said))


async def test_closing_the_stream_stops_the_server(server: GeminiServer) -> None:
    server.speaks = endless
    async with aclosing(made(server).stream(plain("Hi."))) as events:
        async for _ in events:
            break
        began = time.monotonic()
        await events.aclose()
    assert time.monotonic() - began < 0.5
    assert await asyncio.to_thread(server.generated[0].broken.wait, 5)


async def test_cancelling_the_task_stops_the_server(server: GeminiServer) -> None:
    speaking = threading.Event()

    def speaks(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        speaking.set()
        endless(server, exchange, served)

    server.speaks = speaks
    task = asyncio.create_task(hear(made(server), plain("Hi.")))
    assert await asyncio.to_thread(speaking.wait, 5)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 0.5
    assert await asyncio.to_thread(server.generated[0].broken.wait, 5)


def test_one_provider_serves_calls_from_several_event_loops(server: GeminiServer) -> None:
    provider = made(server)
    for _ in range(2):
        assert asyncio.run(hear(provider, plain("Hi."))).text == "Hello"


async def test_the_name_and_the_limits_are_what_was_given_and_warming_asks_nothing(
    server: GeminiServer,
) -> None:
    provider = GeminiProvider(
        NAME, Access(server.origin, KEY), LIMITS, CONTRACT, MemoryLedger(), FakeClock()
    )
    await provider.warm(plain("Hi."))
    await provider.close()
    await provider.close()
    assert (provider.name, provider.limits(), server.seen) == (NAME, LIMITS, [])

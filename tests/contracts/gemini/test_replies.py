"""The real google-genai SDK against a server that speaks Gemini's wire, well and badly."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace

import pytest

from lila_app.errors import RequestRefusedError, UnavailableError
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
from tests.contracts.gemini_cache import Served
from tests.contracts.gemini_server import GeminiServer, Reply
from tests.contracts.gemini_support import KEY, NAME, Heard, hear, made, plain
from tests.contracts.serving import Exchange

SIGNATURE = "c2lnbmVk/+8="


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


async def test_what_the_prompt_costs_is_said_with_the_first_piece(server: GeminiServer) -> None:
    """So a reply that the person stops is accounted for."""
    async with aclosing(made(server).stream(plain("Hello, there"))) as stream:
        first = [await anext(stream) for _ in range(3)]
    assert first[0] == TextDelta("Hel")
    assert first[1] == Receipt("r-1")
    assert isinstance(first[2], Usage)
    assert first[2].total == 7


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

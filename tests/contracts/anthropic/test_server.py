"""The contract server keeps the contract: what it refuses, and how it counts for the ideal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.contracts.anthropic_server import VERSION, AnthropicServer, Reply
from tests.contracts.counted import IdealClient, Unit

LONG = "word " * 800
LONG_TOKENS = 1_007
"""4,000 characters and 28 of JSON about them, a quarter of that."""


def text(said: str, ttl: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "text", "text": said}
    return made | ({"cache_control": {"type": "ephemeral", "ttl": ttl}} if ttl else {})


def body(*system: dict[str, Any], **more: object) -> dict[str, Any]:
    messages = [{"role": "user", "content": "hi"}]
    return {"model": "m", "max_tokens": 8, "system": list(system), "messages": messages} | more


def post(
    server: AnthropicServer, sent: dict[str, Any], **headers: str
) -> tuple[int, dict[str, Any]]:
    usual = {"authorization": "Bearer k", "anthropic-version": VERSION} | headers
    response = httpx2.post(f"{server.origin}/v1/messages", json=sent, headers=usual)
    return response.status_code, response.json()


def refused(server: AnthropicServer, sent: dict[str, Any]) -> str:
    status, answer = post(server, sent)
    assert status == 400, answer
    assert answer["type"] == "error"
    assert answer["error"]["type"] == "invalid_request_error"
    return answer["error"]["message"]


def test_a_whole_message_without_a_stream(server: AnthropicServer) -> None:
    status, answer = post(server, body(text(LONG, "1h")))
    assert status == 200
    assert answer["content"] == [{"type": "text", "text": "Hello"}]
    assert answer["usage"]["cache_creation"]["ephemeral_1h_input_tokens"] == LONG_TOKENS
    assert answer["usage"]["cache_creation_input_tokens"] == LONG_TOKENS


def test_a_fifth_mark_is_refused(server: AnthropicServer) -> None:
    four = [text(f"{LONG} {n}", "5m") for n in range(4)]
    assert post(server, body(*four))[0] == 200
    assert refused(server, body(*four, text("one more", "5m"))).endswith("Found 5.")


def test_an_hour_after_five_minutes_is_refused(server: AnthropicServer) -> None:
    assert "1h" in refused(server, body(text("a", "5m"), text("b", "1h")))
    assert post(server, body(text("a", "1h"), text("b", "5m")))[0] == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 1},
        {"top_p": 0.5},
        {"colour": "red"},
        {"messages": []},
        {"messages": [{"role": "assistant", "content": "hi"}]},
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        {"messages": [{"role": "user", "content": " \n"}]},
        {"system": [text("a", "2h")]},
        {"system": [text("", "5m")]},
        {"max_tokens": 0, "stream": True},
        {"max_tokens": 0, "tool_choice": {"type": "any"}},
        {"max_tokens": 0, "output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"tools": [{"name": "t", "input_schema": {"type": "object"}, "strict": True}]},
    ],
    ids=str,
)
def test_what_the_api_refuses_is_refused(server: AnthropicServer, wrong: dict[str, object]) -> None:
    assert refused(server, body(text("a")) | wrong)


def test_calls_want_their_results_and_results_their_calls(server: AnthropicServer) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "w", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    asked = {"role": "user", "content": "hi"}
    used = {"role": "assistant", "content": [use]}
    for rest in ([used, asked], [{"role": "user", "content": [result]}]):
        assert "tool_use ids" in refused(server, body(messages=[asked, *rest]))
    whole = [asked, used, {"role": "user", "content": [result]}]
    assert post(server, body(messages=whole))[0] == 200


def test_the_wrong_door_key_or_version(server: AnthropicServer) -> None:
    assert post(server, body(), authorization="Basic k")[0] == 401
    assert post(server, body(), **{"anthropic-version": "2023-06-01"})[0] == 400
    assert httpx2.get(f"{server.origin}/v1/models").status_code == 404


def test_zero_tokens_write_the_prefix_and_say_nothing(server: AnthropicServer) -> None:
    status, answer = post(server, body(text(LONG, "5m"), max_tokens=0))
    assert (status, answer["content"], answer["stop_reason"]) == (200, [], "max_tokens")
    assert (
        post(server, body(text(LONG, "5m")))[1]["usage"]["cache_read_input_tokens"] == LONG_TOKENS
    )


def test_an_entry_is_found_twenty_blocks_back_and_no_further(server: AnthropicServer) -> None:
    first = text(LONG, "5m")
    post(server, body(first))
    for more, read in ((18, LONG_TOKENS), (19, 0)):
        blocks = [text(LONG), *[text(f"{n}") for n in range(more)], text("end", "5m")]
        answer = post(server, body(*blocks))[1]
        assert answer["usage"]["cache_read_input_tokens"] == read, more


def test_a_tool_choice_makes_other_messages_and_the_same_system(server: AnthropicServer) -> None:
    tool = {"name": "t", "input_schema": {"type": "object"}}
    messages = [{"role": "user", "content": [text("hello", "5m")]}]
    sent = body(text(LONG, "5m"), messages=messages, tools=[tool])
    post(server, sent)
    before = server.uses[0].prompt
    assert post(server, sent)[1]["usage"]["cache_read_input_tokens"] == before.tokens(2)
    other = post(server, sent | {"tool_choice": {"type": "none"}})[1]
    assert other["usage"]["cache_read_input_tokens"] == before.tokens(1)


def test_a_refused_request_writes_nothing(server: AnthropicServer) -> None:
    refused(server, body(text(LONG, "5m"), colour="red"))
    assert (server.counted, server.cache.entries) == ([], {})


def test_a_signature_is_bound_to_its_words_and_its_model(server: AnthropicServer) -> None:
    server.script.append(Reply(thinking=("hm",)))
    post(server, body())

    def sent(thinking: str, model: str) -> dict[str, Any]:
        block = {"type": "thinking", "thinking": thinking, "signature": "signed:hm"}
        said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": [block]}]
        return body(messages=[*said, {"role": "user", "content": "b"}], model=model)

    assert post(server, sent("hm", "m"))[0] == 200
    assert "signature" in refused(server, sent("ham", "m"))
    assert "signature" in refused(server, sent("hm", "n"))


# --- The ideal client ----------------------------------------------------------------------------

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def units(*said: str, system: str = "S") -> list[Unit]:
    return [Unit(system, 100, said=False), *[Unit(word, 10, said=True) for word in said]]


def test_the_ideal_client_reads_what_it_repeats_and_writes_what_is_new() -> None:
    ideal = IdealClient(minimum=20, lifetime=timedelta(hours=1))
    assert ideal.sends("k", units("a", "b", "now 1"), 3, NOW) == (0, 120)
    assert ideal.sends("k", units("a", "b", "c", "d", "now 2"), 5, NOW) == (120, 20)
    # Also where it no longer stands first: a clock above it is no excuse.
    assert ideal.sends("k", units("a", "b", "c", system="T"), 4, NOW) == (30, 100)
    assert ideal.sends("other", units("a"), 2, NOW) == (0, 110)


def test_the_ideal_client_forgets_after_its_lifetime() -> None:
    ideal = IdealClient(minimum=50, lifetime=timedelta(hours=1))
    ideal.sends("k", units("a"), 2, NOW)
    later = NOW + timedelta(hours=1, seconds=1)
    assert ideal.sends("k", units("a"), 2, later) == (0, 110)


def test_the_ideal_client_writes_the_conversation_anew_after_a_cut() -> None:
    ideal = IdealClient(minimum=50, lifetime=timedelta(hours=1))
    ideal.sends("k", units("a", "b", "c", "d"), 5, NOW)
    assert ideal.sends("k", units("c", "d", "e"), 4, NOW) == (100, 30)


def test_the_ideal_client_caches_nothing_below_the_minimum() -> None:
    ideal = IdealClient(minimum=115, lifetime=timedelta(hours=1))
    assert ideal.sends("k", units("a"), 2, NOW) == (0, 0)
    assert ideal.sends("k", units("a", "b"), 3, NOW) == (0, 120)
    # What is repeated is too short to have been cached by itself: it is written with the rest.
    assert ideal.sends("k", units("z", "y"), 3, NOW) == (0, 120)


def test_the_same_words_twice_are_new_the_second_time() -> None:
    ideal = IdealClient(minimum=50, lifetime=timedelta(hours=1))
    ideal.sends("k", units("ok"), 2, NOW)
    assert ideal.sends("k", units("ok", "ok"), 3, NOW) == (110, 10)

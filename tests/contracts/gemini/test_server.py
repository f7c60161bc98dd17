"""The contract server itself: it must refuse what Google refuses, and count what it bills."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.contracts.gemini_cache import Refused, tokens
from tests.contracts.gemini_server import GeminiServer

MODEL = "models/gemini-3.8-flash"
HELD = {"role": "user", "parts": [{"text": "a" * 4_096 * 4}]}
ASK = {"role": "user", "parts": [{"text": "Hi."}]}


def post(server: GeminiServer, path: str, body: dict[str, Any], key: str = "k") -> httpx2.Response:
    return httpx2.post(f"{server.origin}/{path}", json=body, headers={"x-goog-api-key": key})


def generate(server: GeminiServer, body: dict[str, Any], **more: Any) -> httpx2.Response:
    return post(server, f"v1beta/{MODEL}:generateContent", body, **more)


def create(server: GeminiServer, **more: Any) -> Any:
    body = {"model": MODEL, "contents": [HELD], "ttl": "300s", **more}
    return post(server, "v1beta/cachedContents", body)


def message(answer: httpx2.Response) -> str:
    return answer.json()["error"]["message"]


def test_version_1_knows_no_cached_contents_and_no_system_instruction(
    server: GeminiServer,
) -> None:
    assert post(server, "v1/cachedContents", {"model": MODEL}).status_code == 404
    body = {"contents": [ASK], "systemInstruction": {"parts": [{"text": "Be kind."}]}}
    assert post(server, f"v1/{MODEL}:generateContent", body).status_code == 400
    assert generate(server, body).status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {"system": "x"},
        {"generationConfig": {"maxTokens": 3}},
        {"contents": [{"role": "system", "parts": [{"text": "x"}]}]},
        {"contents": [{"role": "user", "parts": [{"txt": "x"}]}]},
        {"contents": [{"role": "user", "parts": [{"text": ""}]}]},
        {"contents": []},
        {"tools": [{"functionDeclarations": [{"name": "f", "params": {}}]}]},
    ],
    ids=str,
)
def test_what_the_sdks_types_do_not_know_is_refused(
    server: GeminiServer, more: dict[str, Any]
) -> None:
    answer = generate(server, {"contents": [ASK]} | more)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_every_call_has_its_answer_and_its_signature(server: GeminiServer) -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    signed = {"role": "model", "parts": [call | {"thoughtSignature": "c2ln"}]}
    answer = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    assert generate(server, {"contents": [ASK, signed, answer]}).status_code == 200
    assert generate(server, {"contents": [ASK, signed, ASK]}).status_code == 400
    unsigned = {"role": "model", "parts": [call]}
    assert generate(server, {"contents": [ASK, unsigned, answer]}).status_code == 400


def test_a_cache_needs_the_minimum(server: GeminiServer) -> None:
    short = {"role": "user", "parts": [{"text": "a" * 4_000}]}
    answer = create(server, contents=[short])
    assert answer.status_code == 400
    # 1,000 tokens, and one for the role.
    assert "total_token_count=1001, min_total_token_count=4096" in message(answer)
    assert create(server).json()["usageMetadata"] == {"totalTokenCount": 4_097}


def test_a_cache_goes_with_its_model_and_key_and_without_system_or_tools(
    server: GeminiServer,
) -> None:
    name = create(server).json()["name"]
    body = {"contents": [ASK], "cachedContent": name}
    usage = generate(server, body).json()["usageMetadata"]
    assert usage["cachedContentTokenCount"] == 4_097
    assert usage["promptTokenCount"] == 4_097 + 2
    for more in ({"systemInstruction": {"parts": [{"text": "x"}]}}, {"tools": []}):
        assert "can not be used" in message(generate(server, body | more))
    other = post(server, "v1beta/models/gemini-4-argon:generateContent", body)
    assert "has to be the same" in message(other)
    assert generate(server, body, key="another").status_code == 403


def test_a_cache_lives_as_long_as_was_asked_and_can_be_extended_and_deleted(
    server: GeminiServer,
) -> None:
    name = create(server).json()["name"]
    server.clock.advance(299)
    place = f"{server.origin}/v1beta/{name}"
    headers = {"x-goog-api-key": "k"}
    longer = httpx2.patch(place, json={"ttl": "300s"}, headers=headers).json()
    assert longer["expireTime"] == "2026-11-30T12:09:59Z"
    server.clock.advance(299)
    assert httpx2.get(place, headers=headers).status_code == 200
    assert httpx2.delete(place, headers=headers).json() == {}
    assert httpx2.get(place, headers=headers).status_code == 403
    other = create(server).json()["name"]
    server.clock.advance(300)
    with pytest.raises(Refused):
        server.caches.find("k", other)
    assert httpx2.patch(place, json={"displayName": "x"}, headers=headers).status_code == 400
    # 4,097 tokens for 598 seconds, then 4,097 for 300.
    assert server.caches.token_hours() == pytest.approx(4_097 * 898 / 3_600)


def test_the_implicit_cache_is_off_or_exact(server: GeminiServer) -> None:
    body = {"contents": [HELD, {"role": "model", "parts": [{"text": "Yes."}]}, ASK]}
    for _ in range(2):
        usage = generate(server, body).json()["usageMetadata"]
        assert "cachedContentTokenCount" not in usage
    server.caches.implicit = "exact"
    usage = generate(server, body).json()["usageMetadata"]
    assert usage["cachedContentTokenCount"] == usage["promptTokenCount"]


def test_the_ideal_holds_each_row_once_and_all_along(server: GeminiServer) -> None:
    for _ in range(2):  # made twice, used by no call: the ideal makes it once and reads it twice
        create(server)
        generate(server, {"contents": [HELD, ASK]})
    caches = server.caches
    assert (caches.read, caches.ideal_read) == (0, 2 * 4_097)
    assert (caches.written, caches.ideal_written) == (2 * 4_097, 4_097)
    assert caches.shared == tokens(caches.served[0].row)
    assert caches.contents[0].expires - caches.contents[0].made == timedelta(seconds=300)

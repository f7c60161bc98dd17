"""`lila models test`: each stage is tried for real and says what it found."""

from __future__ import annotations

import json

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import UnavailableError
from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
from lila_app.gateway.embedded.provider import EmbeddedProvider
from lila_app.gateway.port import Provider
from lila_app.gateway.trial import trial
from lila_app.testing import Scripted, ScriptedProvider
from lila_app.views import Stage
from tests.gateway.chat_server import ChatServer, Exchange, hello, serving


async def stages(provider: Provider) -> dict[str, Stage]:
    return {stage.name: stage async for stage in trial(provider)}


def local(server: ChatServer) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider("local/m", Endpoint(server.base_url), ModelLimits(8_192, 4_000))


@pytest.mark.slow
async def test_the_embedded_model_passes_every_stage(embedded: EmbeddedProvider) -> None:
    found = await stages(embedded)
    assert list(found) == ["reach", "auth", "stream", "schema", "cache on call 2", "cost"]
    assert [stage for stage in found.values() if not stage.ok] == []
    assert "read from the cache" in found["cache on call 2"].detail


async def test_a_server_that_is_not_there_ends_the_trial_at_once() -> None:
    with serving(hello) as gone:
        pass
    found = await stages(local(gone))
    assert list(found) == ["reach"]
    assert not found["reach"].ok
    assert "nothing answered" in found["reach"].detail


async def test_a_server_without_schemas_is_no_failure(server: ChatServer) -> None:
    def plain(exchange: Exchange) -> None:
        if "response_format" in exchange.body:
            exchange.json(400, {"error": {"message": "response_format is not supported"}})
        else:
            hello(exchange)

    server.instead = plain
    found = await stages(local(server))
    assert found["schema"].ok and "not supported" in found["schema"].detail


async def test_a_server_that_ignores_the_schema_fails_that_stage(server: ChatServer) -> None:
    found = await stages(local(server))
    assert not found["schema"].ok and "not JSON" in found["schema"].detail
    assert found["cache on call 2"].ok


async def test_a_cache_that_is_not_reported_is_unknown_and_one_that_misses_fails(
    server: ChatServer,
) -> None:
    def answer(cached: int | None) -> None:
        def reply(exchange: Exchange) -> None:
            exchange.begin()
            exchange.piece(json.dumps({"colour": "green"}), "stop")
            details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
            exchange.usage(prompt_tokens=9, completion_tokens=1, total_tokens=10, **details)
            exchange.done()

        server.instead = reply

    answer(None)
    unknown = (await stages(local(server)))["cache on call 2"]
    assert unknown.ok and "not reported" in unknown.detail
    answer(0)
    assert not (await stages(local(server)))["cache on call 2"].ok


async def test_a_reply_that_breaks_off_is_the_stream_stage() -> None:
    provider = ScriptedProvider(
        Scripted(("one",), error=UnavailableError("gone", hint="come back")),
        "a",
        '{"colour": "green"}',
    )
    found = await stages(provider)
    assert found["reach"].ok
    assert found["stream"] == Stage("stream", False, "gone (come back)")
    assert found["schema"].ok

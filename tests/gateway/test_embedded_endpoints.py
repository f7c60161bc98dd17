"""The embedded model's own server behind the official SDKs of others: its cache is a real one.

What the contract servers keep by rule, llama.cpp keeps in memory: words it has seen are read again
and not evaluated. The counts are the server's own, in the SDKs' types.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import anthropic
import openai
import pytest
from anthropic.types import MessageParam
from openai.types.responses import EasyInputMessageParam

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import AnthropicProvider
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.embedded.server import EmbeddedServer, Served
from lila_app.gateway.embedded.weights import SMOLLM2
from lila_app.gateway.openai import OpenAIProvider
from lila_app.gateway.port import Finished, Message, Provider, Request, TextDelta, Usage
from tests.gateway.asking import LONG

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

QUESTIONS = "What is counted?", "And who counts?"
MARGIN = 8
"""Tokens of the first prompt that may be evaluated again: those that opened its reply."""


@pytest.fixture(scope="module")
def server(models_dir: Path) -> Iterator[EmbeddedServer]:
    made = EmbeddedServer(models_dir / SMOLLM2.file, alias="m", window=2_048, check=lambda: None)
    yield made
    made.stop()


@pytest.fixture
def served(server: EmbeddedServer) -> Served:
    return server.ensure()


def test_the_anthropic_sdk_reads_the_cache_on_its_second_call(served: Served) -> None:
    system = f"A log, kept for Anthropic's SDK. {LONG}"
    asked: list[MessageParam] = [{"role": "user", "content": QUESTIONS[0]}]
    with anthropic.Anthropic(api_key=served.key, base_url=served.address, max_retries=0) as client:
        first = client.messages.create(model="m", max_tokens=12, system=system, messages=asked)
        (said,) = first.content
        assert isinstance(said, anthropic.types.TextBlock) and said.text
        asked.append({"role": "assistant", "content": said.text})
        asked.append({"role": "user", "content": QUESTIONS[1]})
        second = client.messages.create(model="m", max_tokens=12, system=system, messages=asked)
    # The whole prompt is what was evaluated and what was read.
    total = first.usage.input_tokens + (first.usage.cache_read_input_tokens or 0)
    read = second.usage.cache_read_input_tokens
    assert total > 100
    assert read is not None and read >= total - MARGIN
    assert second.usage.input_tokens < total / 2


def test_the_openai_sdk_reads_the_cache_on_its_second_call(served: Served) -> None:
    system = f"A log, kept for OpenAI's SDK. {LONG}"
    asked: list[EasyInputMessageParam] = [
        {"role": "developer", "content": system},
        {"role": "user", "content": QUESTIONS[0]},
    ]
    with openai.OpenAI(
        api_key=served.key, base_url=f"{served.address}/v1", max_retries=0
    ) as client:
        first = client.responses.create(model="m", max_output_tokens=12, input=[*asked])
        assert first.output_text
        asked.append({"type": "message", "role": "assistant", "content": first.output_text})
        asked.append({"role": "user", "content": QUESTIONS[1]})
        second = client.responses.create(model="m", max_output_tokens=12, input=[*asked])
    assert first.usage is not None and second.usage is not None
    total = first.usage.input_tokens  # here it includes what was read
    assert total > 100
    assert second.usage.input_tokens_details.cached_tokens >= total - MARGIN
    assert second.usage.input_tokens > total


ANTHROPIC = CacheContract("anthropic", minimum=512)
OPENAI = CacheContract("key", minimum=1_024)
LIMITS = ModelLimits(2_048, 1_200)


def adapter(name: str, served: Served) -> Provider:
    if name == "anthropic":
        access = Access(served.address, served.key)
        return AnthropicProvider("anthropic/m", access, LIMITS, ANTHROPIC)
    access = Access(f"{served.address}/v1", served.key)
    return OpenAIProvider("openai/m", access, LIMITS, OPENAI)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
async def test_lilas_own_adapters_read_it_too(served: Served, name: str) -> None:
    provider = adapter(name, served)
    system = Message("system", f"A log, kept for the {name} adapter. {LONG}", breakpoint=True)
    asked = [system, Message("user", QUESTIONS[0])]
    usages: list[Usage] = []
    for _ in range(2):
        text, ended, usage = "", False, Usage()
        async with aclosing(provider.stream(Request(tuple(asked), max_tokens=16))) as events:
            async for event in events:
                match event:
                    case TextDelta():
                        text += event.text
                    case Usage():
                        usage = event  # the last one counts
                    case Finished():
                        ended = True
                    case _:
                        pass
        assert text and ended
        usages.append(usage)
        asked += [Message("assistant", text), Message("user", QUESTIONS[1])]
    first, second = usages
    assert first.total is not None and second.read is not None
    assert second.read >= first.total - MARGIN > 100

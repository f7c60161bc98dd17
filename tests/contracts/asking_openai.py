"""A provider of OpenAI's pointed at the contract server, and a request to ask it with."""

from __future__ import annotations

from contextlib import aclosing

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.openai import OpenAIProvider
from lila_app.gateway.port import Message, ProviderEvent, Request
from tests.contracts.openai_server import KEY, OpenAIServer

LIMITS = ModelLimits(window=400_000, context_budget=16_000)
MARKS = CacheContract("breakpoints", minimum=1_024, short_seconds=1_800, long_seconds=43_200)
AUTOMATIC = CacheContract("key", minimum=1_024)
"""Models up to 5.5."""
HI = Request((Message("system", "Be kind."), Message("user", "Hi.")), max_tokens=100)


def openai(
    server: OpenAIServer,
    model: str = "gpt-5.6",
    contract: CacheContract = MARKS,
    *,
    key: str = KEY,
    limits: ModelLimits = LIMITS,
) -> OpenAIProvider:
    return OpenAIProvider(f"openai/{model}", Access(server.base_url, key), limits, contract)


async def said(
    asked: OpenAIProvider, request: Request = HI, into: list[ProviderEvent] | None = None
) -> list[ProviderEvent]:
    """The whole reply; `into` also keeps what came before an error."""
    events = [] if into is None else into
    async with aclosing(asked.stream(request)) as stream:
        async for event in stream:
            events.append(event)
    return events

"""OpenAI's own models over the Responses API, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import TruncatedReplyError
from lila_app.gateway.access import Access
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.openai import wire
from lila_app.gateway.openai.connection import Connection, listening
from lila_app.gateway.openai.errors import Explainer
from lila_app.gateway.openai.reader import ResponseReader
from lila_app.gateway.port import ProviderEvent, Request

if TYPE_CHECKING:
    from openai.types.responses import ResponseStreamEvent
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

BASE_URL = "https://api.openai.com/v1"


class OpenAIProvider:
    """One model of OpenAI's; see `port.Provider`. Holds no connection between calls.

    `name` is `openai/model`. Nothing is read from the SDK's environment: the address and the key
    are `access`'s. `contract` decides between the two forms in `wire`.
    """

    def __init__(
        self, name: str, access: Access, limits: ModelLimits, contract: CacheContract
    ) -> None:
        self._name = name
        self._limits = limits
        self._contract = contract
        access = replace(access, base_url=access.base_url or BASE_URL)
        self._connection = Connection(access)
        self._explainer = Explainer(name, access, "the Responses API")

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """What the tables and the person's settings say; nothing is asked."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply; see `port.Provider`.

        A request of 0 tokens warms the prefix, where the model has marks (else it asks for the
        fewest tokens there are). Raises `AuthenticationError`, `RateLimitedError`,
        `SpendLimitError`, `RequestRefusedError`, `ContextTooLarge`, `TruncatedReplyError` or
        `UnavailableError`.
        """
        reader, began = ResponseReader(self._name, self._explainer.said_inside), False
        async with self._answering(request) as events:
            async for event in events:
                began = True
                for made in reader.read(event.to_dict(mode="json", warnings=False)):
                    yield made
                if reader.finished is not None:
                    break
        if not began:
            raise self._explainer.not_ours("not a stream")
        if reader.finished is None:
            raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        yield reader.finished

    async def warm(self, request: Request) -> None:
        """Load the SDK, and send nothing: what a write costs would be on nobody's account here.

        Whoever wants a prefix warmed asks `stream` for 0 tokens, and keeps the usage it reports.
        """
        del request
        await self._connection.ready()

    async def close(self) -> None:
        """Nothing is held."""

    @asynccontextmanager
    async def _answering(
        self, request: Request
    ) -> AsyncGenerator[AsyncIterator[ResponseStreamEvent]]:
        """The open stream; leaving closes its connection, which stops the model."""
        client = await self._connection.client()
        import httpx2
        import openai

        asked = cast(
            "ResponseCreateParamsStreaming", wire.body(request, self._name, self._contract)
        )
        async with client:
            try:
                async with listening(await client.responses.create(**asked)) as events:
                    yield events
            except (openai.OpenAIError, httpx2.TransportError, ValueError) as error:
                raise self._explainer.explained(error) from None  # the SDK's may quote the key

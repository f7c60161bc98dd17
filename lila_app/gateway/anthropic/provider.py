"""Anthropic's models over the Messages API, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import GatewayError
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic import wire
from lila_app.gateway.anthropic.connection import Connection
from lila_app.gateway.anthropic.errors import Explainer
from lila_app.gateway.anthropic.reader import MessageReader
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import ProviderEvent, Request

if TYPE_CHECKING:
    from anthropic import AsyncStream
    from anthropic.types import RawMessageStreamEvent
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

BASE_URL = "https://api.anthropic.com"

_REMEMBERED = 64
"""Sessions whose last entry is remembered; one that is forgotten is only looked for less far."""


class AnthropicProvider:
    """One model of Anthropic's; see `port.Provider`. Holds no connection between calls.

    `name` is `anthropic/model`. Nothing is read from the SDK's environment: the address and the
    key are `access`'s.
    """

    def __init__(
        self, name: str, access: Access, limits: ModelLimits, contract: CacheContract
    ) -> None:
        self._name = name
        self._limits = limits
        self._contract = contract
        access = replace(access, base_url=access.base_url or BASE_URL)
        self._connection = Connection(access)
        self._explainer = Explainer(name, access)
        self._reached: dict[tuple[str, str, int], int] = {}

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """What the tables and the person's settings say; nothing is asked."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply; see `port.Provider`.

        What was counted is said also of a reply that broke off. Raises `AuthenticationError`,
        `RateLimitedError`, `SpendLimitError`, `RequestRefusedError`, `ContextTooLarge`,
        `TruncatedReplyError` or `UnavailableError`.
        """
        reader, began = MessageReader(self._name), False
        try:
            async with self._answering(request) as events:
                async for event in events:
                    began = True
                    for made in reader.read(event.to_dict(mode="json", warnings=False)):
                        yield made
                    if reader.ended:
                        break
        except GatewayError:
            for made in reader.account():
                yield made
            raise
        if not began:
            raise self._explainer.not_ours("not a stream")
        self._remember(request)
        for made in reader.last():
            yield made

    async def warm(self, request: Request) -> None:
        """Load the SDK, and send nothing: others' machines are not paid for a guess.

        A request of 0 tokens would write the prefix, at 1.25 times its price, for a turn that may
        not come within the lifetime; where it comes it writes the same itself, and all that was
        saved is the reading of some hundred tokens.
        """
        del request
        await self._connection.ready()

    async def close(self) -> None:
        """Nothing is held."""

    def _remember(self, request: Request) -> None:
        """Keep where the session's last entry ends, the youngest session last."""
        place = wire.rolling(request)
        key = _key(request)
        self._reached.pop(key, None)
        if place is not None:
            self._reached[key] = place
        while len(self._reached) > _REMEMBERED:
            self._reached.pop(next(iter(self._reached)), None)

    @asynccontextmanager
    async def _answering(
        self, request: Request
    ) -> AsyncGenerator[AsyncStream[RawMessageStreamEvent]]:
        """The open stream; leaving closes its connection, which stops the model."""
        client = await self._connection.client()
        import anthropic
        import httpx2

        asked = cast(
            "MessageCreateParamsStreaming",
            wire.body(request, self._name, self._contract, self._reached.get(_key(request))),
        )
        stream: AsyncStream[RawMessageStreamEvent] | None = None
        async with client:
            try:
                stream = await client.messages.create(**asked)
                yield stream
            except (anthropic.AnthropicError, httpx2.TransportError, ValueError) as error:
                # Not from the error: it holds the server's own words, and a server may repeat the
                # key in them.
                raise self._explainer.explained(error) from None
            finally:
                if stream is not None:
                    await stream.close()


def _key(request: Request) -> tuple[str, str, int]:
    cache = request.cache
    return cache.profile, cache.session, cache.epoch

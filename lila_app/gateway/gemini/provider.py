"""Gemini through the google-genai SDK; see `port.Provider`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import GatewayError, TruncatedReplyError
from lila_app.gateway.access import Access
from lila_app.gateway.addresses import shown
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini import faults, wire
from lila_app.gateway.gemini.client import Connector
from lila_app.gateway.gemini.contents import CachedContents, Held
from lila_app.gateway.gemini.reader import StreamReader
from lila_app.gateway.ledger import Ledger
from lila_app.gateway.port import ProviderEvent, Request

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentResponse


class _CacheGone(Exception):
    """The provider does not have the cache that was named; nothing of a reply has come."""

    def __init__(self, held: Held) -> None:
        super().__init__(held.content.name)
        self.held = held


class GeminiProvider:
    """One Gemini model; see `port.Provider`. Holds no connection between calls.

    `Usage.written` are the tokens of a cache that was made for the call.
    """

    def __init__(
        self,
        name: str,
        access: Access,
        limits: ModelLimits,
        contract: CacheContract,
        ledger: Ledger,
        now: Callable[[], datetime],
    ) -> None:
        self._name = name
        self._model = name.partition("/")[2]
        self._access = access
        self._limits = limits
        self._connector = Connector(name, access)
        self._caches = CachedContents(name, access, limits, contract, ledger, now, self._connector)

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """What the tables and the person's settings say; nothing is asked."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply; see `port.Provider`. Usage comes also before an error, where known.

        Raises `AuthenticationError`, `RateLimitedError`, `SpendLimitError`, `RequestRefusedError`,
        `ContextTooLarge`, `TruncatedReplyError` or `UnavailableError`.
        """
        async with self._connector.connected() as client:
            held = await self._caches.ready(client, request)
            try:
                async with aclosing(self._reply(client, request, held)) as events:
                    async for event in events:
                        yield event
                return
            except _CacheGone as gone:
                await self._caches.vanished(gone.held)
            async with aclosing(self._reply(client, request, None, gone=held)) as events:
                async for event in events:
                    yield event

    async def warm(self, request: Request) -> None:
        """Load the SDK, and send nothing: reading ahead is billed, and nobody may speak."""
        del request
        await self._connector.ready()

    async def close(self) -> None:
        """Let what keeps the caches in order come to its end, for a moment."""
        await self._caches.settle()

    async def _reply(
        self, client: Client, request: Request, held: Held | None, *, gone: Held | None = None
    ) -> AsyncGenerator[ProviderEvent, None]:
        """One attempt at an answer, after another one that named a cache which was `gone`."""
        reader, began = StreamReader(self._name, len(request.steps)), False
        made = held or gone
        written = made.written if made is not None else None
        lost = gone.content.tokens if gone is not None else None
        try:
            async with aclosing(self._chunks(client, request, held)) as chunks:
                async for chunk in chunks:
                    for event in reader.read(chunk):
                        yield event
                    if not began:  # the prompt is paid for, even if the person stops here
                        for event in reader.account(written, lost):
                            yield event
                    began = True
            if not began:
                raise faults.not_ours(self._name, shown(self._connector.address))
            if reader.finished is None:
                raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        except GatewayError:
            for event in reader.account(written, lost):
                yield event
            raise
        for event in reader.closing(written, lost):
            yield event

    async def _chunks(
        self, client: Client, request: Request, held: Held | None
    ) -> AsyncGenerator[GenerateContentResponse, None]:
        began = False
        try:
            opened = await client.aio.models.generate_content_stream(  # pyright: ignore[reportUnknownMemberType]
                model=self._model,
                contents=wire.contents(
                    request, self._name, beyond=held.messages if held is not None else 0
                ),
                config=wire.configured(
                    request, self._model, cached=held.content.name if held is not None else None
                ),
            )
            chunks = cast("AsyncGenerator[GenerateContentResponse, None]", opened)
            async with aclosing(chunks):
                async for chunk in chunks:
                    began = True
                    yield chunk
        except faults.kinds() as error:
            if held is not None and not began and faults.is_gone(error):
                raise _CacheGone(held) from None
            # Not from theirs: it may quote the key.
            raise faults.explained(
                error, self._name, self._access, shown(self._connector.address)
            ) from None

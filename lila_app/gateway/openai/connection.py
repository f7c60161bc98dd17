"""A client of the OpenAI SDK for one call, which sends what LILA means to send and no more."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from lila_app.gateway.access import Access
from lila_app.gateway.transport import Transport

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

T = TypeVar("T")

SILENCE_SECONDS = 300.0
"""A large model may think, or a slow machine read a long prompt, for minutes before its first
word."""


class Connection:
    """Makes clients for one address and key."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._transport = Transport(access, SILENCE_SECONDS)

    async def ready(self) -> None:
        """Load the SDK and the certificates ahead, so that the first turn does not wait for it."""
        await self._transport.ready("openai")

    async def client(self) -> AsyncOpenAI:
        """A client that never retries: retries are the gateway's."""
        await self.ready()
        import openai

        return openai.AsyncOpenAI(
            api_key=self._access.api_key or "none",
            base_url=self._access.base_url,
            max_retries=0,
            timeout=self._transport.timeout,
            http_client=self._transport.client(),
        )


@asynccontextmanager
async def listening(stream: AsyncStream[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """What a stream says; leaving closes its connection and ends what reads from it.

    Closing alone leaves the SDK's generators suspended, to be collected in whatever thread comes by
    and perhaps after their loop. Asked once more, they find the connection closed and end.
    """
    import httpx2
    import openai

    said = aiter(stream)
    try:
        yield said
    finally:
        await stream.close()
        ended = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, ValueError)
        with contextlib.suppress(*ended):
            async for _ in said:
                pass

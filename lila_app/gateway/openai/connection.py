"""A client of the OpenAI SDK for one call, which sends what LILA means to send and no more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback

if TYPE_CHECKING:
    import ssl

    import httpx2
    from openai import AsyncOpenAI, AsyncStream

T = TypeVar("T")

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 300.0
"""A large model may think, or a slow machine read a long prompt, for minutes before its first
word. How long a person waits is the gateway's deadline, not this."""

_SENT = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection"}
)
"""Headers that go to the server. The SDK would add the machine's make and whatever stands in
OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS, which are meant for somebody else."""


class Connection:
    """Makes clients for one address and key; a client per call, as calls come from many loops."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._certificates: ssl.SSLContext | None = None

    async def client(self) -> AsyncOpenAI:
        """A client that never retries: retries are the gateway's."""
        # Importing the SDK takes most of a second and reading the certificates 50 ms: not here.
        certificates = await asyncio.to_thread(self._prepare)
        import httpx2
        import openai

        access = self._access
        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
        http = httpx2.AsyncClient(
            timeout=timeout,
            trust_env=not is_loopback(access.base_url),  # a proxy has no business on loopback
            verify=certificates if certificates is not None else False,
            event_hooks={"request": [self._clean_headers]},
        )
        return openai.AsyncOpenAI(
            api_key=access.api_key or "none",
            base_url=access.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )

    def _prepare(self) -> ssl.SSLContext | None:
        import httpx2
        import openai  # noqa: F401  # pyright: ignore[reportUnusedImport]

        if self._access.base_url.startswith("http://"):
            return None
        if self._certificates is None:
            self._certificates = httpx2.create_ssl_context()
        return self._certificates

    async def _clean_headers(self, request: httpx2.Request) -> None:
        for header in list(request.headers):
            if header.lower() not in _SENT:
                del request.headers[header]
        request.headers["user-agent"] = "lila"
        if self._access.api_key:
            request.headers["authorization"] = f"Bearer {self._access.api_key}"


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

"""The google-genai client for one call, and what of it goes over the wire."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from lila_app.errors import AuthenticationError
from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client

ADDRESS = "https://generativelanguage.googleapis.com/"
VERSION = "v1beta"
"""google-genai 3 goes to v1 by itself, which knows no cached contents (2026-10-01)."""

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 300.0
"""Longest wait for the next bytes. A large model may think for minutes before its first word. How
long a person waits is the gateway's deadline, not this."""

_SENT = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection"}
)
"""Headers that go to the server. The SDK would add its version, Python's, and how long we wait."""


class Connector:
    """Makes clients. The certificates are loaded once; a client serves one call, from any loop."""

    def __init__(self, name: str, access: Access) -> None:
        self._name = name
        self._access = access
        self._certificates: ssl.SSLContext | None = None

    @property
    def address(self) -> str:
        """Where requests go, without the version."""
        return self._access.base_url or ADDRESS

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Client]:
        """A client; leaving closes its connections, which stops what is still being generated.

        Raises `AuthenticationError` without a key.
        """
        if not self._access.api_key:
            raise AuthenticationError(
                f"there is no key for {self._name}", hint="set one with `lila keys set gemini`"
            )
        # Importing the SDK takes most of a second, loading certificates 50 ms.
        client, http, unused = await asyncio.to_thread(self._made)
        try:
            yield client
        finally:
            await http.aclose()
            unused.close()

    def _made(self) -> tuple[Client, httpx2.AsyncClient, httpx2.Client]:
        import httpx2
        from google.genai import Client
        from google.genai.types import HttpOptions

        verify = self._verify()
        http = httpx2.AsyncClient(
            verify=verify,
            trust_env=not is_loopback(self.address),  # a proxy has no business on loopback
            event_hooks={"request": [self._cleaned()]},
        )
        # The SDK would make both of these itself, and load certificates again, 90 ms each time.
        unused = httpx2.Client(verify=verify, trust_env=False)
        for_websockets = {"ssl": verify}
        client = Client(
            vertexai=False,
            api_key=self._access.api_key,
            http_options=HttpOptions(
                base_url=self.address,
                api_version=VERSION,
                timeout=round(1000 * SILENCE_SECONDS),
                retry_options=None,
                httpx_async_client=http,
                httpx_client=unused,
                async_client_args=for_websockets,
            ),
        )
        return client, http, unused

    def _verify(self) -> ssl.SSLContext | bool:
        import httpx2

        if self.address.startswith("http://"):
            return False
        if self._certificates is None:
            self._certificates = httpx2.create_ssl_context()
        return self._certificates

    def _cleaned(self) -> Callable[[httpx2.Request], Awaitable[None]]:
        import httpx2

        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS).as_dict()

        async def clean(request: httpx2.Request) -> None:
            for header in list(request.headers):
                if header.lower() not in _SENT:
                    del request.headers[header]
            request.headers["user-agent"] = "lila"
            request.headers["x-goog-api-key"] = self._access.api_key
            # The SDK's one number would be the time to connect as well.
            request.extensions["timeout"] = timeout

        return clean

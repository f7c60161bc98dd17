"""The google-genai client for one call, and what of it goes over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from lila_app.errors import AuthenticationError
from lila_app.gateway.access import Access
from lila_app.gateway.transport import Transport

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client

ADDRESS = "https://generativelanguage.googleapis.com/"
VERSION = "v1beta"
"""google-genai 3 goes to v1 by itself, which knows no cached contents (2026-10-01)."""

SILENCE_SECONDS = 300.0
"""Longest wait for the next bytes. A large model may think for minutes before its first word."""


class Connector:
    """Makes clients; one serves one call, from any loop."""

    def __init__(self, name: str, access: Access) -> None:
        self._name = name
        self._access = replace(access, base_url=access.base_url or ADDRESS)
        self._transport = Transport(
            self._access, SILENCE_SECONDS, key_header="x-goog-api-key", scheme=""
        )

    @property
    def address(self) -> str:
        """Where requests go, without the version."""
        return self._access.base_url

    async def ready(self) -> None:
        """Load the SDK and the certificates ahead, so that the first turn does not wait for it."""
        await self._transport.ready("google.genai")

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Client]:
        """A client; leaving closes its connections, which stops what is still being generated.

        Raises `AuthenticationError` without a key.
        """
        if not self._access.api_key:
            raise AuthenticationError(
                f"there is no key for {self._name}", hint="set one with `lila keys set gemini`"
            )
        await self.ready()
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

        http, verify = self._transport.client(), self._transport.verify()
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

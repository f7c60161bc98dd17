"""A client of the Anthropic SDK for one call, which sends what LILA means to send and no more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback

if TYPE_CHECKING:
    import ssl

    import httpx2
    from anthropic import AsyncAnthropic

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 120.0
"""The API sends `ping` events while a model thinks, so two silent minutes are a dead connection.
How long a person waits is the gateway's deadline, not this. Chosen (2026-11-30)."""

_SENT = frozenset(
    {
        "host",
        "content-type",
        "content-length",
        "accept",
        "accept-encoding",
        "connection",
        "anthropic-version",
    }
)
"""Headers that go to the server. The SDK would add the machine's make and whatever stands in
ANTHROPIC_CUSTOM_HEADERS, which is meant for somebody else."""


class Connection:
    """Makes clients for one address and key; a client per call, as calls come from many loops."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._certificates: ssl.SSLContext | None = None

    async def client(self) -> AsyncAnthropic:
        """A client that never retries: retries are the gateway's."""
        # Importing the SDK takes most of a second and reading the certificates 50 ms: not here.
        certificates = await asyncio.to_thread(self._prepare)
        import anthropic
        import httpx2

        access = self._access
        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
        http = httpx2.AsyncClient(
            timeout=timeout,
            trust_env=not is_loopback(access.base_url),  # a proxy has no business on loopback
            verify=certificates if certificates is not None else False,
            event_hooks={"request": [self._clean_headers]},
        )
        return anthropic.AsyncAnthropic(
            api_key=access.api_key or "none",  # given, so that nothing is looked for on the disk
            base_url=access.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=http,
            open_telemetry=False,
        )

    def _prepare(self) -> ssl.SSLContext | None:
        import anthropic  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import httpx2

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

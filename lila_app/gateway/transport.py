"""The HTTP client under every SDK: it sends what LILA means to send and no more."""

from __future__ import annotations

import asyncio
import importlib
import ssl
from typing import TYPE_CHECKING

from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 5.0

_SENT = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection"}
)
"""Headers that go to the server. The SDKs would add the machine's make, how long we wait, and
whatever stands in OPENAI_ORG_ID, ANTHROPIC_CUSTOM_HEADERS and the like, which are meant for
somebody else."""


class Transport:
    """Makes clients for one address and key; a client per call, as calls come from many loops.

    `silence` is the longest wait for the next bytes, seconds: how long a person waits is the
    gateway's deadline. The key goes in `key_header`, after `scheme`; `also` are further headers of
    the SDK that go through. Certificates are loaded once.
    """

    def __init__(
        self,
        access: Access,
        silence: float,
        *,
        key_header: str = "authorization",
        scheme: str = "Bearer ",
        also: tuple[str, ...] = (),
    ) -> None:
        self._access = access
        self._silence = silence
        self._key_header = key_header
        self._scheme = scheme
        self._sent = _SENT.union(also)
        self._certificates: ssl.SSLContext | None = None

    async def ready(self, sdk: str) -> None:
        """Import an SDK (most of a second) and load the certificates (50 ms), not in the loop."""
        await asyncio.to_thread(self._prepare, sdk)

    @property
    def timeout(self) -> httpx2.Timeout:
        """How long to wait for a connection, and for bytes."""
        import httpx2

        return httpx2.Timeout(self._silence, connect=CONNECT_SECONDS)

    def client(self) -> httpx2.AsyncClient:
        """A client; whoever asks closes it."""
        import httpx2

        return httpx2.AsyncClient(
            timeout=self.timeout,
            trust_env=not is_loopback(self._access.base_url),  # no proxy has business on loopback
            verify=self.verify(),
            event_hooks={"request": [self._clean]},
        )

    def verify(self) -> ssl.SSLContext | bool:
        """The certificates to trust; False where nothing is encrypted."""
        import httpx2

        if self._access.base_url.startswith("http://"):
            return False
        if self._certificates is None:
            self._certificates = httpx2.create_ssl_context()
        return self._certificates

    def _prepare(self, sdk: str) -> None:
        importlib.import_module(sdk)
        self.verify()

    async def _clean(self, request: httpx2.Request) -> None:
        for header in list(request.headers):
            if header.lower() not in self._sent:
                del request.headers[header]
        request.headers["user-agent"] = "lila"
        if self._access.api_key:
            request.headers[self._key_header] = f"{self._scheme}{self._access.api_key}"
        # An SDK's one number would be the time to connect as well.
        request.extensions["timeout"] = self.timeout.as_dict()

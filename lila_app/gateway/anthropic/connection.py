"""A client of the Anthropic SDK for one call, which sends what LILA means to send and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lila_app.gateway.access import Access
from lila_app.gateway.transport import Transport

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

SILENCE_SECONDS = 120.0
"""The API sends `ping` events while a model thinks, so two silent minutes are a dead connection.
Chosen (2026-11-30)."""


class Connection:
    """Makes clients for one address and key."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._transport = Transport(access, SILENCE_SECONDS, also=("anthropic-version",))

    async def ready(self) -> None:
        """Load the SDK and the certificates ahead, so that the first turn does not wait for it."""
        await self._transport.ready("anthropic")

    async def client(self) -> AsyncAnthropic:
        """A client that never retries: retries are the gateway's."""
        await self.ready()
        import anthropic

        return anthropic.AsyncAnthropic(
            api_key=self._access.api_key or "none",  # given, so that the disk is not searched
            base_url=self._access.base_url,
            max_retries=0,
            timeout=self._transport.timeout,
            http_client=self._transport.client(),
            open_telemetry=False,
        )

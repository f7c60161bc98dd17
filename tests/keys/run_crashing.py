"""`lila` with providers that fail in a way nobody planned for, with a key in the exception."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator

from lila_app import models
from lila_app.cli import main
from lila_app.gateway.access import Access
from lila_app.gateway.port import ProviderEvent, Request

_access = models.Roster.access


def _crashing(self: models.Roster, provider: str) -> Access:
    access = _access(self, provider)
    local = access.api_key

    async def stream(_: object, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        if request:
            raise KeyError(local, access)
        yield  # pyright: ignore[reportReturnType]

    from lila_app.gateway.openai.provider import OpenAIProvider

    OpenAIProvider.stream = stream  # pyright: ignore[reportAttributeAccessIssue]
    return access


models.Roster.access = _crashing

if __name__ == "__main__":
    sys.exit(main())

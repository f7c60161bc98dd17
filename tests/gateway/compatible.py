"""A model behind a loopback server of the Chat Completions kind."""

from __future__ import annotations

from lila_app.context.items import ModelLimits
from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
from tests.gateway.chat_server import ChatServer

LIMITS = ModelLimits(window=8_192, context_budget=4_000)


def provider(
    server: ChatServer, *, key: str | None = None, name: str = "local/m"
) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider(name, Endpoint(server.base_url, key), LIMITS)

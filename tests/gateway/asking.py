"""Asking a provider and keeping what it said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, cast

from lila_app.gateway.port import (
    Finished,
    Message,
    Provider,
    ProviderEvent,
    Request,
    TextDelta,
    ThinkingDelta,
    Usage,
)

Slot = Literal["chat", "voice", "background"]

LONG = "Once there was a sailor who counted the waves, and the waves counted the sailor. " * 5


@dataclass
class Reply:
    text: str = ""
    thinking: str = ""
    usage: Usage = field(default_factory=Usage)
    ended: str = ""
    kinds: list[type] = field(default_factory=list[type])
    began: asyncio.Event = field(default_factory=asyncio.Event)


def request(
    *said: str,
    system: str = "You answer in few words.",
    max_tokens: int = 8,
    slot: Slot = "chat",
    schema: dict[str, object] | None = None,
) -> Request:
    """User and assistant by turns after a system message."""
    roles: list[Literal["user", "assistant"]] = ["user", "assistant"]
    turns = tuple(Message(roles[at % 2], text) for at, text in enumerate(said))
    return Request((Message("system", system), *turns), max_tokens, slot, schema)


async def ask(provider: Provider, asked: Request, into: Reply | None = None) -> Reply:
    """The whole reply; `into` also keeps what came before an error."""
    reply = into if into is not None else Reply()
    async with aclosing(opened(provider, asked)) as events:
        async for event in events:
            reply.kinds.append(type(event))
            match event:
                case TextDelta(text):
                    reply.text += text
                    reply.began.set()
                case ThinkingDelta(text):
                    reply.thinking += text
                case Usage():
                    reply.usage = event
                case Finished(reason):
                    reply.ended = reason
    return reply


def opened(provider: Provider, asked: Request) -> AsyncGenerator[ProviderEvent, None]:
    """The stream itself, for those who stop it."""
    return cast("AsyncGenerator[ProviderEvent, None]", provider.stream(asked))

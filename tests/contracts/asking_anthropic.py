"""A provider of Anthropic's pointed at the contract server, and requests to ask it with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import AnthropicProvider
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import (
    CachePlan,
    Message,
    Provider,
    ProviderEvent,
    Receipt,
    Request,
    Ttl,
    Usage,
)
from lila_app.paths import Home
from tests.contracts.serving import Server

NAME = "anthropic/claude-sonnet-5-5"
KEY = "sk-ant-MARKED-KEY"
CONTRACT = CacheContract("anthropic", minimum=512)
PERSONA = "You are Lila, and you answer in few words. " * 60
"""About 650 tokens as the contract server counts: above the minimum."""


def anthropic(server: Server, name: str = NAME, key: str = KEY) -> AnthropicProvider:
    limits = ModelLimits(window=200_000, context_budget=100_000)
    return AnthropicProvider(name, Access(server.origin, key), limits, CONTRACT)


def factory(server: Server) -> Callable[[Home], Provider]:
    """For whole chats: with tools, on whichever home."""
    limits = ModelLimits(window=200_000, context_budget=100_000, tools=True)
    return lambda _: AnthropicProvider(NAME, Access(server.origin, KEY), limits, CONTRACT)


async def events(provider: Provider, request: Request) -> list[ProviderEvent]:
    """Everything a reply consists of; of receipts and counts the last."""
    found: list[ProviderEvent] = []
    await gathered(provider, request, found)
    return found


async def gathered(provider: Provider, request: Request, into: list[ProviderEvent]) -> None:
    """The same, keeping what came before an error."""
    async with aclosing(provider.stream(request)) as stream:
        async for event in stream:
            if isinstance(event, Receipt | Usage):
                into[:] = [earlier for earlier in into if type(earlier) is not type(event)]
            into.append(event)


def turns(number: int, first: int = 0) -> tuple[Message, ...]:
    """Exchanges that differ from each other."""
    found: list[Message] = []
    for at in range(first, first + number):
        found.append(Message("user", f"Question {at}: what did the ferry do on day {at}?"))
        found.append(Message("assistant", f"On day {at} the ferry left {at} minutes late."))
    return tuple(found)


def conversation(
    number: int,
    *,
    ttls: Sequence[Ttl | None] = (),
    persona: str = PERSONA,
    summary: str = "Goals: mend the boat.",
    session: str = "s1",
    previous: str | None = None,
    now: str = "",
) -> Request:
    """What the assembler makes of a session's turn after `number` whole ones.

    Breakpoints after the persona, the summary (where there is one) and the last whole turn.
    """
    said = list(turns(number))
    if said:
        said[-1] = Message("assistant", said[-1].content, breakpoint=True)
    system = [Message("system", persona, breakpoint=True)]
    if summary:
        system.append(Message("system", summary, breakpoint=True))
    asked = Message("user", f"Now: {now or number}\nMessage:\nAnd today, after {number} days?")
    plan = CachePlan(session=session, ttls=tuple(ttls), previous=previous)
    return Request((*system, *said, asked), 64, cache=plan)


def marks(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The marked blocks of a body in the order of the wire: where each stands, its lifetime.

    `system 0`, or `message 3.0` for the first block of the fourth message.
    """
    found: list[tuple[str, str]] = []
    for at, block in enumerate(body.get("system", [])):
        _note(found, f"system {at}", block)
    for at, message in enumerate(body["messages"]):
        for inner, block in enumerate(message["content"]):
            _note(found, f"message {at}.{inner}", block)
    return found


def _note(found: list[tuple[str, str]], place: str, block: dict[str, dict[str, str]]) -> None:
    if "cache_control" in block:
        found.append((place, block["cache_control"]["ttl"]))

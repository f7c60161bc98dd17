"""What the tests of Gemini share: a provider on a contract server, requests with breakpoints."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini.provider import GeminiProvider
from lila_app.gateway.ledger import Attempt, CachedContent
from lila_app.gateway.port import (
    CachePlan,
    Call,
    Carried,
    Finished,
    Message,
    Prefix,
    ProviderEvent,
    Receipt,
    Request,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from lila_app.testing import MemoryLedger
from tests.contracts.gemini_cache import CHARACTERS
from tests.contracts.gemini_server import GeminiServer

NAME = "gemini/gemini-3.8-flash"
KEY = "AIza-marked-key"
LIMITS = ModelLimits(window=100_000, context_budget=50_000)
CONTRACT = CacheContract(
    kind="contents",
    minimum=4_096,
    short_seconds=300,
    long_seconds=3_600,
    read=1_000,
    write_short=10_000,
    write_long=10_000,
    storage=6_667,
)
"""Gemini 3.8 Flash, as of 2026-11-30."""


@dataclass
class Heard:
    """The events of one reply, sorted."""

    events: list[ProviderEvent] = field(default_factory=list[ProviderEvent])

    def take(self, event: ProviderEvent) -> None:
        """The next one; of receipts and counts the last is kept."""
        if isinstance(event, Receipt | Usage):
            self.events = [held for held in self.events if type(held) is not type(event)]
        self.events.append(event)

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def thinking(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, ThinkingDelta))

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(event for event in self.events if isinstance(event, Call))

    @property
    def carried(self) -> tuple[Carried, ...]:
        return tuple(event for event in self.events if isinstance(event, Carried))

    @property
    def receipts(self) -> list[Receipt]:
        return [event for event in self.events if isinstance(event, Receipt)]

    @property
    def usage(self) -> Usage:
        return next((event for event in self.events if isinstance(event, Usage)), Usage())

    @property
    def ended(self) -> str | None:
        last = self.events[-1] if self.events else None
        return last.reason if isinstance(last, Finished) else None


async def hear(provider: GeminiProvider, asked: Request, into: Heard | None = None) -> Heard:
    """The whole reply; `into` also keeps what came before an error."""
    heard = into if into is not None else Heard()
    async with aclosing(provider.stream(asked)) as events:
        async for event in events:
            heard.take(event)
    return heard


def made(
    server: GeminiServer,
    ledger: MemoryLedger | None = None,
    *,
    name: str = NAME,
    key: str = KEY,
    limits: ModelLimits = LIMITS,
    contract: CacheContract = CONTRACT,
) -> GeminiProvider:
    return GeminiProvider(
        name, Access(server.origin, key), limits, contract, ledger or MemoryLedger(), server.clock
    )


def plain(*said: str, system: str = "Be brief.", **more: object) -> Request:
    """A request without a breakpoint: system, then person and model by turns."""
    turns = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]
    base = Request((Message("system", system), *turns), 100)
    return replace(base, **more)  # pyright: ignore[reportArgumentType]


def sent(server: GeminiServer) -> dict[str, Any]:
    """The body of the last request for a reply."""
    return server.generated[-1].body


def words(tokens: int, letter: str = "a") -> str:
    """A text of so many of the server's tokens."""
    return letter * (tokens * CHARACTERS)


def standing(
    system: Sequence[str],
    turns: Sequence[tuple[str, str]] = (),
    ask: str = "And now?",
    *,
    profile: str = "default",
    session: str = "s1",
    ttls: tuple[object, ...] = (),
    **more: object,
) -> Request:
    """A request as the assembler cuts it: each system text ends a prefix, then the last turn.

    Its declared tokens are counted as the server counts.
    """
    messages = [Message("system", text, breakpoint=True) for text in system]
    for user, reply in turns:
        messages += [Message("user", user), Message("assistant", reply)]
    if turns:
        messages[-1] = replace(messages[-1], breakpoint=True)
    prefixes: list[Prefix] = []
    total, digest = 0, sha256()
    for message in messages:
        total += -(-len(message.content) // CHARACTERS)
        digest.update(message.content.encode())
        if message.breakpoint:
            after = ("profile", "summary")[len(prefixes)] if message.role == "system" else ""
            prefixes.append(Prefix(after or "conversation", digest.hexdigest(), total))
    plan = CachePlan(
        profile=profile,
        session=session,
        use_case="chat",
        prefixes=tuple(prefixes),
        ttls=ttls,  # pyright: ignore[reportArgumentType]
    )
    base = Request((*messages, Message("user", ask)), 100, cache=plan)
    return replace(base, **more)  # pyright: ignore[reportArgumentType]


def keep(
    ledger: MemoryLedger, server: GeminiServer, asked: Request, heard: Heard, *, name: str = NAME
) -> None:
    """Put a call on record, as the gateway does after it."""
    provider, _, model = name.partition("/")
    ledger.attempted(
        Attempt(
            at=server.clock.iso(),
            provider=provider,
            model=model,
            outcome=heard.ended or "",
            usage=heard.usage,
            use_case=asked.cache.use_case,
            session_id=asked.cache.session,
            epoch=asked.cache.epoch,
            prompt_tokens=asked.tokens,
            prefixes=asked.cache.prefixes,
        )
    )


def used_before(ledger: MemoryLedger, server: GeminiServer, asked: Request, times: int) -> None:
    """A past of calls a minute apart with the first prefix of `asked`, in other sessions."""
    for at in range(times):
        other = replace(asked, cache=replace(asked.cache, session=f"past-{at}"))
        keep(ledger, server, other, Heard([Finished("stop")]))
        server.clock.advance(60)


SYSTEM = (words(3_000), words(1_500, "b"))
"""Profile and summary: 4,500 tokens, above the minimum of 4,096."""


def held(ledger: MemoryLedger) -> tuple[CachedContent, ...]:
    """The caches the ledger knows."""
    provider, _, model = NAME.partition("/")
    return ledger.cached(provider, model)


async def turn(
    server: GeminiServer, ledger: MemoryLedger, asked: Request, **more: Any
) -> tuple[int | None, int | None]:
    """One call and what keeps the caches in order after it: tokens read and written."""
    provider = made(server, ledger, **more)
    heard = await hear(provider, asked)
    keep(ledger, server, asked, heard)
    await provider.close()
    return heard.usage.read, heard.usage.written

"""Every wire: a provider on a contract server of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from lila_app.context import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import AnthropicProvider
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
from lila_app.gateway.gemini.provider import GeminiProvider
from lila_app.gateway.openai import OpenAIProvider
from lila_app.gateway.port import Provider
from lila_app.testing import FakeClock, MemoryLedger
from tests.contracts import serving
from tests.contracts.anthropic_server import anthropic_server
from tests.contracts.gemini_server import GeminiServer, gemini
from tests.contracts.openai_server import KEY as OPENAI_KEY
from tests.contracts.openai_server import openai_server
from tests.contracts.serving import Server
from tests.gateway import chat_server

LIMITS = ModelLimits(window=200_000, context_budget=8_000)
KEY = "key-of-nobody"


@dataclass
class Wire:
    """A provider on a server of its own, and the requests for a reply that came there."""

    server: Server
    provider: Provider

    @property
    def asked(self) -> int:
        seen: Sequence[serving.Exchange] = self.server.seen
        if isinstance(self.server, GeminiServer):
            seen = self.server.generated
        return len(seen)


@contextmanager
def anthropic() -> Iterator[Wire]:
    with anthropic_server() as server:
        access = Access(server.origin, KEY)
        contract = CacheContract("anthropic", minimum=512)
        name = "anthropic/claude-sonnet-5-5"
        yield Wire(server, AnthropicProvider(name, access, LIMITS, contract))


@contextmanager
def openai() -> Iterator[Wire]:
    with openai_server() as server:
        access = Access(server.base_url, OPENAI_KEY)
        contract = CacheContract("breakpoints", minimum=1_024)
        yield Wire(server, OpenAIProvider("openai/gpt-6.1-terra", access, LIMITS, contract))


@contextmanager
def google() -> Iterator[Wire]:
    with gemini() as server:
        access = Access(server.origin, KEY)
        contract = CacheContract("contents", minimum=4_096)
        provider = GeminiProvider(
            "gemini/gemini-3.8-flash", access, LIMITS, contract, MemoryLedger(), FakeClock()
        )
        yield Wire(server, provider)


@contextmanager
def compatible() -> Iterator[Wire]:
    with chat_server.serving(_hello) as server:
        provider = OpenAICompatibleProvider("local/m", Endpoint(server.base_url, KEY), LIMITS)
        yield Wire(server, provider)


def _hello(exchange: chat_server.Exchange) -> None:
    exchange.begin()
    for piece in ("Hel", "lo"):
        exchange.speak()
        exchange.piece(piece)
    exchange.piece(None, "stop")
    exchange.usage(prompt_tokens=30, completion_tokens=2, total_tokens=32)
    exchange.done()

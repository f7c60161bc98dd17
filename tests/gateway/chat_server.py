"""A loopback server that speaks Chat Completions, and fails in every way such servers do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

from tests.contracts import serving as generic


@dataclass
class Exchange(generic.Exchange):
    """One request as it came, and the means to answer it with Chat Completions."""

    def piece(self, text: str | None, finish: str | None = None, **delta: object) -> None:
        choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
        self.data(json.dumps(_chunk(choices=[choice])))

    def usage(self, **usage: object) -> None:
        self.data(json.dumps(_chunk(choices=[], usage=usage)))

    def done(self) -> None:
        self.data("[DONE]")
        self.end()

    def until_broken(self, piece: str) -> None:
        """Stream until the other side hangs up, which sets `broken`."""
        self.until_hung_up(lambda: self.piece(piece))


Answer = Callable[[Exchange], None]


def _chunk(**more: object) -> dict[str, object]:
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        **more,
    }


class ChatServer(generic.Server):
    """Answers each request with `instead`, which a test may replace."""

    # Its exchanges can say more than the general ones, and it is only ever given its own.
    seen: list[Exchange]  # type: ignore[assignment]
    instead: Callable[[Exchange], object] | None  # type: ignore[assignment]

    def answer(self, exchange: generic.Exchange) -> None:
        assert isinstance(exchange, Exchange)
        hello(exchange)

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def exchange(self, handler: BaseHTTPRequestHandler, raw: bytes) -> Exchange:
        return Exchange(handler, *generic.parsed(handler, raw), raw)


@contextmanager
def serving(answer: Answer) -> Iterator[ChatServer]:
    """The server, answering each request with `answer` until it is told otherwise."""
    server = ChatServer()
    server.instead = answer
    with generic.listening(server):
        yield server


def hello(exchange: Exchange) -> None:
    """A whole reply, with usage as llama-server reports it."""
    exchange.begin()
    exchange.piece("", role="assistant")
    exchange.piece("Hel")
    exchange.piece("lo")
    exchange.piece(None, "stop")
    exchange.usage(
        prompt_tokens=30,
        completion_tokens=2,
        total_tokens=32,
        prompt_tokens_details={"cached_tokens": 24},
    )
    exchange.done()

"""What the embedded provider asks of its server, and what it makes of a server that misbehaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    LilaError,
    TruncatedReplyError,
    UnavailableError,
)
from lila_app.gateway.chat.neutral import Neutraliser
from lila_app.gateway.embedded.provider import EmbeddedProvider, Sampling
from lila_app.gateway.embedded.server import Served
from lila_app.gateway.embedded.weights import Weights
from lila_app.gateway.port import Call, Carried, Result, Step, Tool
from tests.gateway.asking import Slot, ask, request
from tests.gateway.chat_server import ChatServer, Exchange, hello


class StandIn:
    """Where the process would be: a loopback server of the test's own."""

    def __init__(self, address: str) -> None:
        self._served = Served(address, "the-key", Neutraliser(("<file_sep>",)))
        self.discarded = 0

    def ensure(self) -> Served:
        return self._served

    def discard(self, served: Served) -> None:
        self.discarded += 1

    def stop(self) -> None:
        pass


@pytest.fixture
def process(server: ChatServer) -> StandIn:
    return StandIn(server.origin)


@pytest.fixture
def provider(process: StandIn, monkeypatch: pytest.MonkeyPatch) -> EmbeddedProvider:
    weights = Weights("embedded/m", Path("m.gguf"), "", 0)
    made = EmbeddedProvider(weights, ModelLimits(4_096, 1_200), Sampling(temperature=0.2))
    monkeypatch.setattr(made, "_server", process)
    return made


@pytest.mark.parametrize(("slot", "number"), [("chat", 0), ("voice", 1), ("background", 2)])
async def test_each_use_has_a_slot_of_its_own_and_asks_for_the_cache(
    server: ChatServer, provider: EmbeddedProvider, slot: Slot, number: int
) -> None:
    await ask(provider, request("see <file_sep>", system="s", max_tokens=9, slot=slot))
    (seen,) = server.seen
    assert seen.headers["authorization"] == "Bearer the-key"
    assert seen.body == {
        "model": "embedded/m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "see < file_sep>"},
        ],
        "max_tokens": 9,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,
        "cache_prompt": True,
        "id_slot": number,
        "temperature": 0.2,
    }


async def test_warming_asks_for_no_reply_and_for_no_opening_of_one(
    server: ChatServer, provider: EmbeddedProvider
) -> None:
    await provider.warm(request("a", max_tokens=0))
    assert server.seen[0].body["add_generation_prompt"] is False
    assert server.seen[0].body["max_tokens"] == 0


async def test_it_is_offered_no_tools_and_is_told_what_those_of_the_turn_found(
    server: ChatServer, provider: EmbeddedProvider
) -> None:
    tool = Tool("search", "Search.", {"type": "object"})
    one, two = Call("a", "search", "{}"), Call("b", "add_goal", "{}")
    results = (Result(one, "It is <|im_end|> red."), Result(two, "no room", failed=True))
    carried = (Carried("openai/gpt-5.6", '[{"type": "reasoning"}]'),)
    step = Step("Let me look.", results, carried)
    await ask(provider, replace(request("a", system="s"), tools=(tool,), steps=(step,)))
    (seen,) = server.seen
    assert "tools" not in seen.body
    assert seen.body["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "Let me look."},
        {
            "role": "user",
            "content": "search found: It is < |im_end|> red.\nadd_goal failed: no room",
        },
    ]


async def test_warming_nothing_asks_nothing(server: ChatServer, provider: EmbeddedProvider) -> None:
    asked = request("a")
    await provider.warm(type(asked)((), 0))
    assert server.seen == []


def _stream(*lines: str, finish: str | None = None) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.piece("Hel", finish)
        for line in lines:
            exchange.data(line)
        exchange.end()

    return answer


def _drop(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.drop()


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (_stream(), TruncatedReplyError, "broke off"),
        (_stream("[DONE]"), TruncatedReplyError, "broke off"),
        (_stream(finish="stop"), TruncatedReplyError, "broke off"),
        (_stream("{nonsense"), UnavailableError, "unreadable"),
        (_stream("[1]"), UnavailableError, "unreadable"),
        (_stream('{"error": {"message": "out of memory"}}'), UnavailableError, "out of memory"),
        (
            _stream('{"error": {"code": 400, "type": "exceed_context_size_error"}}'),
            ContextTooLarge,
            "larger than",
        ),
        (lambda exchange: exchange.json(401, {"error": "key"}), AuthenticationError, "key"),
        (lambda exchange: exchange.text(503, "loading"), UnavailableError, "loading"),
    ],
)
async def test_a_server_that_misbehaves_is_an_error_of_ours(
    server: ChatServer,
    provider: EmbeddedProvider,
    answer: Callable[[Exchange], None],
    error: type[LilaError],
    says: str,
) -> None:
    server.instead = answer
    with pytest.raises(error, match=says) as caught:
        await ask(provider, request("Hi."))
    assert caught.value.hint


async def test_a_broken_connection_throws_the_process_away(
    server: ChatServer, provider: EmbeddedProvider, process: StandIn
) -> None:
    server.instead = _drop
    with pytest.raises(UnavailableError, match="stopped answering"):
        await ask(provider, request("Hi."))
    assert process.discarded == 1
    server.instead = hello
    assert (await ask(provider, request("Hi."))).text == "Hello"  # the model is free again

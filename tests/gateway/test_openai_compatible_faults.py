"""The real OpenAI SDK against a loopback server that misbehaves in every known way."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TruncatedReplyError,
    UnavailableError,
)
from tests.gateway.asking import Reply, ask, request
from tests.gateway.chat_server import ChatServer, Exchange, hello, serving
from tests.gateway.compatible import provider


async def test_an_account_without_money_is_not_asked_to_wait(server: ChatServer) -> None:
    server.instead = _error(429, "You exceeded your quota.", code="insufficient_quota")
    with pytest.raises(SpendLimitError, match="exceeded your quota"):
        await ask(provider(server), request("Hi."))
    server.instead = _error(402, "Insufficient credits.")
    with pytest.raises(SpendLimitError):
        await ask(provider(server), request("Hi."))


def _error(status: int, message: str = "no", **more: object) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.json(status, {"error": {"message": message, **more}})


def _dropped(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.drop()


def _cut(exchange: Exchange) -> None:
    """A proxy that closes the stream politely in the middle of a reply."""
    exchange.begin()
    exchange.piece("Hel")
    exchange.end()


def _cut_before_the_reason(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hello")
    exchange.done()


def _garbage(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.data("{not json")
    exchange.done()


def _error_in_the_stream(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel")
    exchange.data('{"error": {"message": "out of memory", "code": 500}}')
    exchange.done()


def _filtered(exchange: Exchange) -> None:
    exchange.begin()
    exchange.piece("Hel", "content_filter")
    exchange.done()


def _web_page(exchange: Exchange) -> None:
    exchange.text(200, "<html>a router's login page</html>")


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (_error(401), AuthenticationError, "refused the key"),
        (_error(403), AuthenticationError, "refused the key"),
        (_error(404, "model not found"), RequestRefusedError, "model not found"),
        (_error(400, "bad"), RequestRefusedError, r"\(400\): bad"),
        (_error(422), RequestRefusedError, r"\(422\)"),
        (_error(500), UnavailableError, r"\(500\)"),
        (_error(503, "loading"), UnavailableError, "loading"),
        (_error(413), ContextTooLarge, "larger than"),
        (
            _error(400, "too long", type="exceed_context_size_error"),
            ContextTooLarge,
            "larger than",
        ),
        (_error(400, "maximum context length is 4096 tokens"), ContextTooLarge, "larger than"),
        (_error(400, code="context_length_exceeded"), ContextTooLarge, "larger than"),
        (_dropped, UnavailableError, "broke off"),
        (_cut, TruncatedReplyError, "broke off"),
        (_cut_before_the_reason, TruncatedReplyError, "broke off"),
        (_garbage, UnavailableError, "not Chat Completions"),
        (_error_in_the_stream, UnavailableError, "out of memory"),
        (_filtered, RequestRefusedError, "content filter"),
        (_web_page, UnavailableError, "not Chat Completions"),
    ],
)
async def test_each_fault_is_an_error_of_ours_with_something_to_do(
    server: ChatServer, answer: Callable[[Exchange], None], error: type[GatewayError], says: str
) -> None:
    server.instead = answer
    with pytest.raises(error, match=says) as caught:
        await ask(provider(server), request("Hi."))
    assert caught.value.hint
    assert len(server.seen) == 1  # the SDK does not try again by itself


async def test_what_came_before_a_fault_was_delivered(server: ChatServer) -> None:
    server.instead = _dropped
    partial = Reply()
    with pytest.raises(UnavailableError):
        await ask(provider(server), request("Hi."), partial)
    assert partial.text == "Hel"


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7.0, 7.0),
        (format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True), 3_000, 3_600),
        (format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True), 0.0, 0.0),
    ],
    ids=["seconds", "a time to come", "a time gone by"],
)
async def test_being_asked_to_wait_says_how_long(
    server: ChatServer, header: str, least: float, most: float
) -> None:
    server.instead = lambda exchange: exchange.json(
        429, {"error": {"message": "slow down"}}, retry_after=header
    )
    with pytest.raises(RateLimitedError, match="slow down") as caught:
        await ask(provider(server), request("Hi."))
    assert caught.value.retry_after is not None
    assert least <= caught.value.retry_after <= most


@pytest.mark.parametrize("header", [None, "soon"])
async def test_being_asked_to_wait_without_a_time_is_none(
    server: ChatServer, header: str | None
) -> None:
    more = {} if header is None else {"retry_after": header}
    server.instead = lambda exchange: exchange.json(429, {"error": "slow down"}, **more)
    with pytest.raises(RateLimitedError) as caught:
        await ask(provider(server), request("Hi."))
    assert caught.value.retry_after is None


async def test_a_server_that_is_not_there_is_named_with_its_address() -> None:
    with serving(hello) as gone:
        pass
    with pytest.raises(UnavailableError, match=gone.base_url):
        await ask(provider(gone), request("Hi."))


async def test_a_key_that_is_echoed_is_not_shown(server: ChatServer) -> None:
    key = "sk-very-" + "secret"  # the traceback quotes these lines too
    server.instead = _error(401, f"Incorrect API key provided: {key}")
    with pytest.raises(AuthenticationError) as caught:
        await ask(provider(server, key=key), request("Hi."))
    assert key not in "".join(traceback.format_exception(caught.value))


async def test_a_missing_ollama_model_comes_with_the_command_that_fetches_it(
    server: ChatServer,
) -> None:
    server.instead = _error(404, 'model "m" not found')
    with pytest.raises(RequestRefusedError) as caught:
        await ask(provider(server, name="ollama/m"), request("Hi."))
    assert "`ollama pull m`" in caught.value.hint

"""What goes wrong at Anthropic's end, as one of our errors; the key is in none of them."""

from __future__ import annotations

import traceback
from dataclasses import replace

import pytest

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    LilaError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.anthropic import connection
from lila_app.gateway.port import Finished, ProviderEvent, Receipt, TextDelta, Usage
from tests.contracts import serving
from tests.contracts.anthropic_server import AnthropicServer
from tests.contracts.asking_anthropic import KEY, NAME, anthropic, conversation, events, gathered
from tests.contracts.serving import Exchange, Fault


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stall is noticed soon."""
    monkeypatch.setattr(connection, "SILENCE_SECONDS", 0.5)


async def failing(server: AnthropicServer, said: list[ProviderEvent] | None = None) -> GatewayError:
    """The error of the next reply, which shows the key nowhere."""
    with pytest.raises(GatewayError) as raised:
        await gathered(anthropic(server), conversation(0), said if said is not None else [])
    error = raised.value
    shown = "".join(traceback.format_exception(error))
    assert KEY not in f"{error} {error.hint} {error!r} {vars(error)} {shown}"
    assert error.hint
    return error


def refusing(server: AnthropicServer, status: int, said: str, code: str = "") -> None:
    def answer(exchange: Exchange) -> None:
        # Some servers repeat the credential in what they say.
        server.refuse(exchange, status, f"{said} (as {KEY})", code)

    server.instead = answer


@pytest.mark.parametrize(
    ("status", "said", "code", "kind"),
    [
        (400, "messages: bad", "", RequestRefusedError),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "", ContextTooLarge),
        (400, "input length and `max_tokens` exceed context limit: 9", "", ContextTooLarge),
        (400, "Your credit balance is too low to access the API", "", SpendLimitError),
        (401, "invalid key", "", AuthenticationError),
        (402, "pay", "", SpendLimitError),
        (403, "not yours", "", AuthenticationError),
        (404, "model: no-such", "", RequestRefusedError),
        (413, "Request exceeds the maximum size", "", ContextTooLarge),
        (429, "slow down", "", RateLimitedError),
        (429, "ramp", "ramp_limit_exceeded", RateLimitedError),
        (429, "limit", "contract_spend_limit_reached", SpendLimitError),
        (429, "limit", "enforced_spend_limit_reached", SpendLimitError),
        (429, "limit", "linked_organization_spend_limit_reached", SpendLimitError),
        (403, "billing", "linked_organization_billing_unavailable", SpendLimitError),
        (500, "oops", "", UnavailableError),
        (504, "late", "", UnavailableError),
        (529, "Overloaded", "", UnavailableError),
    ],
)
async def test_every_status_has_its_error(
    server: AnthropicServer, status: int, said: str, code: str, kind: type[LilaError]
) -> None:
    refusing(server, status, said, code)
    error = await failing(server)
    assert type(error) is kind
    assert said in str(error)
    assert "(key)" in str(error)
    assert NAME in str(error)


async def test_a_prompt_that_is_too_large_names_the_model_it_is_for(
    server: AnthropicServer,
) -> None:
    refusing(server, 400, "prompt is too long: 210000 tokens > 200000 maximum")
    error = await failing(server)
    assert isinstance(error, ContextTooLarge)
    assert error.model == NAME


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "Wed, 01 Jan 2020 00:00:00 GMT"}, 0.0),
        ({"retry_after": "-3"}, 0.0),
        ({"retry_after": "9", "retry_after_ms": "1500"}, 1.5),
    ],
    ids=str,
)
async def test_how_long_to_wait_is_said(
    server: AnthropicServer, headers: dict[str, str], expected: float | None
) -> None:
    server.instead = lambda exchange: server.refuse(exchange, 429, "slow", **headers)
    error = await failing(server)
    assert isinstance(error, RateLimitedError)
    assert error.retry_after == expected
    assert len(server.seen) == 1, "retries are the gateway's"


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("overloaded_error", UnavailableError),
        ("api_error", UnavailableError),
        ("timeout_error", UnavailableError),
        ("rate_limit_error", RateLimitedError),
        ("authentication_error", AuthenticationError),
        ("permission_error", AuthenticationError),
        ("billing_error", SpendLimitError),
        ("invalid_request_error", RequestRefusedError),
        ("not_found_error", RequestRefusedError),
        ("request_too_large", ContextTooLarge),
        ("something_new", UnavailableError),
    ],
)
async def test_an_error_inside_a_stream_is_told_by_its_type(
    server: AnthropicServer, type_: str, kind: type[LilaError]
) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        error = {"type": type_, "message": "it broke"}
        exchange.event("error", {"type": "error", "error": error})
        exchange.end()

    server.instead = answer
    error = await failing(server)
    assert type(error) is kind
    assert "it broke" in str(error)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (serving.RATE_LIMITED, RateLimitedError),
        (serving.RATE_LIMITED_FOR_A_WHILE, RateLimitedError),
        (serving.OVERLOADED, UnavailableError),
        (serving.BROKEN, UnavailableError),
        (serving.REFUSED, UnreachableError),
        (serving.GARBAGE_PAGE, UnavailableError),
        (serving.DROPPED_FIRST, UnavailableError),
        (serving.TRUNCATED_FIRST, TruncatedReplyError),
        (serving.STALLED_FIRST, TimedOutError),
        (serving.GARBAGE_FIRST, UnavailableError),
        (serving.ERROR_FIRST, UnavailableError),
    ],
    ids=str,
)
async def test_a_fault_before_the_first_token_shows_nothing(
    server: AnthropicServer, fault: Fault, kind: type[LilaError]
) -> None:
    server.fail(fault)
    said: list[ProviderEvent] = []
    assert type(await failing(server, said)) is kind
    assert not any(isinstance(event, TextDelta | Finished) for event in said)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (serving.DROPPED, UnavailableError),
        (serving.TRUNCATED, TruncatedReplyError),
        (serving.STALLED, TimedOutError),
        (serving.GARBAGE, UnavailableError),
        (serving.ERROR, UnavailableError),
    ],
    ids=str,
)
async def test_a_fault_after_the_first_token_keeps_it_says_what_was_paid_and_raises(
    server: AnthropicServer, fault: Fault, kind: type[LilaError]
) -> None:
    server.fail(fault)
    said: list[ProviderEvent] = []
    assert type(await failing(server, said)) is kind
    counted = server.counted[0]
    assert said == [
        TextDelta("Hel"),
        Receipt("msg_1"),
        Usage(counted.total, 0, counted.written, output=1, written_long=0),
    ]


def test_the_lists_of_faults_are_whole() -> None:
    assert len({fault.name for fault in serving.FAULTS}) == len(serving.FAULTS) == 17


async def test_a_slow_first_token_is_no_fault(server: AnthropicServer) -> None:
    server.fail(replace(serving.SLOW, seconds=0.2))
    assert (await events(anthropic(server), conversation(0)))[-1] == Finished("stop")


async def test_after_faults_the_server_answers_again(server: AnthropicServer) -> None:
    server.fail(serving.OVERLOADED, times=2)
    for _ in range(2):
        await failing(server)
    server.fail(serving.REFUSED)
    await failing(server)
    await failing(server)
    server.heal()
    assert (await events(anthropic(server), conversation(0)))[-1] == Finished("stop")


async def test_a_reason_without_the_marker_is_not_an_end(server: AnthropicServer) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        delta = {"stop_reason": "end_turn"}
        usage = {"output_tokens": 3}
        made = {"type": "message_delta", "delta": delta, "usage": usage}
        exchange.event("message_delta", made)
        exchange.end()

    server.instead = answer
    assert type(await failing(server)) is TruncatedReplyError


async def test_a_marker_without_a_reason_is_not_an_end(server: AnthropicServer) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event("message_stop", {"type": "message_stop"})
        exchange.end()

    server.instead = answer
    assert type(await failing(server)) is TruncatedReplyError

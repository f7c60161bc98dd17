"""Every way OpenAI's wire fails is an error of ours, and none of them shows the key."""

from __future__ import annotations

import traceback

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
from lila_app.gateway.openai import connection
from lila_app.gateway.port import Finished, ProviderEvent, TextDelta, Usage
from tests.contracts import serving
from tests.contracts.asking_openai import openai, said
from tests.contracts.openai_server import OpenAIServer, Said
from tests.contracts.serving import Exchange, Fault

EXPECTED: dict[Fault, type[GatewayError]] = {
    serving.RATE_LIMITED: RateLimitedError,
    serving.RATE_LIMITED_FOR_A_WHILE: RateLimitedError,
    serving.TRUNCATED_FIRST: TruncatedReplyError,
    serving.TRUNCATED: TruncatedReplyError,
}


@pytest.mark.parametrize("fault", [*serving.BEFORE, *serving.AFTER], ids=str)
async def test_no_fault_passes_as_success_and_what_came_before_it_was_delivered(
    server: OpenAIServer, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE_SECONDS", 0.5)  # for the stalls
    server.fail(fault)
    events: list[ProviderEvent] = []
    with pytest.raises(EXPECTED.get(fault, UnavailableError)) as caught:
        await said(openai(server), into=events)
    assert caught.value.hint
    assert events == [TextDelta("Hel")] * fault.after
    assert len(server.seen) == (0 if fault is serving.REFUSED else 1)  # no try of its own
    server.heal()
    assert (await said(openai(server)))[-1] == Finished("stop")


async def test_a_slow_first_token_is_only_slow(server: OpenAIServer) -> None:
    server.fail(serving.SLOW)
    assert (await said(openai(server)))[-1] == Finished("stop")


async def test_a_wait_that_was_asked_for_is_passed_on(server: OpenAIServer) -> None:
    server.fail(serving.RATE_LIMITED_FOR_A_WHILE)
    with pytest.raises(RateLimitedError) as caught:
        await said(openai(server))
    assert caught.value.retry_after == 7.0


@pytest.mark.parametrize(
    ("status", "code", "kind", "error", "says"),
    [
        (400, "invalid_value", "invalid_request_error", RequestRefusedError, r"\(400\)"),
        (400, "context_length_exceeded", "invalid_request_error", ContextTooLarge, "larger than"),
        (401, "invalid_api_key", "invalid_request_error", AuthenticationError, "refused the key"),
        (402, None, "billing_error", SpendLimitError, "no money left"),
        (403, "unsupported_country", "request_forbidden", AuthenticationError, "refused"),
        (404, "model_not_found", "invalid_request_error", RequestRefusedError, "lila models|404"),
        (408, None, "timeout", UnavailableError, r"\(408\)"),
        (413, None, "invalid_request_error", ContextTooLarge, "larger than"),
        (422, None, "invalid_request_error", RequestRefusedError, r"\(422\)"),
        (429, "insufficient_quota", "insufficient_quota", SpendLimitError, "no money left"),
        (429, "billing_hard_limit_reached", "billing", SpendLimitError, "no money left"),
        (429, "rate_limit_exceeded", "tokens", RateLimitedError, "asks to wait"),
        (500, "server_error", "server_error", UnavailableError, r"\(500\)"),
        (503, "server_is_overloaded", "service_unavailable", UnavailableError, r"\(503\)"),
    ],
)
async def test_each_refusal_is_an_error_of_ours_that_says_what_it_said(
    server: OpenAIServer,
    status: int,
    code: str | None,
    kind: str,
    error: type[GatewayError],
    says: str,
) -> None:
    body = {"error": {"message": "They said so.", "type": kind, "param": None, "code": code}}
    server.instead = lambda exchange: exchange.json(status, body)
    with pytest.raises(error, match=says) as caught:
        await said(openai(server))
    assert type(caught.value) is error
    assert "They said so." in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("ends", ["failed", "error"])
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("server_error", UnavailableError),
        ("something_new", UnavailableError),
        ("rate_limit_exceeded", RateLimitedError),
        ("insufficient_quota", SpendLimitError),
        ("invalid_prompt", RequestRefusedError),
        ("bio_policy", RequestRefusedError),
        ("context_length_exceeded", ContextTooLarge),
    ],
)
async def test_an_error_inside_the_stream_is_raised_although_the_sdk_yields_it(
    server: OpenAIServer, ends: str, code: str, error: type[GatewayError]
) -> None:
    server.reply = lambda body: Said(ends=ends, why=code)
    events: list[ProviderEvent] = []
    with pytest.raises(error, match=f"It broke: {code}"):
        await said(openai(server), into=events)
    assert events[0] == TextDelta("Hel")
    # A failed response says what it used; an `error` event cannot.
    assert any(isinstance(event, Usage) for event in events) == (ends == "failed")


async def test_an_error_event_of_the_other_form_is_understood(server: OpenAIServer) -> None:
    def answer(exchange: Exchange) -> None:
        exchange.begin()
        error = {"code": "rate_limit_exceeded", "message": "Slow down."}
        exchange.event("error", {"type": "error", "sequence_number": 0, "error": error})
        exchange.end()

    server.instead = answer
    with pytest.raises(RateLimitedError, match="Slow down"):
        await said(openai(server))


@pytest.mark.parametrize(
    ("why", "error", "says"),
    [
        ("content_filter", RequestRefusedError, "content filter"),
        ("max_messages", TruncatedReplyError, "max_messages"),
    ],
)
async def test_a_response_that_ended_early_is_no_whole_reply(
    server: OpenAIServer, why: str, error: type[GatewayError], says: str
) -> None:
    server.reply = lambda body: Said(ends="incomplete", why=why)
    with pytest.raises(error, match=says):
        await said(openai(server))


async def test_a_stream_without_its_terminal_event_broke_off(server: OpenAIServer) -> None:
    server.reply = lambda body: Said(ends="")
    with pytest.raises(TruncatedReplyError, match="broke off"):
        await said(openai(server))


async def test_the_servers_own_contract_refuses_what_the_api_refuses(server: OpenAIServer) -> None:
    server.window = 5
    with pytest.raises(ContextTooLarge):
        await said(openai(server))
    with pytest.raises(RequestRefusedError, match="does not exist"):
        await said(openai(server, "nothing"))
    assert server.seen[-1].body["model"] == "nothing"


MARKED = "sk-proj-MARKED-6c1f"


@pytest.mark.parametrize("echo", ["status", "stream"])
async def test_a_key_that_is_echoed_is_in_no_sentence_no_repr_and_no_traceback(
    server: OpenAIServer, echo: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    if echo == "stream":

        def answer(exchange: Exchange) -> None:
            exchange.begin()
            exchange.event("error", {"type": "error", "code": "x", "message": f"No {MARKED}."})
            exchange.end()

        server.instead = answer
    asked = openai(server, key=MARKED)
    with pytest.raises(GatewayError) as caught:
        await said(asked)
    assert server.seen[0].headers["authorization"] == f"Bearer {MARKED}"
    shown = "".join(traceback.format_exception(caught.value))
    everything = [shown, str(caught.value), repr(caught.value), caught.value.hint, caplog.text]
    everything += [repr(asked), repr(vars(asked))]
    assert "(key)" in str(caught.value)
    assert not [text for text in everything if "MARKED" in text]

"""Everything that can go wrong on Gemini's wire, and being stopped, through the real SDK."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import traceback
from contextlib import aclosing

import pytest

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    GatewayError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.access import Access
from lila_app.gateway.gemini import client
from lila_app.gateway.gemini.provider import GeminiProvider
from lila_app.testing import FakeClock, MemoryLedger
from tests.contracts import serving
from tests.contracts.gemini_cache import Served
from tests.contracts.gemini_server import GeminiServer, bad_key, chunk, problem
from tests.contracts.gemini_support import CONTRACT, KEY, LIMITS, NAME, Heard, hear, made, plain
from tests.contracts.serving import Exchange, Fault
from tests.waiting import PATIENCE, SOON


def says(code: int, message: str, *details: object) -> dict[str, object]:
    return problem(code, message, "", list(details))


INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo"}
QUOTA = {"@type": "type.googleapis.com/google.rpc.QuotaFailure"}
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
CHECK = "You exceeded your current quota, please check your plan and billing details."
A_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
A_MINUTE = {"violations": [{"quotaId": "GenerateContentInputTokensPerMinute"}]}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (says(400, "Invalid argument."), RequestRefusedError),
        (bad_key(), AuthenticationError),
        (says(401, "Unauthenticated."), AuthenticationError),
        (says(402, "Pay first."), SpendLimitError),
        (says(403, "Permission denied."), AuthenticationError),
        (says(403, "x", INFO | {"reason": "BILLING_DISABLED"}), SpendLimitError),
        (says(404, "models/x is not found for API version v1beta."), RequestRefusedError),
        (
            says(
                400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."
            ),
            ContextTooLarge,
        ),
        (says(413, "Too large."), ContextTooLarge),
        (says(429, CHECK, QUOTA | A_MINUTE), RateLimitedError),
        (says(429, CHECK, QUOTA | A_DAY, RETRY | {"retryDelay": "34s"}), SpendLimitError),
        (says(429, "Your project has exceeded its monthly spending cap."), SpendLimitError),
        (says(429, "Your prepayment credits are depleted."), SpendLimitError),
        (says(500, "Internal."), UnavailableError),
        (says(503, "The model is overloaded."), UnavailableError),
        (says(504, "Deadline exceeded."), UnavailableError),
    ],
    ids=lambda value: "" if isinstance(value, type) else value["error"]["message"][:40],
)
async def test_an_error_of_the_api_becomes_ours_and_is_asked_once(
    server: GeminiServer, body: dict[str, dict[str, object]], kind: type[GatewayError]
) -> None:
    code = body["error"]["code"]
    assert isinstance(code, int)

    def refuses(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.json(code, body)

    server.speaks = refuses
    with pytest.raises(GatewayError) as caught:
        await hear(made(server), plain("Hi."))
    assert type(caught.value) is kind
    assert caught.value.hint
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("delay", "header", "wait"),
    [("34s", None, 34.0), ("0.5s", "9", 0.5), (None, "7", 7.0), (None, None, None)],
)
async def test_the_wait_that_is_asked_for_is_carried(
    server: GeminiServer, delay: str | None, header: str | None, wait: float | None
) -> None:
    def refuses(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        details = [RETRY | {"retryDelay": delay}] if delay else []
        headers = {"retry_after": header} if header else {}
        exchange.json(429, problem(429, "Slow down.", "", list(details)), **headers)

    server.speaks = refuses
    with pytest.raises(RateLimitedError) as caught:
        await hear(made(server), plain("Hi."))
    assert caught.value.retry_after == wait


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (serving.RATE_LIMITED, RateLimitedError, ""),
        (serving.OVERLOADED, UnavailableError, ""),
        (serving.BROKEN, UnavailableError, ""),
        (serving.GARBAGE_PAGE, UnavailableError, ""),
        (serving.DROPPED_FIRST, UnavailableError, ""),
        (serving.TRUNCATED_FIRST, UnavailableError, ""),
        (serving.GARBAGE_FIRST, UnavailableError, ""),
        (serving.ERROR_FIRST, UnavailableError, ""),
        (serving.DROPPED, UnavailableError, "Hel"),
        (serving.TRUNCATED, TruncatedReplyError, "Hel"),
        (serving.GARBAGE, UnavailableError, "Hel"),
        (serving.ERROR, UnavailableError, "Hel"),
    ],
    ids=str,
)
async def test_no_fault_of_the_wire_passes_for_a_reply(
    server: GeminiServer, fault: Fault, kind: type[GatewayError], text: str
) -> None:
    server.fail(fault)
    heard = Heard()
    with pytest.raises(GatewayError) as caught:
        await hear(made(server), plain("Hi."), heard)
    assert (type(caught.value), heard.text, heard.ended) == (kind, text, None)
    assert len(server.seen) == 1
    if text:
        assert heard.usage.total == 5  # what was reported before it broke is not lost


async def test_a_wait_before_the_first_word_is_only_a_wait(server: GeminiServer) -> None:
    server.fail(serving.SLOW)
    assert (await hear(made(server), plain("Hi."))).text == "Hello"


@pytest.mark.parametrize("fault", [serving.STALLED_FIRST, serving.STALLED], ids=str)
async def test_a_stream_that_falls_silent_times_out(
    server: GeminiServer, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENCE_SECONDS", 0.2)
    server.fail(fault)
    with pytest.raises(TimedOutError):
        await hear(made(server), plain("Hi."))


async def test_a_server_that_is_not_there_is_unreachable(server: GeminiServer) -> None:
    provider = made(server)
    server.fail(serving.REFUSED)
    with pytest.raises(UnreachableError):
        await hear(provider, plain("Hi."))


async def test_an_error_inside_a_stream_without_a_code_is_an_error_too(
    server: GeminiServer,
) -> None:
    def stumbles(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.begin()
        exchange.data(json.dumps(chunk([{"text": "Hel"}], served)))
        exchange.data('{"error": {"message": "it broke"}}')
        exchange.end()

    server.speaks = stumbles
    with pytest.raises(UnavailableError):
        await hear(made(server), plain("Hi."))


async def test_a_continuation_is_not_asked_for_behind_the_gateways_back(
    server: GeminiServer,
) -> None:
    def goes_on(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        said = chunk([{"text": "Hel"}], served, "CONTINUATION")
        said["candidates"][0]["continuationToken"] = "more"  # pyright: ignore[reportIndexIssue]
        exchange.begin()
        exchange.data(json.dumps(said))
        exchange.end()

    server.speaks = goes_on
    assert (await hear(made(server), plain("Hi."))).ended == "length"
    assert len(server.seen) == 1


# --- the key ---------------------------------------------------------------------------------


async def test_without_a_key_nothing_is_sent(server: GeminiServer) -> None:
    with pytest.raises(AuthenticationError, match="no key"):
        await hear(made(server, key=""), plain("Hi."))
    assert server.seen == []


async def test_a_key_is_in_no_error_and_no_repr(server: GeminiServer) -> None:
    def tells(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.json(400, problem(400, f"the key {KEY} is odd"))

    server.speaks = tells
    provider = made(server)
    with pytest.raises(RequestRefusedError) as caught:
        await hear(provider, plain("Hi."))
    told = "".join(traceback.format_exception(caught.value))
    shown = f"{told} {caught.value!r} {caught.value.hint} {provider!r} {vars(provider)}"
    assert "(key)" in shown
    assert KEY not in shown


# --- stopping --------------------------------------------------------------------------------


def endless(server: GeminiServer, exchange: Exchange, served: Served) -> None:
    exchange.begin()
    said = json.dumps(chunk([{"text": "on and on "}], served))
    exchange.until_hung_up(lambda: exchange.data(said))


async def test_closing_the_stream_stops_the_server(server: GeminiServer) -> None:
    server.speaks = endless
    async with aclosing(made(server).stream(plain("Hi."))) as events:
        async for _ in events:
            break
        began = time.monotonic()
        await events.aclose()
    assert time.monotonic() - began < SOON
    assert await asyncio.to_thread(server.generated[0].broken.wait, SOON)


async def test_cancelling_the_task_stops_the_server(server: GeminiServer) -> None:
    speaking = threading.Event()

    def speaks(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        speaking.set()
        endless(server, exchange, served)

    server.speaks = speaks
    task = asyncio.create_task(hear(made(server), plain("Hi.")))
    assert await asyncio.to_thread(speaking.wait, PATIENCE)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < SOON
    assert await asyncio.to_thread(server.generated[0].broken.wait, SOON)


def test_one_provider_serves_calls_from_several_event_loops(server: GeminiServer) -> None:
    provider = made(server)
    for _ in range(2):
        assert asyncio.run(hear(provider, plain("Hi."))).text == "Hello"


async def test_the_name_and_the_limits_are_what_was_given_and_warming_asks_nothing(
    server: GeminiServer,
) -> None:
    provider = GeminiProvider(
        NAME, Access(server.origin, KEY), LIMITS, CONTRACT, MemoryLedger(), FakeClock()
    )
    await provider.warm(plain("Hi."))
    await provider.close()
    await provider.close()
    assert (provider.name, provider.limits(), server.seen) == (NAME, LIMITS, [])

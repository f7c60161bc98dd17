"""An explicit cache at Gemini: when it is made, and how it is used."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from lila_app.context.items import ModelLimits
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.ledger import CachedContent
from lila_app.gateway.port import Tool
from lila_app.testing import MemoryLedger
from tests.contracts import serving
from tests.contracts.gemini_server import GeminiServer
from tests.contracts.gemini_support import (
    CONTRACT,
    NAME,
    SYSTEM,
    hear,
    held,
    keep,
    made,
    sent,
    standing,
    turn,
    used_before,
    words,
)

# --- made ------------------------------------------------------------------------------------


async def test_a_prefix_that_is_used_again_and_again_is_put_into_a_cache(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    assert await turn(server, ledger, asked) == (0, 4_501)  # a line end joins the two texts
    (creation,) = server.asked("POST")
    assert creation.path == "/v1beta/cachedContents"
    assert creation.body == {
        "model": "models/gemini-3.8-flash",
        "ttl": "300s",
        "systemInstruction": {"parts": [{"text": "\n".join(SYSTEM)}]},
    }
    (content,) = held(ledger)
    assert (content.name, content.tokens) == ("cachedContents/c1", 4_501)
    assert (content.provider, content.model, content.session_id) == (*NAME.split("/"), "s1")
    assert content.expires == "2026-11-30T12:15:00+00:00"  # after ten minutes of the past


async def test_a_request_with_a_cache_leaves_out_what_is_in_it(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    tools = (Tool("look", "Looks.", {"type": "object"}),)
    turns = [("One?", "One."), ("Two?", "Two.")]
    asked = standing(SYSTEM, turns, "Three?", tools=tools, schema={"type": "object"})
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    creation = server.asked("POST")[0].body
    assert [one["role"] for one in creation["contents"]] == [  # pyright: ignore[reportGeneralTypeIssues]
        "user",
        "model",
        "user",
        "model",
    ]
    assert creation["tools"]
    assert sent(server)["cachedContent"] == "cachedContents/c1"
    assert sent(server)["contents"] == [{"role": "user", "parts": [{"text": "Three?"}]}]
    assert {"systemInstruction", "tools", "toolConfig"}.isdisjoint(sent(server))
    assert sent(server)["generationConfig"]["responseMimeType"] == "application/json"


async def test_without_a_cache_the_request_holds_everything_and_nothing_of_caches(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM, [("One?", "One.")])
    assert await turn(server, ledger, asked) == (None, None)
    assert server.asked("POST") == []
    assert sent(server).keys() == {"systemInstruction", "contents", "generationConfig"}
    assert len(sent(server)["contents"]) == 3


async def test_nothing_is_made_below_the_minimum(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing((words(3_000), words(1_095)))
    used_before(ledger, server, asked, 10)
    assert await turn(server, ledger, asked) == (None, None)
    assert server.asked("POST") == []


async def test_the_minimum_is_in_the_providers_tokens(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    # 3,900 declared tokens are 4,095 at a ratio of 1.05 and 4,134 at 1.06.
    asked = standing((words(3_900),))
    server.caches.minimum = 3_000  # the server counts as the declared tokenizer does
    used_before(ledger, server, asked, 10)
    for ratio, creations in ((10_500, 0), (10_600, 1)):
        limits = ModelLimits(100_000, 50_000, ratio)
        await turn(server, ledger, asked, limits=limits)
        assert len(server.asked("POST")) == creations


@pytest.mark.parametrize(
    ("gap", "storage", "creations"),
    [
        # Gaps of g within the life of 300 s, each prefix's first call an infinite one. With n calls
        # measured in one run: h = ((n - 1) * g + 300) / 3600 hours; 1 + s * h + 0.1 n < n?
        (60, 6_667, 1),  # n = 3, h = 0.117: 1.378 < 3
        (60, 145_000, 1),  # s = 14.5: 1 + 1.692 + 0.3 = 2.992 < 3
        (60, 146_000, 0),  # s = 14.6: 1 + 1.703 + 0.3 = 3.003
        (301, 6_667, 0),  # three runs of one call: n = 1
    ],
)
async def test_whether_one_is_made_follows_from_the_gaps_that_were_measured(
    server: GeminiServer, ledger: MemoryLedger, gap: int, storage: int, creations: int
) -> None:
    asked = standing(SYSTEM)
    for at in range(3):
        past = replace(asked, cache=replace(asked.cache, session=f"past-{at}"))
        keep(ledger, server, past, await hear(made(server), past))
        server.clock.advance(gap)
    contract = replace(CONTRACT, storage=storage)
    await turn(server, ledger, asked, contract=contract)
    assert len(server.asked("POST")) == creations


async def test_nothing_is_made_where_no_contract_promises_a_cache_or_the_rule_wants_none(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked, contract=CacheContract("none"))
    await turn(server, ledger, standing(SYSTEM, ttls=(None, None)))
    assert server.asked("POST") == []


async def test_the_lifetime_is_the_one_that_was_chosen(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM, ttls=("long", "short"))
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    assert server.asked("POST")[0].body["ttl"] == "3600s"


async def test_a_prefix_that_changed_since_the_last_call_is_not_put_into_a_cache(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    # A clock at the top; what was measured before it came says that a cache would pay.
    used_before(ledger, server, standing(SYSTEM), 30)
    for minute in range(3):
        ticking = standing((f"It is 12:0{minute}. {SYSTEM[0]}", SYSTEM[1]))
        await turn(server, ledger, ticking)
    creations = server.asked("POST")
    assert len(creations) == 1  # at the first call nothing was known of it
    assert server.caches.read == server.caches.contents[0].tokens


async def test_a_cache_that_cannot_be_made_does_not_cost_the_reply(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    for fault in (serving.BROKEN, serving.RATE_LIMITED, serving.GARBAGE_PAGE):
        server.fail(fault)
        assert await turn(server, ledger, asked) == (None, None)
        assert sent(server).keys() == {"systemInstruction", "contents", "generationConfig"}
    assert held(ledger) == ()


async def test_a_minimum_that_is_higher_than_published_is_learned(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    server.caches.minimum = 5_000
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    provider = made(server, ledger)
    for _ in range(3):
        assert (await hear(provider, asked)).text == "Hello"
    assert len(server.asked("POST")) == 1
    await hear(provider, standing((words(3_600), words(1_500, "b"))))
    assert len(server.asked("POST")) == 2
    assert len(held(ledger)) == 1


# --- used, extended --------------------------------------------------------------------------


async def test_a_cache_is_used_again_by_other_providers_and_sessions(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    assert await turn(server, ledger, asked) == (0, 4_501)
    server.clock.advance(60)
    assert await turn(server, ledger, asked) == (4_501, None)
    server.clock.advance(60)
    assert await turn(server, ledger, standing(SYSTEM, session="s2")) == (4_501, None)
    assert len(server.asked("POST")) == 1


async def test_the_conversation_since_is_sent_beside_the_cache(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    turns = [("One?", "One."), ("Two?", "Two."), ("Three?", "Three.")]
    used_before(ledger, server, standing(SYSTEM, turns[:1]), 10)
    await turn(server, ledger, standing(SYSTEM, turns[:1]))
    await turn(server, ledger, standing(SYSTEM, turns))
    assert len(server.asked("POST")) == 1
    said = [content["parts"][0]["text"] for content in sent(server)["contents"]]
    assert said == ["Two?", "Two.", "Three?", "Three.", "And now?"]


async def test_each_use_gives_a_cache_its_whole_life_again(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    for _ in range(4):
        server.clock.advance(290)
        assert await turn(server, ledger, asked) == (4_501, None)
    assert len(server.asked("PATCH")) == 4
    assert server.asked("PATCH")[0].body == {"ttl": "300s"}
    (content,) = held(ledger)
    assert content.expires == server.caches.contents[0].expires.isoformat()


async def test_calls_within_seconds_extend_nothing(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    for _ in range(4):
        await turn(server, ledger, asked)
        server.clock.advance(5)
    assert server.asked("PATCH") == []


async def test_a_cache_that_is_about_to_end_is_not_named(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    server.clock.advance(297)
    await turn(server, ledger, asked)
    assert sent(server)["cachedContent"] == "cachedContents/c2"
    assert [content.name for content in held(ledger)] == ["cachedContents/c2"]


async def test_an_extension_that_fails_or_takes_long_does_not_touch_the_reply(
    server: GeminiServer, ledger: MemoryLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    stuck = asyncio.Event()

    async def waits(self: object, content: CachedContent, life: int) -> None:
        await stuck.wait()

    from lila_app.gateway.gemini.contents import CachedContents

    monkeypatch.setattr(CachedContents, "_extend", waits)
    server.clock.advance(100)
    provider = made(server, ledger)
    assert (await hear(provider, asked)).usage.read == 4_501
    stuck.set()
    await provider.close()

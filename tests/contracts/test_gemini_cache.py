"""An explicit cache at Gemini: when it is made, how it is used, and how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import AuthenticationError
from lila_app.gateway.contract import CacheContract
from lila_app.gateway.ledger import CachedContent
from lila_app.gateway.port import Receipt, Request, Tool
from lila_app.testing import MemoryLedger
from tests.contracts import serving
from tests.contracts.gemini_cache import Served
from tests.contracts.gemini_server import GeminiServer, gemini, problem
from tests.contracts.gemini_support import (
    CONTRACT,
    NAME,
    hear,
    keep,
    made,
    standing,
    used_before,
    words,
)
from tests.contracts.serving import Exchange

SYSTEM = (words(3_000), words(1_500, "b"))
"""Profile and summary: 4,500 tokens, above the minimum of 4,096."""


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with gemini() as running:
        yield running


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


def sent(server: GeminiServer) -> dict[str, Any]:
    """The body of the last request for a reply."""
    return server.generated[-1].body


def held(ledger: MemoryLedger) -> tuple[CachedContent, ...]:
    return ledger.cached("gemini", "gemini-3.8-flash")


async def turn(
    server: GeminiServer, ledger: MemoryLedger, asked: Request, **more: Any
) -> tuple[int | None, int | None]:
    """One call and what keeps the caches in order after it: tokens read and written."""
    provider = made(server, ledger, **more)
    heard = await hear(provider, asked)
    keep(ledger, server, asked, heard)
    await provider.close()
    return heard.usage.read, heard.usage.written


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


# --- outgrown, rotated, gone -----------------------------------------------------------------


def long_turns(count: int) -> list[tuple[str, str]]:
    """Turns of 500 tokens each, with the two roles of the server's count 502 or 503."""
    return [(f"{at:04}" + words(249), words(250, "c")) for at in range(count)]


async def test_a_cache_is_made_anew_when_what_lies_beyond_it_has_cost_as_much(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    made_at: list[int] = []
    for count in range(9):
        server.clock.advance(60)
        _, written = await turn(server, ledger, standing(SYSTEM, long_turns(count)))
        made_at += [count] if written else []
    # 0.9 * 500 * (1 + 2 + ... + k) >= 4,500 + 500 k for the first time at k = 6:
    # 0.9 * 10,500 = 9,450 >= 7,500, and at 5 it is 6,750 < 7,000.
    assert made_at == [0, 6]
    assert len(server.asked("DELETE")) == 1
    assert [content.name for content in held(ledger)] == ["cachedContents/c2"]


async def test_a_cut_makes_a_new_cache_and_deletes_the_old_one(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    await turn(server, ledger, standing(SYSTEM, long_turns(2)))
    cut = standing((SYSTEM[0], words(1_500, "d")), long_turns(3)[1:])
    read, written = await turn(server, ledger, cut)
    assert (read, written) == (0, server.caches.contents[1].tokens)
    assert [one.path for one in server.asked("DELETE")] == ["/v1beta/cachedContents/c1"]
    assert [content.name for content in held(ledger)] == ["cachedContents/c2"]
    assert server.caches.contents[0].ended is not None


async def test_another_sessions_cache_is_left_to_it(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    await turn(server, ledger, standing(SYSTEM, session="s1"))
    other = (SYSTEM[0], words(1_500, "d"))
    await turn(server, ledger, standing(other, session="s2"))
    assert server.asked("DELETE") == []
    assert len(held(ledger)) == 2


async def test_a_cache_that_may_hold_what_was_forgotten_is_deleted_and_never_used(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    (content,) = held(ledger)
    ledger.keep_cached(replace(content, key=""))  # as the store does after a forgetting
    await turn(server, ledger, standing((words(100),), session="s2"))
    assert [one.path for one in server.asked("DELETE")] == ["/v1beta/cachedContents/c1"]
    assert held(ledger) == ()
    assert "cachedContent" not in sent(server)


async def test_upkeep_that_fails_is_no_business_of_the_reply_and_a_deletion_is_tried_again(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    await turn(server, ledger, standing(SYSTEM))
    server.refuses = {"PATCH", "DELETE"}
    server.clock.advance(100)
    assert await turn(server, ledger, standing(SYSTEM)) == (4_501, None)
    second, third = ((SYSTEM[0], words(1_500, letter)) for letter in "de")
    assert await turn(server, ledger, standing(second)) == (0, 4_501)
    assert [one.name for one in held(ledger)] == ["cachedContents/c1", "cachedContents/c2"]
    server.refuses = set()
    assert await turn(server, ledger, standing(third)) == (0, 4_501)
    assert [one.name for one in held(ledger)] == ["cachedContents/c3"]
    assert len(server.asked("DELETE")) == 3


async def test_what_was_deleted_elsewhere_is_forgotten(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    await turn(server, ledger, standing(SYSTEM))
    server.caches.delete(server.caches.contents[0])
    await turn(server, ledger, standing((SYSTEM[0], words(1_500, "d"))))
    assert [one.name for one in held(ledger)] == ["cachedContents/c2"]


async def test_of_calls_at_once_one_makes_the_cache_and_all_get_their_reply(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    provider = made(server, ledger)
    replies = await asyncio.gather(*(hear(provider, asked) for _ in range(5)))
    await provider.close()
    assert [reply.text for reply in replies] == ["Hello"] * 5
    assert len(server.asked("POST")) == 1
    assert sum(reply.usage.written or 0 for reply in replies) == 4_501


async def test_a_cache_that_vanished_costs_one_question_and_is_made_again_later(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    server.caches.delete(server.caches.contents[0])
    heard = await hear(made(server, ledger), asked)
    assert (heard.text, heard.usage.read, heard.usage.written) == ("Hello", None, None)
    assert heard.receipts == [Receipt("r-1", "cached_content_not_found", 4_501)]
    with_cache, without = server.generated[-2:]
    assert "cachedContent" in with_cache.body
    assert "cachedContent" not in without.body
    assert held(ledger) == ()
    assert await turn(server, ledger, asked) == (0, 4_501)


async def test_a_key_that_is_refused_is_not_taken_for_a_cache_that_vanished(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM)
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)

    def refuses(server: GeminiServer, exchange: Exchange, served: Served) -> None:
        exchange.json(403, problem(403, "Permission denied."))

    server.speaks = refuses
    with pytest.raises(AuthenticationError):
        await hear(made(server, ledger), asked)
    assert len(server.generated) == 3  # once with the cache, once without, and no third time


# --- apart -----------------------------------------------------------------------------------


async def test_two_profiles_never_share_a_cache(server: GeminiServer, ledger: MemoryLedger) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    for profile in ("default", "work"):
        await turn(server, ledger, standing(SYSTEM, profile=profile, session=profile))
    first, second = held(ledger)
    assert first.key != second.key
    named = [one.body["cachedContent"] for one in server.generated[-2:]]
    assert named == [first.name, second.name]


async def test_two_keys_two_addresses_and_two_models_never_share_a_cache(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    used_before(ledger, server, standing(SYSTEM), 10)
    await turn(server, ledger, standing(SYSTEM, session="a"), key="one")
    await turn(server, ledger, standing(SYSTEM, session="b"), key="two")
    assert len({content.key for content in held(ledger)}) == 2
    with gemini(server.clock) as elsewhere:
        await turn(elsewhere, ledger, standing(SYSTEM, session="c"), key="one")
        assert "cachedContent" in elsewhere.generated[-1].body
        assert len(elsewhere.asked("POST")) == 1


async def test_other_tools_make_another_cache_and_their_order_does_not(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    look, tell = Tool("look", "L.", {"type": "object"}), Tool("tell", "T.", {"type": "object"})
    used_before(ledger, server, standing(SYSTEM), 10)
    await turn(server, ledger, standing(SYSTEM, tools=(look, tell)))
    await turn(server, ledger, standing(SYSTEM, tools=(tell, look)))
    assert len(server.asked("POST")) == 1
    await turn(server, ledger, standing(SYSTEM, tools=(look,)))
    assert len(server.asked("POST")) == 2


async def test_nothing_of_the_person_names_a_cache(
    server: GeminiServer, ledger: MemoryLedger
) -> None:
    asked = standing(SYSTEM, profile="erika", session="secret-session")
    used_before(ledger, server, asked, 10)
    await turn(server, ledger, asked)
    body = json.dumps(server.asked("POST")[0].body)
    assert "erika" not in body
    assert "secret-session" not in body

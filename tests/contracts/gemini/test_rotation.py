"""How an explicit cache at Gemini ends, and whose it is."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from lila_app.errors import AuthenticationError
from lila_app.gateway.port import Receipt, Tool
from lila_app.testing import MemoryLedger
from tests.contracts.gemini_cache import Served
from tests.contracts.gemini_server import GeminiServer, gemini, problem
from tests.contracts.gemini_support import (
    SYSTEM,
    hear,
    held,
    made,
    sent,
    standing,
    turn,
    used_before,
    words,
)
from tests.contracts.serving import Exchange


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

"""OpenAI's prompt cache: the adapter's marks, by hand and through the SDK."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.openai import OpenAIProvider, wire
from lila_app.gateway.port import CachePlan, Message, Prefix, Receipt, Request, Tool, Ttl, Usage
from lila_app.testing import FakeClock
from tests.contracts.asking_openai import AUTOMATIC, MARKS, openai, said
from tests.contracts.openai_server import OpenAIServer

NAME = "openai/gpt-5.6"


def turns(number: int, last: str = "And now?", *, profile: str = "p1") -> Request:
    """Turn `number` (from 1) of a session, cut as the assembler cuts it."""
    system = [
        Message("system", f"You are LILA of {profile}. " + "Be kind. " * 600, True),
        Message("system", "Their goals now: " + "sail. " * 100, True),
    ]
    history: list[Message] = []
    for at in range(1, number):
        history.append(Message("user", f"Question {at}. " + "Hm. " * 20))
        history.append(Message("assistant", f"Answer {at}. " + "So. " * 40))
    if history:
        history[-1] = replace(history[-1], breakpoint=True)
    ends = ["profile", "summary", *(["conversation"] if history else [])]
    return Request(
        (*system, *history, Message("user", f"From memory: {number}.\nMessage:\n{last}")),
        max_tokens=200,
        cache=CachePlan(
            profile=profile,
            session="s1",
            epoch=1,
            use_case="chat",
            prefixes=tuple(Prefix(end, f"{end}-{profile}", 1_500) for end in ends),
        ),
    )


def marked(request: Request, contract: CacheContract = MARKS) -> list[tuple[str, str]]:
    """Each mark as (the part's first words, its lifetime), in order."""
    found: list[tuple[str, str]] = []
    made: Any = wire.body(request, NAME, contract)
    for item in made["input"]:
        for part in item["content"] if isinstance(item["content"], list) else []:
            if "prompt_cache_breakpoint" in part:
                mark = part["prompt_cache_breakpoint"]
                assert mark["mode"] == "explicit"
                found.append((f"{item['role']} {part['text'][:10].strip()}", mark["ttl"]))
    return found


def test_marks_stand_after_the_system_pieces_and_around_the_last_whole_turn() -> None:
    system = [("developer You are LI", "30m"), ("developer Their goal", "30m")]
    opening = ("user ---", "30m")
    assert marked(turns(1)) == system
    assert marked(turns(2)) == [*system, opening]
    assert marked(turns(3)) == [*system, opening, opening]
    assert marked(turns(9)) == [*system, opening, opening]


def test_the_rolling_mark_opens_the_message_after_the_turn_it_ends() -> None:
    made: Any = wire.body(turns(4), NAME, MARKS)
    places = [
        at
        for at, item in enumerate(made["input"])
        if item["role"] == "user" and "prompt_cache_breakpoint" in item["content"][0]
    ]
    # developer, developer, then user and assistant by turns: the fourth user message and the third.
    assert places == [6, 8]
    assert all(isinstance(item["content"], str) for item in made["input"][3::2])


def test_lifetimes_are_those_that_were_chosen_for_each_breakpoint() -> None:
    ttls: tuple[Ttl, ...] = ("long", "long", "short")
    asked = turns(3)
    asked = replace(asked, cache=replace(asked.cache, ttls=ttls))
    assert [ttl for _, ttl in marked(asked)] == ["12h", "12h", "30m", "30m"]


def test_a_breakpoint_that_is_not_worth_its_write_gets_no_mark() -> None:
    asked = turns(3)
    without_turns = replace(asked, cache=replace(asked.cache, ttls=("long", "short", None)))
    assert [ttl for _, ttl in marked(without_turns)] == ["12h", "30m"]
    without_system = replace(asked, cache=replace(asked.cache, ttls=(None, None, "short")))
    assert marked(without_system) == [("user ---", "30m")] * 2


def test_there_are_never_more_than_four_marks_and_the_turn_before_keeps_one() -> None:
    asked = turns(5)
    pieces = list(asked.messages)
    first = pieces[0].content
    pieces[:1] = [Message("system", first[:50], True), Message("system", first[50:], True)]
    asked = replace(asked, messages=tuple(pieces))
    found = marked(asked)
    assert len(found) == 4
    assert [role.partition(" ")[0] for role, _ in found] == ["developer"] * 2 + ["user"] * 2


def test_earlier_models_get_the_same_messages_without_a_mark() -> None:
    with_marks: Any = wire.body(turns(4), NAME, MARKS)
    plain: Any = wire.body(turns(4), NAME, AUTOMATIC)
    assert not marked(turns(4), AUTOMATIC)
    for item in with_marks["input"]:
        for part in item["content"] if isinstance(item["content"], list) else []:
            part.pop("prompt_cache_breakpoint", None)
    assert with_marks["input"] == plain["input"]
    assert with_marks["prompt_cache_key"] == plain["prompt_cache_key"]


def test_the_key_stands_still_while_the_stable_layers_do() -> None:
    keys = {wire.cache_key(turns(number, f"word {number}"), NAME) for number in range(1, 20)}
    assert len(keys) == 1
    assert wire.cache_key(turns(1), "openai/gpt-6") not in keys
    changed = turns(1)
    prefixes = (Prefix("profile", "another persona", 9), *changed.cache.prefixes[1:])
    changed = replace(changed, cache=replace(changed.cache, prefixes=prefixes))
    assert wire.cache_key(changed, NAME) not in keys


def test_two_profiles_never_share_a_key_even_over_the_same_layers() -> None:
    one = turns(3)
    other = replace(one, cache=replace(one.cache, profile="p2"))
    assert one.messages == other.messages
    assert wire.cache_key(one, NAME) != wire.cache_key(other, NAME)
    bare = Request(one.messages, 10)  # without prefixes, as small jobs are
    assert wire.cache_key(bare, NAME) != wire.cache_key(
        replace(bare, cache=CachePlan(profile="p2")), NAME
    )


async def told(asked: OpenAIProvider, request: Request) -> tuple[Usage, Receipt]:
    events = await said(asked, request)
    (usage,) = [event for event in events if isinstance(event, Usage)]
    (receipt,) = [event for event in events if isinstance(event, Receipt)]
    return usage, receipt


async def test_each_turn_reads_all_that_stood_before_the_last_message_of_the_turn_before(
    server: OpenAIServer,
) -> None:
    asked = openai(server)
    for number in range(1, 8):
        usage, _ = await told(asked, turns(number))
        served = server.counted[-1]
        assert (usage.read, usage.written) == (served.read, served.written)
        if number > 2:
            # The opening of the last message is read with the rest: its two tokens are extra.
            assert 0 <= served.read - served.ideal_read <= 3
            assert usage.written is not None and abs(usage.written - served.ideal_written) <= 3
    assert server.counted[-1].read > 1_500


async def test_a_warmed_prefix_is_read_by_the_call_after_it(server: OpenAIServer) -> None:
    asked = openai(server)
    whole = turns(3)
    stable = replace(whole, messages=whole.messages[:-1], max_tokens=0)
    warming, _ = await told(asked, stable)
    usage, _ = await told(asked, whole)
    assert warming.written and usage.read == warming.written
    assert usage.written == 0


async def test_the_lifetime_decides_whether_a_later_turn_reads(
    server: OpenAIServer, clock: FakeClock
) -> None:
    asked = openai(server)
    short, long = turns(3), turns(3, profile="p2")
    long = replace(long, cache=replace(long.cache, ttls=("long", "long", "long")))
    written, _ = await told(asked, short)
    written_long, _ = await told(asked, long)
    assert written.written_long == 0
    assert written_long.written_long == written_long.written
    clock.advance(3_600)
    assert (await told(asked, short))[0].read == 0
    assert (await told(asked, long))[0].read == written_long.written


async def test_two_profiles_never_read_each_others_prefix(server: OpenAIServer) -> None:
    asked = openai(server)
    one = turns(3)
    await told(asked, one)
    other = replace(one, cache=replace(one.cache, profile="p2"))
    assert (await told(asked, other))[0].read == 0


async def test_the_providers_own_reason_for_a_miss_is_on_the_receipt(server: OpenAIServer) -> None:
    asked = openai(server)
    _, receipt = await told(asked, turns(3))
    assert receipt == Receipt("resp_1")
    again = turns(4)
    again = replace(again, cache=replace(again.cache, previous="resp_1"))
    _, hit = await told(asked, again)
    assert server.seen[-1].body["prompt_cache_options"] == {
        "mode": "explicit",
        "comparison_response_id": "resp_1",
    }
    assert hit == Receipt("resp_2")
    tool = Tool("a", "A.", {"type": "object", "properties": {}, "required": []})
    tool = replace(tool, parameters={**tool.parameters, "additionalProperties": False})
    _, missed = await told(asked, replace(again, tools=(tool,)))
    assert missed.miss == "tools_changed"
    # The tools stand first: all but the opening bracket is new.
    assert missed.missed == server.counted[-1].total
    unknown = replace(again, cache=replace(again.cache, previous="resp_77"))
    assert (await told(asked, unknown))[1].miss is None


async def test_earlier_models_read_in_steps_and_report_no_writes(server: OpenAIServer) -> None:
    asked = openai(server, "gpt-5.5", AUTOMATIC)
    await told(asked, turns(3))
    usage, _ = await told(asked, turns(4))
    assert usage.written is None and usage.written_long is None
    assert usage.read is not None and usage.read >= 1_024 and usage.read % 128 == 0
    assert server.counted[-1].ideal_read - usage.read < 128

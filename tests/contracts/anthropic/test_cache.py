"""What the prompt cache gives a conversation that goes on, and to whom it gives nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app.gateway.port import Call, Receipt, Request, Result, Step, Tool, Usage
from lila_app.testing import FakeClock
from tests.contracts.anthropic_server import AnthropicServer, Reply
from tests.contracts.asking_anthropic import PERSONA, anthropic, conversation, events

TOOL = Tool("weather", "W.", {"type": "object", "properties": {}, "additionalProperties": False})


async def used(server: AnthropicServer, request: Request, **how: str) -> Usage:
    """The usage of a call, which is what the server counted."""
    (usage,) = [e for e in await events(anthropic(server, **how), request) if isinstance(e, Usage)]
    counted = server.counted[-1]
    assert (usage.total, usage.read) == (counted.total, counted.read)
    assert (usage.written, usage.written_long) == (counted.written, counted.written_long)
    return usage


def prefix(server: AnthropicServer, call: int, blocks: int) -> int:
    """Tokens of the first blocks of a call's prompt, system and messages together."""
    return server.uses[call].prompt.tokens(blocks - 1)


async def test_the_second_turn_reads_what_the_first_wrote(server: AnthropicServer) -> None:
    first = await used(server, conversation(3))
    second = await used(server, conversation(4))
    # Two system blocks and six of the conversation were marked; two more are new.
    assert (first.read, first.written) == (0, prefix(server, 0, 8))
    assert (second.read, second.written) == (
        prefix(server, 0, 8),
        prefix(server, 1, 10) - prefix(server, 0, 8),
    )
    assert second.total == prefix(server, 1, 11)


async def test_what_changes_every_turn_is_neither_written_nor_in_the_way(
    server: AnthropicServer,
) -> None:
    await used(server, conversation(3, now="12:00"))
    again = await used(server, conversation(3, now="12:01"))
    assert (again.read, again.written) == (prefix(server, 0, 8), 0)


async def test_a_clock_in_the_first_block_leaves_nothing_to_read(server: AnthropicServer) -> None:
    await used(server, conversation(3, persona=f"12:00 {PERSONA}"))
    assert (await used(server, conversation(3, persona=f"12:01 {PERSONA}"))).read == 0


async def test_a_changed_summary_keeps_what_stands_above_it(server: AnthropicServer) -> None:
    await used(server, conversation(3))
    after = await used(server, conversation(3, summary="Goals: mend the wall."))
    assert after.read == prefix(server, 0, 1)


async def test_five_minutes_begin_anew_with_each_turn_and_end(
    server: AnthropicServer, clock: FakeClock
) -> None:
    for turns in (3, 4, 5):
        await used(server, conversation(turns))
        clock.advance(299)
    assert server.counted[-1].read > 0
    assert (await used(server, conversation(6))).read
    clock.advance(301)
    assert (await used(server, conversation(7))).read == 0


async def test_an_hour_outlives_five_minutes(server: AnthropicServer, clock: FakeClock) -> None:
    ttls = ("long", "short", "short")
    first = await used(server, conversation(3, ttls=ttls))
    assert first.written_long == prefix(server, 0, 1)
    clock.advance(301)
    assert (await used(server, conversation(4, ttls=ttls))).read == prefix(server, 0, 1)
    clock.advance(3_601)
    assert (await used(server, conversation(5, ttls=ttls))).read == 0


async def test_below_the_minimum_nothing_is_cached_and_nothing_breaks(
    server: AnthropicServer,
) -> None:
    for _ in range(2):
        usage = await used(server, conversation(2, persona="Be brief."))
        assert (usage.read, usage.written) == (0, 0)


@pytest.mark.parametrize("before", [5, 20, 40])
async def test_a_model_that_comes_back_after_25_turns_elsewhere_reads_what_it_left(
    server: AnthropicServer, clock: FakeClock, before: int
) -> None:
    provider = anthropic(server)
    for turns in range(before - 2, before + 1):
        await events(provider, conversation(turns, ttls=("long",) * 3))
        clock.advance(60)
    clock.advance(25 * 60)
    await events(provider, conversation(before + 25, ttls=("long",) * 3))
    # 50 blocks further on; without the fourth mark only the two system blocks would be found.
    assert server.counted[-1].read == prefix(server, 2, 2 + 2 * before)


async def test_a_process_that_knows_nothing_looks_back_over_eighteen_turns(
    server: AnthropicServer,
) -> None:
    await used(server, conversation(12))
    assert (await used(server, conversation(30))).read == prefix(server, 0, 2 + 24)
    # Nineteen turns are 38 blocks: out of sight of both marks.
    server.cache.entries.clear()
    await used(server, conversation(11))
    assert (await used(server, conversation(30))).read == prefix(server, 2, 2)


async def test_sessions_do_not_mix_up_where_they_were(server: AnthropicServer) -> None:
    provider = anthropic(server)
    await events(provider, conversation(5, session="a"))
    await events(provider, conversation(9, session="b"))
    await events(provider, conversation(30, session="a"))
    assert server.uses[-1].prompt.marks()[2] == 2 + 9
    assert server.counted[-1].read == prefix(server, 1, 2 + 10)


async def test_a_tool_loop_reads_its_own_beginning(server: AnthropicServer) -> None:
    request = replace(conversation(3), tools=(TOOL,))
    steps = tuple(
        Step("", (Result(Call(f"toolu_{n}", "weather", "{}"), f"{n} degrees " * 30),))
        for n in range(3)
    )
    for done in range(4):
        await used(server, replace(request, steps=steps[:done]))
    # A tool, two system blocks, six turns, the question, and two blocks for each step.
    reads = [call.read for call in server.counted]
    assert reads == [
        0,
        prefix(server, 0, 9),
        prefix(server, 1, 12),
        prefix(server, 2, 14),
    ]


async def test_tools_are_part_of_what_is_cached(server: AnthropicServer) -> None:
    other = replace(TOOL, name="clock")
    await used(server, replace(conversation(3), tools=(TOOL, other)))
    assert (await used(server, replace(conversation(3), tools=(other, TOOL)))).read
    assert (await used(server, replace(conversation(3), tools=(TOOL,)))).read == 0


async def test_two_keys_and_two_models_share_nothing(server: AnthropicServer) -> None:
    await used(server, conversation(3))
    assert (await used(server, conversation(3), key="sk-other")).read == 0
    assert (await used(server, conversation(3), name="anthropic/claude-opus-5-5")).read == 0
    assert (await used(server, conversation(3))).read


async def test_two_profiles_share_nothing_as_theirs_is_in_the_first_block(
    server: AnthropicServer,
) -> None:
    for profile in ("home", "work"):
        usage = await used(server, conversation(3, persona=f"{PERSONA}\nProfile: {profile}"))
        assert usage.read == 0


# --- The provider's own account of a miss --------------------------------------------------------


async def receipt(server: AnthropicServer, request: Request, **how: str) -> Receipt:
    (made,) = [e for e in await events(anthropic(server, **how), request) if isinstance(e, Receipt)]
    return made


async def test_a_first_call_asks_for_diagnosis_and_there_is_nothing_to_say(
    server: AnthropicServer,
) -> None:
    assert await receipt(server, conversation(3)) == Receipt("msg_1")
    assert server.bodies[0]["diagnostics"] == {"previous_message_id": None}


async def test_a_prefix_that_was_read_is_no_miss(server: AnthropicServer) -> None:
    await receipt(server, conversation(3))
    assert await receipt(server, conversation(4, previous="msg_1")) == Receipt("msg_2")


async def test_what_changed_is_named_with_what_it_cost(server: AnthropicServer) -> None:
    await receipt(server, conversation(3))
    cached, first = prefix(server, 0, 8), prefix(server, 0, 1)
    expected = {
        "system_changed": (conversation(3, summary="None."), {}, cached - first),
        "messages_changed": (conversation(2), {}, cached - prefix(server, 0, 2)),
        "model_changed": (conversation(3), {"name": "anthropic/claude-opus-5"}, cached),
        "tools_changed": (replace(conversation(3), tools=(TOOL,)), {}, cached),
    }
    for reason, (request, how, missed) in expected.items():
        server.cache.entries.clear()
        await receipt(server, conversation(3))
        request = replace(request, cache=replace(request.cache, previous=f"msg_{_last(server)}"))
        made = await receipt(server, request, **how)
        assert (made.miss, made.missed) == (reason, missed)


def _last(server: AnthropicServer) -> int:
    return len(server.seen)


async def test_a_changed_effort_cannot_be_diagnosed(server: AnthropicServer) -> None:
    await receipt(server, conversation(3))
    request = replace(conversation(3, previous="msg_1"), effort="low")
    assert await receipt(server, request) == Receipt("msg_2", "unavailable")


@pytest.mark.parametrize("key", ["sk-ant-MARKED-KEY", "sk-other"])
async def test_an_unknown_answer_before_is_said_to_be_unknown(
    server: AnthropicServer, key: str
) -> None:
    await receipt(server, conversation(3))
    previous = "msg_99" if key != "sk-other" else "msg_1"
    made = await receipt(server, conversation(3, previous=previous), key=key)
    assert made == Receipt("msg_2", "previous_message_not_found")


async def test_a_diagnosis_that_is_pending_says_nothing(server: AnthropicServer) -> None:
    server.script.append(Reply(pending=True))
    made = await receipt(server, conversation(3, previous="msg_7"))
    assert made == Receipt("msg_1")

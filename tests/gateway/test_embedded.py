"""The real embedded model: cache, stopping, precedence, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from lila_app.errors import Cancelled, ContextTooLarge
from lila_app.gateway.embedded.provider import EmbeddedProvider, Sampling
from lila_app.gateway.port import Finished, Receipt, TextDelta, Usage
from tests.gateway.asking import LONG, Reply, ask, opened, request
from tests.waiting import SOON

pytestmark = pytest.mark.slow

STORY = "Tell a very long story about a sailor, with every day of the journey."
SHORT = 15.0
"""Seconds a short request may take on a busy machine; a generation that went on takes far more."""


async def test_a_reply_comes_in_pieces_then_usage_then_the_end(embedded: EmbeddedProvider) -> None:
    reply = await ask(embedded, request("Say hello.", max_tokens=12))
    assert reply.text
    assert reply.kinds[-3:] == [Receipt, Usage, Finished]
    assert reply.kinds[0] is Usage, "the prompt is counted before the first word"
    assert set(reply.kinds[:-3]) == {Usage, TextDelta}
    assert len(reply.kinds) > 3
    assert reply.usage.total and reply.usage.output
    assert reply.usage.written is None  # llama.cpp does not report it, and unknown is not zero


async def test_a_reply_in_circles_is_ended_and_what_it_read_is_known(
    embedded: EmbeddedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "The ferry leaves at nine in the morning."
    again = "\n".join([line] * 6)
    monkeypatch.setattr(embedded, "_sampling", Sampling(temperature=0.0, ends_circles=True))
    asked = request("Say it again and again.", again, "Go on.", again, "Go on.", max_tokens=200)
    reply = await ask(embedded, asked)
    assert reply.text.count(line) == 3
    assert reply.ended == "length"
    assert reply.usage.total


async def test_a_reply_at_its_token_limit_says_so(embedded: EmbeddedProvider) -> None:
    reply = await ask(embedded, request(STORY, max_tokens=3))
    assert reply.ended == "length"
    assert reply.usage.output == 3


async def test_call_2_reads_the_prefix_of_call_1_from_the_cache(embedded: EmbeddedProvider) -> None:
    system = f"You are the keeper of this log. {LONG}"
    first = await ask(embedded, request("What is this?", system=system))
    again = request("What is this?", first.text, "And who wrote it?", system=system)
    second = await ask(embedded, again)
    assert first.usage.total is not None and second.usage.read is not None
    # All of the first prompt, but for the few tokens that opened its reply.
    assert second.usage.read >= first.usage.total - 8
    assert first.usage.total > 100


async def test_a_change_at_the_top_leaves_nothing_to_read(embedded: EmbeddedProvider) -> None:
    """The measure can fail: a clock above everything else spoils the whole prefix."""
    await ask(embedded, request("What is this?", system=f"12:00:01 {LONG}"))
    second = await ask(embedded, request("What is this?", system=f"13:59:58 {LONG}"))
    assert second.usage.read is not None and second.usage.read < 20


async def test_a_voice_question_leaves_the_chats_prefix_alone(embedded: EmbeddedProvider) -> None:
    chat = request("What is this?", system=f"You are a librarian. {LONG}")
    first = await ask(embedded, chat)
    await ask(embedded, request("What time is it?", system=f"Spoken. {LONG}", slot="voice"))
    again = await ask(embedded, chat)
    assert first.usage.total is not None and again.usage.read is not None
    assert again.usage.read >= first.usage.total - 1


async def test_a_warmed_prefix_is_read_by_the_first_call(embedded: EmbeddedProvider) -> None:
    asked = request("What is this?", system=f"You keep bees. {LONG}")
    prefix = type(asked)(asked.messages[:1], 0)
    await embedded.warm(prefix)
    reply = await ask(embedded, asked)
    assert reply.usage.total is not None and reply.usage.read is not None
    assert reply.usage.read > reply.usage.total - 40


async def test_a_warmed_conversation_ends_where_the_next_call_goes_on(
    embedded: EmbeddedProvider,
) -> None:
    """A prefix may end in a reply; it must be rendered closed, not as one to be continued."""
    before = ("What is this?", "A log.", "Whose?", "A sailor's.")
    await embedded.warm(request(*before, system=f"You keep logs. {LONG}", max_tokens=0))
    reply = await ask(embedded, request(*before, "Where is he?", system=f"You keep logs. {LONG}"))
    assert reply.usage.total is not None and reply.usage.read is not None
    new_tokens = reply.usage.total - reply.usage.read
    assert new_tokens <= 14  # the new question, and the opening of the reply


async def test_closing_a_stream_frees_the_model_at_once(embedded: EmbeddedProvider) -> None:
    stream = opened(embedded, request(STORY, max_tokens=1500))
    pieces = 0
    async for event in stream:
        pieces += isinstance(event, TextDelta)
        if pieces == 5:
            break
    started = time.monotonic()
    await stream.aclose()
    assert time.monotonic() - started < SOON
    await ask(embedded, request("Say yes.", max_tokens=1))
    assert time.monotonic() - started < SHORT  # 1,500 tokens would take half a minute


async def test_cancelling_while_the_prompt_is_read_frees_the_model(
    embedded: EmbeddedProvider,
) -> None:
    asking = asyncio.create_task(ask(embedded, request(LONG * 10, system="Read on.")))
    await asyncio.sleep(0.5)
    assert not asking.done()
    started = time.monotonic()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert time.monotonic() - started < SOON
    await ask(embedded, request("Say yes.", max_tokens=1))
    assert time.monotonic() - started < SHORT


async def test_a_spoken_question_takes_the_model_from_a_chat(embedded: EmbeddedProvider) -> None:
    partial = Reply()
    chat = asyncio.create_task(ask(embedded, request(STORY, max_tokens=1500), partial))
    await partial.began.wait()
    started = time.monotonic()
    spoken = await ask(embedded, request("Say yes.", max_tokens=2, slot="voice"))
    assert time.monotonic() - started < SHORT
    assert spoken.text
    with pytest.raises(Cancelled):
        await chat
    assert partial.text and not partial.ended


async def test_whoever_asks_takes_the_model_from_a_warming(embedded: EmbeddedProvider) -> None:
    long = request("x", system="Warm. " + LONG * 10, max_tokens=0)
    warming = asyncio.create_task(embedded.warm(long))
    await asyncio.sleep(0.5)
    assert not warming.done()
    started = time.monotonic()
    await ask(embedded, request("Say yes.", max_tokens=1, slot="voice"))
    assert time.monotonic() - started < SHORT
    await warming  # ended early, which is no error


async def test_warming_in_a_thread_of_its_own_gives_way_too(embedded: EmbeddedProvider) -> None:
    """As at start: the warming has an event loop of its own."""
    long = request("x", system="Warm in a thread. " + LONG * 10, max_tokens=0)
    warming = asyncio.create_task(asyncio.to_thread(asyncio.run, embedded.warm(long)))
    await asyncio.sleep(0.7)
    started = time.monotonic()
    await ask(embedded, request("Say yes.", max_tokens=1))
    assert time.monotonic() - started < SHORT
    await warming


async def test_a_reply_keeps_to_a_schema(embedded: EmbeddedProvider) -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    reply = await ask(embedded, request("Describe a sailor.", max_tokens=80, schema=schema))
    found = json.loads(reply.text)
    assert sorted(found) == ["age", "name"] and isinstance(found["age"], int)


async def test_a_prompt_larger_than_the_window_is_refused_as_such(
    embedded: EmbeddedProvider,
) -> None:
    with pytest.raises(ContextTooLarge, match=r"embedded/smollm2-135m"):
        await ask(embedded, request("word " * 5_000))


async def test_text_that_utf8_cannot_carry_is_no_crash(embedded: EmbeddedProvider) -> None:
    reply = await ask(embedded, request("half a pair: \ud83d", max_tokens=2))
    assert reply.ended


def test_the_limits_let_the_budget_rule_for_every_language(embedded: EmbeddedProvider) -> None:
    limits = embedded.limits()
    reply_reserve = 1_000
    assert (limits.window - reply_reserve) * 10_000 // limits.token_ratio >= limits.context_budget
    assert 1_100 <= limits.context_budget <= 1_400

"""A provider behind the guard: what it is told, and what the others see of its answers."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace

import pytest

from lila_app.errors import RequestRefusedError, TruncatedReplyError
from lila_app.gateway.port import (
    Call,
    Carried,
    Finished,
    Message,
    ProviderEvent,
    Request,
    Result,
    Step,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from lila_app.privacy.guard import Guard, Revealing
from lila_app.testing import Scripted, ScriptedProvider
from tests.privacy.conftest import Make

MAIL, PHONE = "ada@example.org", "+44 20 7946 0018"
ASKED = Request(
    (
        Message("system", "Be brief."),
        Message("user", f"My mail is {MAIL}.", breakpoint=True),
        Message("user", f"Call {PHONE}, and I said [MAIL1] literally."),
    ),
    max_tokens=100,
)


def events(provider: Guard | Revealing, request: Request = ASKED) -> list[ProviderEvent]:
    async def gather() -> list[ProviderEvent]:
        async with aclosing(provider.stream(request)) as stream:
            return [event async for event in stream]

    return asyncio.run(gather())


def text(found: list[ProviderEvent]) -> str:
    return "".join(one.text for one in found if isinstance(one, TextDelta))


def test_the_model_is_told_placeholders_and_the_person_values(privacy: Make) -> None:
    inner = ScriptedProvider(
        Scripted(
            ("Write to [MA", "IL1", "] or [PHO", "NE2]; not [TEXT3"),
        )
    )
    found = events(Guard(inner, privacy()))
    assert [one.content for one in inner.requests[0].messages] == [
        "Be brief.",
        "My mail is [MAIL1].",
        "Call [PHONE2], and I said [TEXT3] literally.",
    ]
    assert [one.breakpoint for one in inner.requests[0].messages] == [False, True, False]
    assert text(found) == f"Write to {MAIL} or {PHONE}; not [TEXT3"
    assert isinstance(found[-1], Finished) and any(isinstance(one, Usage) for one in found)


def test_what_was_not_in_the_request_is_not_restored(privacy: Make) -> None:
    made = privacy()
    events(Guard(ScriptedProvider("ok"), made))
    only = replace(ASKED, messages=(Message("user", "Hello"),))
    guard = Guard(ScriptedProvider("Is it [MAIL1]?"), made)
    assert text(events(guard, only)) == "Is it [MAIL1]?"


def test_thinking_is_restored_and_what_is_carried_is_not_touched(privacy: Make) -> None:
    carried = Carried("scripted/test", '{"thinking": "[MAIL1]"}')
    inner = ScriptedProvider(
        Scripted(("So: [PHONE2]",), thinking="The mail is [MAIL1]", carried=(carried,))
    )
    found = events(Guard(inner, privacy()))
    thought = "".join(one.text for one in found if isinstance(one, ThinkingDelta))
    assert thought == f"The mail is {MAIL}"
    assert carried in found


def test_a_calls_arguments_are_restored_as_json_and_sent_back_as_the_model_wrote_them(
    privacy: Make,
) -> None:
    quoted = '"ada b"@example.org'
    made = privacy("[deny]\npatterns = ['\"ada b\"@example\\.org']")
    written = '{"query":  "[PRIVATE1]"}'
    call = Call("c1", "memory_search", written)
    inner = ScriptedProvider(Scripted(("",), calls=(call,)), "done")
    guard = Guard(inner, made)
    asked = replace(ASKED, messages=(Message("user", f"Look for {quoted}"),))
    (restored,) = [one for one in events(guard, asked) if isinstance(one, Call)]
    assert json.loads(restored.arguments) == {"query": quoted}
    step = Step("", (Result(restored, f"Found {quoted}."),))
    events(guard, replace(asked, steps=(step,)))
    (sent,) = inner.requests[1].steps
    assert sent.results[0].call.arguments == written
    assert sent.results[0].text == "Found [PRIVATE1]."


def test_arguments_the_tool_loop_wrote_anew_are_redacted_within_their_strings(
    privacy: Make,
) -> None:
    inner = ScriptedProvider("done")
    call = Call("c9", "memory_add", json.dumps({"n": 3, "text": f'say "hi" to {MAIL}'}))
    steps = (Step("I add it.", (Result(call, "Done."),)),)
    events(Guard(inner, privacy()), replace(ASKED, steps=steps))
    sent = json.loads(inner.requests[0].steps[0].results[0].call.arguments)
    assert sent == {"n": 3, "text": 'say "hi" to [MAIL1]'}


def test_an_answer_in_json_stays_json(privacy: Make) -> None:
    made = privacy('[deny]\npatterns = ["a\\\\\\\\b\\"c"]')
    inner = ScriptedProvider(Scripted(('{"name": "[PRI', 'VATE1]"}')))
    asked = replace(ASKED, messages=(Message("user", 'It is a\\b"c.'),), schema={"type": "object"})
    assert json.loads(text(events(Guard(inner, made), asked))) == {"name": 'a\\b"c'}


def test_what_was_held_back_is_said_when_the_stream_breaks_off(privacy: Make) -> None:
    inner = ScriptedProvider(Scripted(("Write to [MA",), whole=False))
    seen: list[ProviderEvent] = []

    async def gather() -> None:
        async with aclosing(Guard(inner, privacy()).stream(ASKED)) as stream:
            async for event in stream:
                seen.append(event)

    with pytest.raises(TruncatedReplyError):
        asyncio.run(gather())
    assert text(seen) == "Write to [MA"


def test_closing_stops_the_model(privacy: Make) -> None:
    inner = ScriptedProvider(Scripted(("one ", "two "), hangs=True))

    async def begin() -> None:
        async with aclosing(Guard(inner, privacy()).stream(ASKED)) as stream:
            async for _ in stream:
                return

    asyncio.run(begin())
    assert inner.stopped == 1


def test_an_error_that_quotes_the_request_quotes_placeholders(privacy: Make) -> None:
    class Echoing(ScriptedProvider):
        async def stream(self, request: Request):  # type: ignore[no-untyped-def, override]
            raise RequestRefusedError(f"refused: {request.messages[1].content}")
            yield

    with pytest.raises(RequestRefusedError) as caught:
        events(Guard(Echoing(), privacy()))
    assert MAIL not in str(caught.value) and "[MAIL1]" in str(caught.value)


def test_warming_sends_no_value_either(privacy: Make) -> None:
    inner = ScriptedProvider()
    guard = Guard(inner, privacy())
    asyncio.run(guard.warm(ASKED))
    assert MAIL not in str(inner.warmed[0])
    assert guard.name == inner.name and guard.limits() == inner.limits()
    asyncio.run(guard.close())
    assert inner.closed


def test_the_prefix_stays_the_same_bytes_while_a_conversation_grows(privacy: Make) -> None:
    made = privacy()
    messages: list[Message] = [Message("system", "Be brief.")]
    before: list[str] = []
    for turn in range(6):
        messages.append(Message("user", f"Turn {turn}: {MAIL}, user{turn}@example.net, {PHONE}"))
        inner = ScriptedProvider("ok")
        events(Guard(inner, made), replace(ASKED, messages=tuple(messages)))
        sent = [one.content for one in inner.requests[0].messages]
        assert sent[: len(before)] == before
        before = sent
        made = privacy()  # as after a new start


def test_a_value_found_in_one_place_is_replaced_in_every_other(privacy: Make) -> None:
    inner = ScriptedProvider("ok")
    messages = (Message("user", "account number 12345678"), Message("user", "Is 12345678 open?"))
    events(Guard(inner, privacy()), replace(ASKED, messages=messages))
    assert [m.content for m in inner.requests[0].messages] == [
        "account number [ACCOUNT1]",
        "Is [ACCOUNT1] open?",
    ]


def test_a_model_on_this_machine_is_told_what_the_store_hides(privacy: Make) -> None:
    made = privacy("[storage]\nredact = true")
    kept = made.kept(f"My mail is {MAIL}.")
    inner = ScriptedProvider("ok")
    provider = made.guarded(inner, local=True)
    assert isinstance(provider, Revealing)
    events(provider, replace(ASKED, messages=(Message("user", kept),)))
    assert inner.requests[0].messages[0].content == f"My mail is {MAIL}."


def test_where_the_store_hides_nothing_a_model_on_this_machine_is_asked_directly(
    privacy: Make,
) -> None:
    inner = ScriptedProvider("ok")
    assert privacy().guarded(inner, local=True) is inner

"""An answer that feeds code: parsed, checked, asked again once, refused."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from lila_app.context.items import ModelLimits
from lila_app.errors import InvalidAnswerError, RequestRefusedError, TruncatedReplyError
from lila_app.gateway.port import CachePlan, Call, Message, Request
from lila_app.gateway.structured import MOST_CHARACTERS, Form, Json, Wrong, ask, examine, parse
from lila_app.testing import Scripted, ScriptedProvider
from tests.gateway.bench import Bench

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "age"],
    "properties": {
        "name": {"type": "string"},
        "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
}


def adult(answer: Json) -> str | None:
    age = answer["age"]
    return "$.age is below 18" if isinstance(age, int) and age < 18 else None


FORM = Form("person", SCHEMA, (adult,))
REQUEST = Request(messages=(Message("user", "Who was it?"),), max_tokens=100, job="extraction")
GOOD = '{"name": "Ana", "age": 30}'
YOUNG = '{"name": "Secretname", "age": 3}'


async def test_a_good_answer_is_asked_for_once_and_under_the_schema() -> None:
    provider = ScriptedProvider(GOOD)
    assert await ask(provider.stream, REQUEST, FORM) == {"name": "Ana", "age": 30}
    (request,) = provider.requests
    assert request.schema == SCHEMA
    assert request.messages == REQUEST.messages


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("I think it was Ana.", "not JSON"),
        ("", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"name": "Ana"}', "$: lacks age"),
        ('{"name": 1, "age": null}', "$.name: must be of type string"),
        ('{"name": "Ana", "age": null, "extra": 1}', "does not belong"),
        (YOUNG, "$.age is below 18"),
    ],
)
async def test_a_wrong_answer_is_asked_for_again_with_what_is_wrong(first: str, said: str) -> None:
    provider = ScriptedProvider(first, GOOD)
    assert await ask(provider.stream, REQUEST, FORM) == {"name": "Ana", "age": 30}
    again = provider.requests[1]
    assert again.messages[0] == REQUEST.messages[0]
    assert said in again.messages[-1].content
    assert json.dumps(SCHEMA["required"], separators=(",", ":")) in again.messages[-1].content
    roles = [message.role for message in again.messages]
    assert roles == (["user", "assistant", "user"] if first else ["user", "user"])
    assert again.schema == SCHEMA


async def test_a_second_wrong_answer_is_refused_without_showing_it() -> None:
    provider = ScriptedProvider(YOUNG, YOUNG, GOOD)
    with pytest.raises(InvalidAnswerError) as caught:
        await ask(provider.stream, REQUEST, FORM)
    assert len(provider.requests) == 2
    assert caught.value.boundary == "person"
    assert "below 18" in str(caught.value) and caught.value.hint
    assert "Secretname" not in str(caught.value)


async def test_an_answer_that_runs_on_is_closed_and_not_read_to_its_end() -> None:
    endless = Scripted(tuple("x" * 1_000 for _ in range(1_000)))
    provider = ScriptedProvider(endless, GOOD)
    assert await ask(provider.stream, REQUEST, FORM)
    assert provider.stopped == 1
    shown = provider.requests[1].messages[1].content
    assert len(shown) < MOST_CHARACTERS / 5


async def test_a_reply_cut_at_its_limit_is_no_answer_even_if_it_parses() -> None:
    provider = ScriptedProvider(Scripted((GOOD,), ended="length"), GOOD)
    await ask(provider.stream, REQUEST, FORM)
    assert "token limit" in provider.requests[1].messages[-1].content


async def test_a_call_of_a_tool_is_no_answer() -> None:
    provider = ScriptedProvider(Scripted((), calls=(Call("1", "memory_add", "{}"),)), GOOD)
    await ask(provider.stream, replace(REQUEST, tools=()), FORM)
    assert "calls a tool" in provider.requests[1].messages[-1].content


async def test_a_stream_that_breaks_off_is_the_gateways_error_and_not_a_wrong_answer() -> None:
    provider = ScriptedProvider(Scripted((GOOD,), whole=False))
    with pytest.raises(TruncatedReplyError):
        await ask(provider.stream, REQUEST, FORM)


def test_one_fence_around_the_object_is_forgiven_and_nothing_else() -> None:
    assert parse(f"```json\n{GOOD}\n```\n") == {"name": "Ana", "age": 30}
    for text in (
        f"Here: {GOOD}",
        f"{GOOD} {GOOD}",
        '{"name": "Ana", "name": "Eva", "age": 1}',
        '{"age": NaN}',
        '{"name": "\\ud800"}',
        "[" * 100_000,
        '{"a":' * 40 + "1" + "}" * 40,
        "9" * 5_000,
    ):
        assert isinstance(parse(text), Wrong), text[:40]


def test_problems_never_repeat_what_the_answer_said() -> None:
    for answer in ('{"name": ["Secretname"], "age": null}', '{"Secretname": 1}', YOUNG):
        found = examine(answer, FORM)
        assert isinstance(found, Wrong)
        assert "Secretname" not in found.problem


async def test_it_is_asked_of_a_chain_as_of_a_single_model() -> None:
    down = ScriptedProvider(name="a/one", limits=ModelLimits(9_000, 4_000))
    other = ScriptedProvider(YOUNG, GOOD, name="b/two", limits=ModelLimits(9_000, 4_000))
    down.enqueue(*[Scripted((), error=RequestRefusedError("no"))] * 2)
    bench = Bench(down, other)
    plan = CachePlan(session="s1", epoch=3, use_case="chat")
    within = replace(REQUEST, cache=plan)

    def chain(request: Request) -> AsyncGenerator[object, None]:
        return bench.caller.stream(bench.models, request)

    found = await ask(chain, within, FORM)
    assert found == {"name": "Ana", "age": 30}
    # It is no part of the session's epoch, in which a schema would be a toggle.
    assert {attempt.session_id for attempt in bench.ledger.attempts} == {None}

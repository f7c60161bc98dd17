"""The tool loop and the boundaries over each provider's own SDK and wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lila_app import boundaries
from lila_app.assistant import open_lila
from lila_app.boundaries import EXTRACTION, definition, tool_names
from lila_app.context import ModelLimits
from lila_app.embedding.port import Embedder
from lila_app.events import Done, TextDelta, ToolResult, TurnEvent
from lila_app.gateway.access import Access
from lila_app.gateway.anthropic.provider import AnthropicProvider
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.openai import OpenAIProvider
from lila_app.gateway.port import Message, Provider, Request, Tool
from lila_app.gateway.structured import ask
from lila_app.testing import FakeClock
from lila_app.truths import Material
from tests.contracts import anthropic_server as anthropic
from tests.contracts import gemini_server as gemini
from tests.contracts import openai_server as openai
from tests.contracts.asking_anthropic import KEY as ANTHROPIC_KEY
from tests.contracts.gemini_support import made
from tests.test_boundaries import GOOD, TALK

LIMITS = ModelLimits(window=200_000, context_budget=16_000, tools=True)
Calls = tuple[tuple[str, Mapping[str, object]], ...]


@dataclass
class Wire:
    """A provider and its server: `says` sets the answers to come, `bodies` are what was asked."""

    provider: Provider
    says: Callable[[list[tuple[str, Calls]]], None]
    bodies: Callable[[], list[dict[str, Any]]]


def over_anthropic(clock: FakeClock) -> Iterator[Wire]:
    with anthropic.anthropic_server(clock) as server:
        access = Access(server.origin, ANTHROPIC_KEY)
        contract = CacheContract("anthropic", minimum=512)

        def says(answers: list[tuple[str, Calls]]) -> None:
            for number, (text, calls) in enumerate(answers):
                uses = tuple(
                    anthropic.ToolUse(f"toolu_{number}_{at}", name, (json.dumps(arguments),))
                    for at, (name, arguments) in enumerate(calls)
                )
                thinking = ("Hm.",) if calls else ()
                pieces = (text,) if text else ()
                server.script.append(anthropic.Reply(pieces, thinking=thinking, calls=uses))

        name = "anthropic/claude-sonnet-5-5"
        yield Wire(AnthropicProvider(name, access, LIMITS, contract), says, lambda: server.bodies)


def over_openai(clock: FakeClock) -> Iterator[Wire]:
    with openai.openai_server(clock) as server:
        contract = CacheContract("breakpoints", minimum=1_024)

        def says(answers: list[tuple[str, Calls]]) -> None:
            for text, calls in answers:
                made_calls = tuple((name, json.dumps(arguments)) for name, arguments in calls)
                pieces = (text,) if text else ()
                thinks = "Hm." if calls else ""
                server.script.append(openai.Said(pieces, calls=made_calls, thinks=thinks))

        yield Wire(
            OpenAIProvider(
                "openai/gpt-6.1-terra", Access(server.base_url, openai.KEY), LIMITS, contract
            ),
            says,
            lambda: [exchange.body for exchange in server.seen],
        )


def over_gemini(clock: FakeClock) -> Iterator[Wire]:
    with gemini.gemini(clock) as server:
        waiting: list[gemini.Reply] = []

        def says(answers: list[tuple[str, Calls]]) -> None:
            for text, calls in answers:
                waiting.append(
                    gemini.Reply(
                        (text,) if text else (),
                        calls=tuple({"name": name, "args": dict(a)} for name, a in calls),
                        signature="c2lnbmVk" if calls else None,
                    )
                )

        def speaks(this: gemini.GeminiServer, exchange: Any, served: Any) -> None:
            this.reply = waiting.pop(0)
            this.stream(exchange, served)

        server.speaks = speaks
        yield Wire(
            made(server, limits=LIMITS),
            says,
            lambda: [exchange.body for exchange in server.generated],
        )


@pytest.fixture(params=[over_anthropic, over_openai, over_gemini], ids=lambda one: one.__name__)
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    yield from request.param(FakeClock())


async def run(lila: Any, text: str) -> list[TurnEvent]:
    async with aclosing(lila.turn(text)) as events:
        return [event async for event in events]


def test_a_turn_with_tools_goes_over_the_wire_and_back_step_by_step(
    wire: Wire, home: Path, embedder: Embedder
) -> None:
    both: Calls = (("memory_search", {"query": "key"}), ("document_search", {"query": "key"}))
    wire.says(
        [
            ("Let me look.", both),
            ("", (("show_source", {"id": "m1"}),)),
            ("Under the flagstone.", ()),
        ]
    )
    with open_lila(home, provider=wire.provider, embedder=embedder, clock=FakeClock()) as lila:
        lila.memory.add("The key lies under the third flagstone")
        events = asyncio.run(run(lila, "Where is it?"))
        done = events[-1]
        assert isinstance(done, Done) and not done.stopped
        text = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert text == "Let me look.\n\nUnder the flagstone."
        assert done.record_id == "c3"
        assert lila.contexts.replay("c3").status == "identical"
        assert lila.db.check().problems == ()
    results = [event.text for event in events if isinstance(event, ToolResult)]
    assert len(results) == 3
    bodies = [json.dumps(body, ensure_ascii=False) for body in wire.bodies()]
    assert len(bodies) == 3
    for name in tool_names():
        assert all(f'"{name}"' in body for body in bodies)
    # The last request holds all three results; the first none of them.
    assert [body.count("under the third flagstone") for body in bodies] == [
        bodies[0].count("under the third flagstone") + more for more in (0, 1, 2)
    ]


@pytest.mark.parametrize("boundary", boundaries.DECLARED, ids=lambda one: one.name)
async def test_every_boundary_is_asked_for_over_every_wire(
    wire: Wire, boundary: boundaries.Boundary
) -> None:
    good = GOOD[boundary.name]
    wire.says([("That is not JSON.", ()), (json.dumps(good), ())])
    request = Request(
        (Message("system", "Answer in JSON."), Message("user", TALK.whole)),
        max_tokens=900,
        job=boundary.job,
    )
    assert await ask(wire.provider.stream, request, boundary.form(TALK)) == good
    first, second = (json.dumps(body) for body in wire.bodies())
    for key in boundaries.load(boundary.schema)["required"]:  # type: ignore[union-attr]
        assert f'"{key}"' in first
    assert "That answer cannot be used" in second and "That answer cannot be used" not in first
    await wire.provider.close()


async def test_every_tools_definition_is_taken_by_every_wire(wire: Wire) -> None:
    tools = tuple(Tool(**json.loads(definition(name))) for name in tool_names())
    wire.says([("Hello.", ())])
    request = Request((Message("user", "Hello?"),), max_tokens=100, tools=tools)
    async with aclosing(wire.provider.stream(request)) as events:
        said = [event.text async for event in events if isinstance(event, TextDelta)]
    assert "".join(said) == "Hello."
    await wire.provider.close()


async def test_an_untrue_answer_is_asked_for_again_over_every_wire(wire: Wire) -> None:
    untrue = json.loads(json.dumps(GOOD[EXTRACTION.name]))
    untrue["memories"][0]["quote"] = "My boat was never called anything"
    wire.says([(json.dumps(untrue), ()), (json.dumps(GOOD[EXTRACTION.name]), ())])
    request = Request((Message("user", TALK.whole),), max_tokens=900, job="extraction")
    form = EXTRACTION.form(Material(TALK.texts))
    assert await ask(wire.provider.stream, request, form) == GOOD[EXTRACTION.name]
    assert "does not stand in the text it names" in json.dumps(wire.bodies()[1])
    await wire.provider.close()

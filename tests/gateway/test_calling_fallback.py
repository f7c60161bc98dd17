"""What one that steps in must be able to take, what it is shown, and how long it stays."""

from __future__ import annotations

from dataclasses import replace

from lila_app.context.items import ModelLimits
from lila_app.errors import ContextTooLarge
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.means import About
from lila_app.gateway.port import Call, Carried, Result, Step, Tool, Usage
from lila_app.testing import Scripted
from tests.gateway.bench import ASKED, CACHED, DOWN, Bench, model, switches, text


async def test_a_fallback_whose_cache_took_nothing_does_not_stay() -> None:
    contract = replace(CACHED, minimum=1_024)
    bench = Bench(
        model("a/one", DOWN, DOWN, "Me again."),
        model("b/two", Scripted(("Hi",), usage=Usage(1_023, 0, 0, 2))),
        about={"b/two": About("k2", contract=contract)},
    )
    await bench.ask()
    bench.clock.advance(31)
    assert text(await bench.ask()) == "Me again."


async def test_the_fallback_stays_while_its_cache_is_warm_then_the_first_is_asked_again() -> None:
    bench = Bench(
        model("a/one", DOWN, DOWN, "First."), model("b/two", "1", "2", "3"),
        about={"a/one": About(contract=CACHED), "b/two": About(contract=CACHED)},
    )  # fmt: skip
    assert text(await bench.ask()) == "1"
    bench.clock.advance(299)
    events = await bench.ask()
    assert text(events) == "2"
    assert switches(events)[0].why == "b/two answered last and still has this conversation"
    bench.clock.advance(300)
    assert text(await bench.ask()) == "First."
    bench.clock.advance(1)
    bench.models[0].enqueue("First again.")
    assert text(await bench.ask()) == "First again."


async def test_a_model_on_this_machine_does_not_stay_and_another_session_does_not_know() -> None:
    bench = Bench(
        model("a/one", DOWN, DOWN, "First."), model("embedded/small", "Me."),
        about={"embedded/small": About(local=True, contract=CacheContract("prefix"))},
    )  # fmt: skip
    assert [text(await bench.ask()) for _ in range(2)] == ["Me.", "First."]
    other = replace(ASKED, cache=replace(ASKED.cache, session="s2"))
    sticky = Bench(
        model("a/one", DOWN, DOWN, "First."), model("b/two", "1"),
        about={"b/two": About(contract=CACHED)},
    )  # fmt: skip
    assert [text(await sticky.ask(asked)) for asked in (ASKED, other)] == ["1", "First."]


async def test_a_fallback_that_cannot_take_the_prompt_is_named_before_it_is_asked() -> None:
    small = ModelLimits(window=4_000, context_budget=999)
    bench = Bench(model("a/one", DOWN, DOWN), model("embedded/small", "Me.", limits=small))
    error = await bench.fails(ContextTooLarge)
    assert isinstance(error, ContextTooLarge) and error.model == "embedded/small"
    assert bench.models[1].requests == []
    assert bench.outcomes == [("one", "UnavailableError")] * 2
    enough = Bench(model("a/one", DOWN, DOWN), model("b/two", "Me.", limits=replace(
        small, context_budget=1_000)))  # fmt: skip
    assert text(await enough.ask()) == "Me."


async def test_a_fallback_that_cannot_call_tools_is_named_before_it_is_asked() -> None:
    able = ModelLimits(100_000, 50_000, tools=True)
    tooled = replace(ASKED, tools=(Tool("notes", "Keeps notes.", {"type": "object"}),))
    bench = Bench(model("a/one", DOWN, DOWN, limits=able), model("b/two", "Me."))
    error = await bench.fails(ContextTooLarge, tooled)
    assert isinstance(error, ContextTooLarge) and error.model == "b/two"
    assert bench.models[1].requests == []


async def test_what_a_model_wants_back_is_shown_to_no_other() -> None:
    able = ModelLimits(100_000, 50_000, tools=True)
    first, second = Carried("a/one", "signed by one"), Carried("b/two", "signed by two")
    call = Call("1", "notes", "{}")
    step = Step("Let me see.", (Result(call, "found"),), (first, second))
    bench = Bench(model("a/one", DOWN, DOWN, limits=able), model("b/two", "Me.", limits=able))
    assert text(await bench.ask(replace(ASKED, steps=(step,)))) == "Me."
    assert [r.steps[0].carried for r in bench.models[0].requests] == [(first,)] * 2
    assert [r.steps[0].carried for r in bench.models[1].requests] == [(second,)]
    assert bench.models[1].requests[0].steps[0].results == step.results


async def test_a_model_that_calls_a_prompt_too_large_itself_is_named_too() -> None:
    refuses = Scripted((), error=ContextTooLarge("too large"))
    error = await Bench(model("a/one", refuses)).fails(ContextTooLarge)
    assert isinstance(error, ContextTooLarge) and error.model == "a/one"

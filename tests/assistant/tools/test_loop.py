"""One step of the tool loop after the other: checked, done, logged, returned."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace

import pytest

from lila_app.assistant import Lila
from lila_app.errors import InvalidAnswerError, NotFoundError
from lila_app.events import Confirmation, ToolResult
from lila_app.gateway.port import Call, Carried
from lila_app.gateway.structured import Json
from lila_app.replying import Reply
from lila_app.storage import calls as log
from lila_app.storage import check, forget, memories
from lila_app.storage.connection import Store
from lila_app.tool_loop import MOST_CALLS, Handler, Output, Setting, ToolLoop, Where
from tests.assistant.tools.asking import answering
from tests.assistant.tools.stepping import CLOCK, POLICY, call, result, took


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{not json", "not JSON"),
        ('{"query": 5}', "$.query: must be of type string"),
        ('{"query": "a", "more": 1}', "does not belong"),
        ("", "lacks query"),
        ('{"query": "' + "x" * 1_000 + '"}', "longer than 1,000"),
        ('["a"]', "not a JSON object"),
        ('{"query": " "}', "$.query says nothing"),
    ],
)
async def test_arguments_that_do_not_fit_go_back_once_and_are_refused_the_second_time(
    setting: Setting, store: Store, arguments: str, said: str
) -> None:
    loop = ToolLoop(setting)
    bad = Call("1", "memory_search", arguments)
    events = await took(loop, bad)
    assert isinstance(events[-1], ToolResult) and said in events[-1].text
    assert loop.exchanges[0].failed and loop.exchanges[0].arguments == "{}"
    assert loop.steps[0].results[0].call.arguments == "{}"
    assert log.of_turns(store, [setting.where.turn_id])[0].arguments == arguments
    with pytest.raises(InvalidAnswerError) as caught:
        await took(loop, bad)
    assert caught.value.boundary == "the arguments of memory_search"


async def test_a_tool_that_was_not_offered_is_not_there(setting: Setting, lila: Lila) -> None:
    yes = ToolLoop(replace(setting, confirm=answering(True)))
    events = [
        event
        async for event in yes.take(
            Reply(calls=[call("memory_add", text="x")]), offered=("memory_search",), record_id="c1"
        )
    ]
    assert isinstance(events[-1], ToolResult)
    assert events[-1].text == "There is no such tool. There are: memory_search."
    assert lila.memory.list() == ()
    unknown = await result(setting, call("delete_everything"))
    assert unknown.text.startswith("There is no such tool.")


async def test_after_the_last_step_every_call_is_refused_and_then_the_loop_is_over(
    setting: Setting,
) -> None:
    loop = ToolLoop(setting)
    for _ in range(POLICY.steps):
        await took(loop, call("memory_search", query="boat"))
        assert not loop.over
    last = await took(loop, call("memory_search", query="boat"))
    assert isinstance(last[-1], ToolResult) and "No more tools in this turn" in last[-1].text
    assert loop.over


async def test_too_many_calls_at_once_are_refused_from_there_on(setting: Setting) -> None:
    loop = ToolLoop(setting)
    await took(loop, *[call("memory_search", query="boat")] * (MOST_CALLS + 1))
    failed = [one.failed for one in loop.exchanges]
    assert failed == [False] * MOST_CALLS + [True]
    assert [one.id for one in loop.exchanges] == [str(n) for n in range(1, MOST_CALLS + 2)]


async def test_a_tool_that_takes_too_long_is_given_up_and_said_to_be(setting: Setting) -> None:
    released = threading.Event()

    def waits(given: Json, where: Where) -> Output:
        released.wait(30)
        return Output("late")

    quick = replace(setting, policy=replace(POLICY, deadline_ms=20), confirm=answering(True))
    slow = {"memory_search": Handler(waits), "memory_add": Handler(waits, lambda given: "?")}
    stuck = replace(quick, toolbox=slow)
    looked = await result(stuck, call("memory_search", query="boat"))
    assert looked.text == "It took longer than 0.02 s."
    changed = await result(stuck, call("memory_add", text="x"))
    assert changed.text.endswith("Whether it was done is not known.")
    released.set()


async def test_tools_run_beside_the_event_loop(setting: Setting) -> None:
    main = threading.current_thread()
    seen: list[threading.Thread] = []

    def notes(given: Json, where: Where) -> Output:
        seen.append(threading.current_thread())
        return Output("done")

    await result(
        replace(setting, toolbox={"memory_search": Handler(notes)}),
        call("memory_search", query="x"),
    )
    assert seen and seen[0] is not main


async def test_a_search_overtaken_by_a_forgetting_is_done_again(
    setting: Setting, store: Store
) -> None:
    memory = memories.add(store, "The strongbox opens with Quokka", at=CLOCK.iso())
    shown: list[str] = []

    def reads(given: Json, where: Where) -> Output:
        found = memories.by_ids(store, [memory.id])
        shown.append(found[0].text if found else "gone")
        if found:
            forget.forget_memory(store, memory.id, at=CLOCK.iso())
        return Output(shown[-1])

    box = {"memory_search": Handler(reads)}
    patient = replace(setting, toolbox=box, policy=replace(POLICY, deadline_ms=30_000))
    assert (await result(patient, call("memory_search", query="box"))).text == "gone"
    assert shown == ["The strongbox opens with Quokka", "gone"]


async def test_a_crash_between_call_and_result_leaves_a_clean_store(
    setting: Setting, store: Store
) -> None:
    async def killed(question: Confirmation) -> bool:
        raise asyncio.CancelledError

    loop = ToolLoop(replace(setting, confirm=killed))
    with pytest.raises(asyncio.CancelledError):
        await took(loop, call("memory_add", text="They live in Lisbon"))
    (row,) = log.of_turns(store, [setting.where.turn_id])
    assert row.returned is None
    assert check.check(store).problems == ()
    assert loop.steps == () and loop.exchanges == ()


async def test_what_a_tool_cannot_do_is_told_to_the_model_in_a_sentence(setting: Setting) -> None:
    def fails(given: Json, where: Where) -> Output:
        raise NotFoundError("there is nothing", hint="look elsewhere")

    broken = replace(setting, toolbox={"memory_search": Handler(fails)})
    loop = ToolLoop(broken)
    await took(loop, call("memory_search", query="x"))
    assert (loop.exchanges[0].result, loop.exchanges[0].failed) == (
        "Not done: there is nothing.", True,
    )  # fmt: skip


async def test_half_characters_in_a_call_break_neither_the_log_nor_the_next_request(
    setting: Setting,
) -> None:
    loop = ToolLoop(setting)
    await took(loop, Call("1", "search\ud800", "\ud800"))
    json.dumps([exchange.result for exchange in loop.exchanges]).encode()
    assert loop.steps[0].results[0].call.name == "search?"


async def test_what_the_provider_wants_back_is_kept_with_the_step(setting: Setting) -> None:
    loop = ToolLoop(setting)
    kept = Carried("a/one", "signed")
    await took(loop, call("memory_search", query="x"), carried=(kept,))
    assert loop.steps[0].carried == (kept,)

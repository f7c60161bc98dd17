"""Forgetting what a tool returned."""

from __future__ import annotations

from pathlib import Path

from lila_app.assistant import Lila
from lila_app.events import ToolResult
from lila_app.testing import ScriptedProvider
from tests.assistant.tools.asking import answering, asking, told
from tests.stories.test_forget import SECRET, TELLING
from tests.traces import holding


def test_forgetting_a_memory_a_tool_returned_leaves_no_byte_of_it(
    lila: Lila, provider: ScriptedProvider, home: Path
) -> None:
    memory = lila.memory.add(SECRET)
    lila.memory.add("The ferry leaves at ten past eight.")
    provider.enqueue(
        asking("memory_search", query="strongbox"),
        asking("memory_add", text=SECRET),
        "It opens with Quokka-4711.",
    )
    told(lila, "How does it open?", answering(False))
    assert holding(home, TELLING), "the test would find it if it were there"
    lila.memory.forget(memory.id)
    assert holding(home, TELLING) == []
    assert lila.db.check().problems == ()


def test_a_record_that_holds_only_a_part_of_what_was_forgotten_loses_its_inputs_too(
    lila: Lila, provider: ScriptedProvider
) -> None:
    lines = " ".join(f"Rule {n} of the lighthouse is about lamp {n}." for n in range(90))
    memory = lila.memory.add(lines)
    for day in range(30):  # so that the layers offer others, and only the tool shows this one
        lila.memory.add(f"The weather was fair on day {day}")
    provider.enqueue(asking("show_source", id=memory.id), "Many rules.")
    events, done = told(lila, "Say something of the weather")
    shown = next(event.text for event in events if isinstance(event, ToolResult))
    assert lines not in shown and "lighthouse" in shown
    lila.memory.forget(memory.id)
    assert lila.contexts.replay(done.record_id).reason == "erased"

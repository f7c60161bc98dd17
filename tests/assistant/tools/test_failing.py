"""A model that asks wrongly, without end, or breaks off between two steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.context import ModelLimits
from lila_app.embedding.port import Embedder
from lila_app.errors import InvalidAnswerError, UnavailableError
from lila_app.events import Notice, ToolResult
from lila_app.gateway.port import Carried, Message
from lila_app.testing import FakeClock, Scripted, ScriptedProvider
from tests.assistant.tools.asking import ABLE, asking, reply_of, told


def test_arguments_that_never_fit_end_the_turn_and_keep_what_was_said(
    lila: Lila, provider: ScriptedProvider
) -> None:
    bad = asking("memory_search", said="Looking. ", wrong=1)
    provider.enqueue(bad, bad)
    with pytest.raises(InvalidAnswerError):
        told(lila, "Where is it?")
    (turn,) = lila.sessions.show("s1").turns
    assert (turn.reply, turn.stopped) == ("Looking. \n\nLooking. ", True)


def test_a_model_that_never_stops_asking_is_left_after_the_declared_steps(
    lila: Lila, provider: ScriptedProvider
) -> None:
    lila.home.policies_dir.joinpath("allocation.toml").write_text("[tools]\nsteps = 2\n")
    provider.enqueue(*[asking("memory_search", query="x")] * 5)
    events, done = told(lila, "Where is it?")
    assert len(provider.requests) == 4, "two steps, one refusal, one more chance"
    results = [event.text for event in events if isinstance(event, ToolResult)]
    assert "No more tools in this turn" in results[-1]
    assert done.stopped
    assert any(isinstance(event, Notice) for event in events)
    assert lila.sessions.show(done.session_id).turns[0].reply is None
    assert lila.db.check().problems == ()


def test_thinking_of_one_model_goes_back_to_it_and_to_no_other(
    home: Path, embedder: Embedder, clock: FakeClock
) -> None:
    one = ScriptedProvider(name="a/one", limits=ABLE)
    two = ScriptedProvider(name="b/two", limits=ABLE)
    signed = Carried("a/one", "signed")
    one.enqueue(asking("memory_search", query="x", carried=(signed,)))
    one.enqueue(asking("memory_search", query="y"))
    one.enqueue(Scripted((), error=UnavailableError("down")))
    one.enqueue(Scripted((), error=UnavailableError("down")))
    two.enqueue("Nothing is known.")
    with open_lila(home, provider=[one, two], embedder=embedder, clock=clock) as lila:
        events, done = told(lila, "Where is it?")
    assert one.requests[1].steps[0].carried == (signed,)
    assert [step.carried for step in two.requests[0].steps] == [(), ()]
    assert [step.results[0].call.name for step in two.requests[0].steps] == ["memory_search"] * 2
    assert done.model == "b/two"
    assert reply_of(events) == "Nothing is known."


def test_after_a_step_that_was_heard_no_other_model_speaks_in_the_same_reply(
    home: Path, embedder: Embedder, clock: FakeClock
) -> None:
    one = ScriptedProvider(name="a/one", limits=ABLE)
    two = ScriptedProvider(name="b/two", limits=ABLE)
    one.enqueue(asking("memory_search", said="Let me look. ", query="x"))
    one.enqueue(Scripted((), error=UnavailableError("down")))
    one.enqueue(Scripted((), error=UnavailableError("down")))
    two.enqueue("Nothing is known.")
    with open_lila(home, provider=[one, two], embedder=embedder, clock=clock) as lila:
        with pytest.raises(UnavailableError) as raised:
            told(lila, "Where is it?")
        (turn,) = lila.sessions.show("s1").turns
    assert two.requests == []
    assert (turn.reply, turn.stopped) == ("Let me look. ", True)
    assert "--retry" in raised.value.hint


def test_a_model_without_tools_that_steps_in_reads_the_steps_as_text_in_a_linked_record(
    home: Path, embedder: Embedder, clock: FakeClock
) -> None:
    one = ScriptedProvider(name="a/one", limits=ABLE)
    small = ScriptedProvider(name="b/small", limits=ModelLimits(window=4_096, context_budget=1_200))
    one.enqueue(asking("memory_search", query="key"))
    one.enqueue(Scripted((), error=UnavailableError("down")))
    one.enqueue(Scripted((), error=UnavailableError("down")))
    small.enqueue("Under the flagstone.")
    with open_lila(home, provider=[one, small], embedder=embedder, clock=clock) as lila:
        lila.memory.add("The key lies under the third flagstone")
        events, done = told(lila, "Where is it?")
        record = lila.contexts.show(done.record_id)
        assert lila.contexts.replay(done.record_id).status == "identical"
    assert reply_of(events) == "Under the flagstone."
    (request,) = small.requests
    assert request.tools == () and request.steps == ()
    assert request.messages[-2] == Message("assistant", '[1] memory_search {"query":"key"}')
    assert request.messages[-1].role == "user"
    assert "under the third flagstone" in request.messages[-1].content
    assert record["meta"]["parent_record_id"] == "c2"
    assert record["limits"]["tools"] is False
    assert "tools" not in [block["name"] for block in record["blocks"]]

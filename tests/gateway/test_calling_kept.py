"""What is kept of each call, of one that was stopped too, and what is chosen from it."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from lila_app.errors import UnavailableError
from lila_app.gateway.calls.means import About
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import Finished, Receipt, ThinkingDelta, Usage
from lila_app.testing import FakeClock, Scripted
from tests.gateway.bench import ASKED, CACHED, DOWN, Bench, model, text


async def test_an_attempt_is_kept_with_all_that_is_known_of_it() -> None:
    usage = Usage(total=1_100, read=900, written=0, output=2)
    reply = Scripted(("Hi",), usage=usage, receipt=Receipt("msg_1", "tools_changed", 40))
    bench = Bench(model("a/one", reply), about={"a/one": About("k1", contract=CACHED)},
                  choices=["long"])  # fmt: skip
    await bench.ask()
    (attempt,) = bench.ledger.attempts
    assert attempt == Attempt(
        at="2026-11-30T12:00:00+00:00",
        provider="a",
        model="one",
        outcome="stop",
        usage=usage,
        credential="k1",
        use_case="chat",
        session_id="s1",
        epoch=3,
        record_id="c7",
        first_token_ms=0,
        total_ms=0,
        prompt_tokens=1_000,
        prefixes=ASKED.cache.prefixes,
        ttls=("long",),
        frozen=attempt.frozen,
        response_id="msg_1",
        miss="tools_changed",
        missed=40,
    )


async def test_lifetimes_are_chosen_from_measured_gaps_and_the_last_response_is_named() -> None:
    first = Scripted(("Hi",), receipt=Receipt("msg_1"))
    bench = Bench(model("a/one", first, "2"), about={"a/one": About("k1", contract=CACHED)},
                  choices=["short"])  # fmt: skip
    await bench.ask()
    bench.clock.advance(40)
    await bench.ask()
    await_gaps = [(kind, [list(gaps) for gaps in each]) for kind, each in bench.gaps]
    assert await_gaps == [("anthropic", [[]]), ("anthropic", [[math.inf]])]
    assert [r.cache.previous for r in bench.models[0].requests] == [None, "msg_1"]
    assert [r.cache.ttls for r in bench.models[0].requests] == [("short",), ("short",)]
    bench.clock.advance(60)
    bench.models[0].enqueue("3")
    await bench.ask()
    assert bench.gaps[-1] == ("anthropic", [(40.0, math.inf)])


async def test_what_the_person_stops_is_kept_as_stopped_and_says_nothing_of_health() -> None:
    bench = Bench(model("a/one", Scripted(("a", "b", "c"))))
    stream = bench.caller.stream(bench.models, ASKED)
    async for _ in stream:
        break
    await stream.aclose()
    assert bench.outcomes == [("one", "stopped")]
    quiet = Scripted((), thinking="hm", hangs=True)
    hanging = Bench(model("a/one", *[DOWN] * 3, quiet, "Probe."))
    for _ in range(2):
        await hanging.fails(UnavailableError)
    hanging.clock.advance(31)
    probe = hanging.caller.stream(hanging.models, ASKED)
    assert isinstance(await anext(probe), ThinkingDelta)
    await probe.aclose()
    assert text(await hanging.ask()) == "Probe."  # the place of the probe was given back
    assert hanging.outcomes[-2:] == [("one", "stopped"), ("one", "stop")]


async def test_closing_at_the_end_of_a_whole_reply_does_not_make_it_a_stopped_one() -> None:
    bench = Bench(model("a/one", "Whole."))
    stream = bench.caller.stream(bench.models, ASKED)
    async for event in stream:
        if isinstance(event, Finished):
            break
    await stream.aclose()
    assert bench.outcomes == [("one", "stop")]


async def test_the_time_of_a_call_and_to_its_first_token_is_measured() -> None:
    bench = Bench(model("a/one", Scripted(("a",), error=UnavailableError("x"))))

    async def reading() -> None:
        stream = bench.caller.stream(bench.models, ASKED)
        async for _ in stream:
            bench.clock.advance(2)

    with pytest.raises(UnavailableError):
        await reading()
    (attempt,) = bench.ledger.attempts
    assert (attempt.first_token_ms, attempt.total_ms) == (0, 2_000)
    assert timedelta(seconds=2) == bench.clock() - FakeClock()()

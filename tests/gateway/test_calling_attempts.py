"""Who of a chain is asked, when again, and up to when another answers instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app.errors import (
    AuthenticationError,
    LilaError,
    MissingWeightsError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.calls.calling import Switched
from lila_app.gateway.calls.rules import Patience
from lila_app.gateway.port import Call, Carried, Finished, ProviderEvent, Receipt, TextDelta, Usage
from lila_app.testing import Scripted
from tests.gateway.bench import BREAKER, DOWN, RULES, Bench, model, switches, text


async def test_the_first_answers_and_nobody_else_is_asked() -> None:
    bench = Bench(model("a/one", "Hello."), model("b/two"))
    events = await bench.ask()
    assert (text(events), switches(events), bench.slept) == ("Hello.", [], [])
    assert bench.outcomes == [("one", "stop")]


async def test_a_failure_is_tried_again_after_a_wait_from_the_upper_half() -> None:
    bench = Bench(model("a/one", DOWN, "Hello."), model("b/two"))
    assert text(await bench.ask()) == "Hello."
    assert bench.slept == [0.75]  # a second, of which chance drew the middle of the upper half
    assert bench.outcomes == [("one", "UnavailableError"), ("one", "stop")]


async def test_waits_double_up_to_the_longest() -> None:
    bench = Bench(model("a/one", *[DOWN] * 5), rules=replace(
        RULES, attempts=5, breaker=replace(BREAKER, failures=99)))  # fmt: skip
    await bench.fails(UnavailableError)
    assert bench.slept == [0.75, 1.5, 3.0, 3.0]


async def test_no_wait_goes_beyond_the_deadline() -> None:
    slow = replace(RULES, backoff=80.0, backoff_longest=80.0)
    bench = Bench(model("a/one", DOWN), model("b/two", "Me."), rules=slow)
    assert text(await bench.ask()) == "Me."
    assert bench.slept == []


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (UnavailableError("500"), 2),
        (TruncatedReplyError("nothing came"), 2),
        (TimedOutError("slow"), 1),
        (UnreachableError("refused"), 1),
        (RateLimitedError("429"), 1),
        (RateLimitedError("429", retry_after=3_000), 1),
        (RateLimitedError("429", retry_after=39), 2),
        (SpendLimitError("402"), 1),
        (AuthenticationError("401"), 1),
        (RequestRefusedError("404"), 1),
        (MissingWeightsError("no file"), 1),
    ],
)
async def test_before_the_first_token_the_next_answers_whatever_went_wrong(
    error: LilaError, attempts: int
) -> None:
    bench = Bench(
        model("a/one", *[Scripted((), thinking="hm", error=error)] * attempts),
        model("b/two", "I am here."),
    )
    events = await bench.ask()
    assert text(events) == "I am here."
    assert switches(events) == [Switched("b/two", str(error))]
    assert bench.models[1].requests[0].messages == bench.models[0].requests[0].messages


async def test_what_could_not_be_asked_at_all_is_no_attempt() -> None:
    absent = Scripted((), error=MissingWeightsError("no file"))
    bench = Bench(model("a/one", absent), model("b/two", "Me."))
    await bench.ask()
    assert bench.outcomes == [("two", "stop")]


async def test_a_retry_after_that_fits_is_kept_and_the_same_model_answers() -> None:
    limited = Scripted((), error=RateLimitedError("wait", retry_after=12))
    bench = Bench(model("a/one", limited, "Now."), model("b/two"))
    events = await bench.ask()
    assert (text(events), switches(events)) == ("Now.", [])
    assert bench.slept == [12.1]


async def test_a_retry_after_that_does_not_fit_is_remembered_by_all_who_ask_next() -> None:
    limited = Scripted((), error=RateLimitedError("wait", retry_after=120))
    bench = Bench(model("a/one", limited, "Back."), model("b/two", "1", "2"))
    await bench.ask()
    bench.clock.advance(119)
    (switched,) = switches(await bench.ask())
    assert switched.why == "a/one is left alone for 1 s more: it asked to wait"
    bench.clock.advance(1)
    assert text(await bench.ask()) == "Back."
    assert len(bench.models[0].requests) == 2


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted(("half ", "of "), error=UnavailableError("reset")),
        Scripted(("half ", "of "), whole=False),
        Scripted(("half ", "of "), hangs=True),
    ],
)
async def test_after_the_first_token_there_is_no_other_voice(scripted: Scripted) -> None:
    quick = replace(RULES, patience={"chat": Patience(30, 0.01)})
    bench = Bench(model("a/one", scripted, "Again."), model("b/two", "Me."), rules=quick)
    events: list[ProviderEvent | Switched] = []
    with pytest.raises(UnavailableError if scripted.whole else TruncatedReplyError):
        await bench.ask(into=events)
    assert [event for event in events if not isinstance(event, TextDelta)] == []
    assert text(events) == "half of "
    assert len(bench.models[0].requests) == 1 and bench.models[1].requests == []


async def test_silence_before_the_first_token_hands_over_and_is_not_waited_for_twice() -> None:
    quick = replace(RULES, patience={"chat": Patience(0.01, 30)})
    bench = Bench(model("a/one", Scripted((), hangs=True)), model("b/two", "Me."), rules=quick)
    (switched,) = switches(await bench.ask())
    assert switched.why == "a/one did not begin to answer for 0.01 s"
    assert bench.outcomes == [("one", "TimedOutError"), ("two", "stop")]
    assert bench.models[0].stopped == 1


async def test_the_last_of_the_chain_is_not_cut_short_by_the_deadline() -> None:
    hurried = replace(RULES, deadlines={"chat": 0.01})
    slow = Scripted(("late ", "but ", "whole"), delay=0.03)
    bench = Bench(model("a/one", slow), rules=hurried)
    assert text(await bench.ask()) == "late but whole"
    replaceable = Bench(model("a/one", slow), model("b/two", "Me."), rules=hurried)
    assert text(await replaceable.ask()) == "Me."


async def test_calls_and_what_is_carried_come_only_with_the_terminal_marker() -> None:
    call, kept, receipt = Call("1", "notes", "{}"), Carried("a/one", "signed"), Receipt("r1")
    broken = Scripted((), calls=(call,), carried=(kept,), receipt=receipt, whole=False)
    bench = Bench(model("a/one", broken, replace(broken, whole=True)))
    events = await bench.ask()
    assert [type(event) for event in events] == [Call, Carried, Receipt, Usage, Finished]
    assert events[:3] == [call, kept, receipt]
    assert bench.outcomes == [("one", "TruncatedReplyError"), ("one", "tools")]

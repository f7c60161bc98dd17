"""A chain of models: who is asked, when again, who answers instead, and what is kept of each."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.context.items import ModelLimits
from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    FrozenError,
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
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.breaker import BreakerRules
from lila_app.gateway.calls.calling import Caller, Switched
from lila_app.gateway.calls.means import About, World
from lila_app.gateway.calls.rules import CallingRules, Patience
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import (
    CachePlan,
    Call,
    Carried,
    Finished,
    Message,
    Prefix,
    Provider,
    ProviderEvent,
    Receipt,
    Request,
    Result,
    Step,
    TextDelta,
    ThinkingDelta,
    Tool,
    Ttl,
    Usage,
)
from lila_app.testing import FakeClock, MemoryLedger, Scripted, ScriptedProvider

BREAKER = BreakerRules(
    failures=3,
    open_seconds=30,
    longest_seconds=240,
    rate_seconds=60,
    spend_seconds=3_600,
    probe_seconds=120,
)
PATIENCE = Patience(first_token=30, stall=30)
RULES = CallingRules(
    attempts=2,
    backoff=1.0,
    backoff_longest=4.0,
    offline=20,
    deadlines={"chat": 40, "voice": 6, "background": 300},
    patience={"chat": PATIENCE, "voice": PATIENCE, "background": PATIENCE},
    local=PATIENCE,
    breaker=BREAKER,
)
CACHED = CacheContract("anthropic", short_seconds=300, long_seconds=3_600)
DOWN = Scripted((), error=UnavailableError("down"))
GONE = Scripted((), error=UnreachableError("no way there"))
ASKED = Request(
    (Message("system", "You are brief.", breakpoint=True), Message("user", "Hello")),
    max_tokens=100,
    tokens=1_000,
    cache=CachePlan(
        session="s1", epoch=3, use_case="chat", prefixes=(Prefix("identity", "ab", 900),)
    ),
)


class Bench:
    """Models under a clock that only sleeping moves."""

    def __init__(
        self,
        *models: ScriptedProvider,
        rules: CallingRules = RULES,
        about: dict[str, About] | None = None,
        choices: Sequence[Ttl | None] = (),
    ) -> None:
        self.models, self.clock, self.ledger = models, FakeClock(), MemoryLedger()
        self.slept: list[float] = []
        self.gaps: list[Any] = []
        self._begin = self.clock()
        known = about or {}

        def choose(
            contract: CacheContract, gaps: Sequence[Sequence[float]]
        ) -> tuple[Ttl | None, ...]:
            self.gaps.append((contract.kind, gaps))
            return tuple(choices)

        self.caller = Caller(
            self.ledger,
            rules,
            about=lambda name: known.get(name, About(credential="k1")),
            choose=choose,
            world=World(self.clock, self._timer, self._sleep, lambda: 0.5),
        )

    def _timer(self) -> float:
        return (self.clock() - self._begin).total_seconds()

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)
        await asyncio.sleep(0)

    async def ask(
        self, request: Request = ASKED, into: list[ProviderEvent | Switched] | None = None
    ) -> list[ProviderEvent | Switched]:
        events = into if into is not None else []
        models: tuple[Provider, ...] = self.models
        async with aclosing(self.caller.stream(models, request, record_id="c7")) as stream:
            async for event in stream:
                events.append(event)
        return events

    async def fails(self, kind: type[LilaError], request: Request = ASKED) -> LilaError:
        with pytest.raises(kind) as caught:
            await self.ask(request)
        return caught.value

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(a.model, a.outcome) for a in self.ledger.attempts]


def model(name: str, *replies: str | Scripted, limits: ModelLimits | None = None) -> Any:
    return ScriptedProvider(*replies, name=name, limits=limits)


def text(events: Sequence[ProviderEvent | Switched]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def switches(events: Sequence[ProviderEvent | Switched]) -> list[Switched]:
    return [event for event in events if isinstance(event, Switched)]


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


async def test_three_failures_in_a_row_open_and_the_floor_answers_until_a_probe_succeeds() -> None:
    bench = Bench(model("a/one", *[DOWN] * 4, "Well again."), model("embedded/small", *["Me."] * 4))
    for _ in range(3):
        assert text(await bench.ask()) == "Me."
    assert len(bench.models[0].requests) == 3
    bench.clock.advance(30)
    assert text(await bench.ask()) == "Me."  # the probe failed; there is no second attempt
    assert len(bench.models[0].requests) == 4
    bench.clock.advance(60)
    assert text(await bench.ask()) == "Well again."


async def test_twenty_at_half_open_make_one_request_upstream() -> None:
    bench = Bench(
        model("a/one", *[DOWN] * 3, Scripted(("Well ", "again"), delay=0.01)),
        model("embedded/small", *["Me."] * 30),
    )
    await bench.ask()
    await bench.ask()
    bench.clock.advance(31)
    replies = await asyncio.gather(*(bench.ask() for _ in range(20)))
    assert sorted(text(events) for events in replies) == ["Me."] * 19 + ["Well again"]
    why = {switched.why for events in replies for switched in switches(events)}
    assert why == {"a/one is just being tried by another call: it kept failing"}
    assert len(bench.models[0].requests) == 4


async def test_when_all_are_left_alone_nobody_is_asked_past_the_breaker() -> None:
    bench = Bench(model("a/one", *[DOWN] * 3), model("b/two", *[DOWN] * 3))
    await bench.fails(UnavailableError)
    await bench.fails(UnavailableError)
    error = await bench.fails(UnavailableError)
    assert str(error) == "b/two is left alone for 30 s more: it kept failing"
    assert [len(model.requests) for model in bench.models] == [3, 3]


async def test_another_key_has_a_breaker_of_its_own() -> None:
    about: dict[str, About] = {"a/one": About("k1")}
    bench = Bench(model("a/one", *[DOWN] * 3, "Me."), about=about)
    await bench.fails(UnavailableError)
    await bench.fails(UnavailableError)
    about["a/one"] = About("k2")
    assert text(await bench.ask()) == "Me."


async def test_an_outage_of_ten_minutes_costs_the_threshold_and_the_probes() -> None:
    # A question every ten seconds, for ten minutes. The first makes two attempts, the second one,
    # which opens at 10 s (and 0.75 s of waiting). Probes: at 50 (30 s later, at the next
    # question), 110 (60), 230 (120), 470 (240). The next would be at 710.
    bench = Bench(model("a/one", *[DOWN] * 7), model("embedded/small", *["Me."] * 60))
    for _ in range(60):
        assert text(await bench.ask()) == "Me."
        bench.clock.advance(10)
    assert len(bench.models[0].requests) == 3 + 4


async def test_offline_is_found_out_once_and_again_when_its_time_is_over() -> None:
    bench = Bench(
        model("a/one", GONE, GONE), model("b/two", GONE, "On line."),
        model("embedded/small", *["Me."] * 3),
        about={"embedded/small": About(local=True)},
    )  # fmt: skip
    assert text(await bench.ask()) == "Me."
    (switched,) = switches(await bench.ask())
    assert switched.why == "no model beyond this machine could be reached a moment ago"
    assert [len(model.requests) for model in bench.models] == [1, 1, 2]
    bench.clock.advance(20)
    assert text(await bench.ask()) == "On line."


async def test_being_offline_is_nobodys_ill_health() -> None:
    bench = Bench(
        model("a/one", *[GONE] * 5, "Back."), model("embedded/small", *["Me."] * 5),
        about={"embedded/small": About(local=True)},
    )  # fmt: skip
    for _ in range(5):
        await bench.ask()
        bench.clock.advance(20)
    assert text(await bench.ask()) == "Back."


async def test_one_provider_that_cannot_be_reached_does_not_keep_the_others_away() -> None:
    bench = Bench(model("a/one", GONE, GONE), model("b/two", "1", "2"))
    assert [text(await bench.ask()) for _ in range(2)] == ["1", "2"]


async def test_a_server_on_this_machine_is_asked_again_as_soon_as_it_is_started() -> None:
    bench = Bench(model("ollama/m", *[GONE] * 9, "Up."), about={"ollama/m": About(local=True)})
    for _ in range(9):
        await bench.fails(UnreachableError)
    assert text(await bench.ask()) == "Up."


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


async def test_a_tool_that_appears_within_an_epoch_is_refused_and_a_new_epoch_allows_it() -> None:
    bench = Bench(model("a/one", "1", "2", limits=ModelLimits(100_000, 50_000, tools=True)))
    await bench.ask()
    tooled = replace(ASKED, tools=(Tool("notes", "Keeps notes.", {"type": "object"}),))
    error = await bench.fails(FrozenError, tooled)
    assert "new epoch" in error.hint
    assert len(bench.models[0].requests) == 1
    begun = replace(tooled, cache=replace(tooled.cache, epoch=4))
    assert text(await bench.ask(begun)) == "2"


@pytest.mark.parametrize(
    "changed",
    [
        replace(ASKED, effort="high"),
        replace(ASKED, schema={"type": "object"}),
    ],
)
async def test_effort_and_output_format_are_frozen_too(changed: Request) -> None:
    bench = Bench(model("a/one", "1"))
    await bench.ask()
    await bench.fails(FrozenError, changed)


async def test_limits_learnt_meanwhile_and_another_job_are_no_toggle() -> None:
    bench = Bench(model("a/one", "1"))
    await bench.ask()
    learnt = model("a/one", "2", "3", limits=ModelLimits(90_000, 40_000, 12_000))
    bench.models = (learnt,)
    assert text(await bench.ask()) == "2"
    summary = replace(ASKED, job="summary", schema={"type": "object"})
    assert text(await bench.ask(summary)) == "3"


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


ERRORS = (
    UnavailableError("down"),
    UnreachableError("gone"),
    TimedOutError("slow"),
    TruncatedReplyError("half"),
    RateLimitedError("wait", retry_after=3),
    RateLimitedError("wait", retry_after=900),
    RateLimitedError("wait"),
    SpendLimitError("poor"),
    AuthenticationError("who"),
    RequestRefusedError("what"),
)
endings = st.builds(
    Scripted,
    st.sampled_from([(), ("one ",), ("one ", "two ")]),
    thinking=st.sampled_from(["", "hm"]),
    error=st.none() | st.sampled_from(ERRORS),
    whole=st.booleans(),
)


@given(
    scripts=st.lists(st.lists(endings, min_size=40, max_size=40), min_size=1, max_size=3),
    pauses=st.lists(st.sampled_from([0, 5, 31, 700, 4_000]), min_size=1, max_size=8),
    closes=st.lists(st.none() | st.integers(1, 4), min_size=8, max_size=8),
)
@settings(max_examples=60)
async def test_whatever_fails_there_is_one_voice_and_every_call_is_on_record(
    scripts: list[list[Scripted]], pauses: list[int], closes: list[int | None]
) -> None:
    bench = Bench(
        *(model(f"{name}/m", *script) for name, script in zip("abc", scripts, strict=False))
    )
    for pause, close in zip(pauses, closes, strict=False):
        bench.clock.advance(pause)
        before = len(bench.ledger.attempts)
        events: list[ProviderEvent | Switched] = []
        raised: LilaError | None = None
        stream = bench.caller.stream(bench.models, ASKED)
        try:
            async for event in stream:
                events.append(event)
                if len(events) == close:
                    break
        except LilaError as error:
            raised = error
        await stream.aclose()
        made = bench.ledger.attempts[before:]
        # Whatever reached a model is on record, in the order it was asked.
        assert len(bench.ledger.attempts) == sum(len(m.requests) for m in bench.models)
        # Only the last call may have shown anything; the others failed without a visible token.
        assert all(attempt.first_token_ms is None for attempt in made[:-1])
        assert all(attempt.outcome.endswith("Error") for attempt in made[:-1])
        whole = any(isinstance(event, Finished) for event in events)
        if whole:
            assert raised is None and made[-1].outcome == "stop"
        elif raised is None:
            assert close is not None and len(events) == close
            assert not made or made[-1].outcome in ("stopped", "stop")
        # A switch comes before the first event of another model, and its name is the answer's.
        for before_it, event in pairwise(events):
            assert not (isinstance(before_it, TextDelta) and isinstance(event, Switched))
        if text(events):
            names = [f"{attempt.provider}/{attempt.model}" for attempt in made]
            told = [event.to for event in switches(events)]
            assert (told[-1] if told else "a/m") == names[-1]

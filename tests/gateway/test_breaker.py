"""A breaker closes, opens and lets exactly one probe through, by hand and for any history."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    LilaError,
    MissingWeightsError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
    TimedOutError,
    TruncatedReplyError,
    UnavailableError,
)
from lila_app.gateway.calls.breaker import (
    CLOSED,
    Admission,
    BreakerRules,
    Breakers,
    Health,
    admit,
    ended,
    health_of,
)
from lila_app.gateway.ledger import Breaker
from lila_app.testing import MemoryLedger

RULES = BreakerRules(
    failures=3,
    open_seconds=30,
    longest_seconds=240,
    rate_seconds=20,
    spend_seconds=3_600,
    probe_seconds=60,
)
NOW = 1_796_000_000.0
CALL = Admission(passes=True)


class Model:
    """One breaker under a clock that is set by hand."""

    def __init__(self) -> None:
        self.state, self.now = CLOSED, NOW

    def asks(self) -> Admission:
        self.state, admission = admit(self.state, self.now, RULES)
        return admission

    def fails(
        self, admission: Admission = CALL, health: Health = "ill", after: float | None = None
    ) -> None:
        self.state = ended(self.state, admission, health, self.now, RULES, retry_after=after)


@pytest.mark.parametrize(
    ("error", "health"),
    [
        (UnavailableError("500"), "ill"),
        (TimedOutError("slow"), "ill"),
        (TruncatedReplyError("half"), "ill"),
        (RateLimitedError("429"), "wait"),
        (SpendLimitError("402"), "money"),
        (AuthenticationError("401"), "answered"),
        (RequestRefusedError("400"), "answered"),
        (ContextTooLarge("413"), "unknown"),
        (MissingWeightsError("none"), "unknown"),
    ],
)
def test_an_error_says_what_it_means_for_health(error: LilaError, health: Health) -> None:
    assert health_of(error) == health


def test_it_opens_at_the_third_failure_in_a_row_for_thirty_seconds() -> None:
    model = Model()
    for _ in range(2):
        model.fails(model.asks())
        assert model.asks().passes
    model.fails(model.asks())
    assert not model.asks().passes
    model.now += 29
    assert not model.asks().passes
    model.now += 1
    assert model.asks() == Admission(passes=True, probe=NOW + 30)


def test_while_the_probe_is_under_way_nobody_else_passes() -> None:
    model = Model()
    for _ in range(3):
        model.fails()
    model.now += 31
    assert model.asks().probe
    model.now += 59
    assert not model.asks().passes
    model.now += 1  # the probe never reported back
    assert model.asks().probe == NOW + 91


def test_a_failed_probe_doubles_the_wait_up_to_the_longest() -> None:
    model, waits = Model(), list[float]()
    for _ in range(3):
        model.fails()
    for _ in range(5):
        waits.append(model.state.until - model.now)
        model.now = model.state.until
        model.fails(model.asks())
    assert waits == [30, 60, 120, 240, 240]


def test_a_probe_that_succeeds_closes_it_and_forgets_the_waits() -> None:
    ledger, now = MemoryLedger(), [NOW]
    breakers = Breakers(ledger, RULES, lambda: now[0])
    for _ in range(3):
        breakers.failed("m", breakers.admit("m"), "ill")
    now[0] += 30
    assert breakers.admit("m").probe
    breakers.succeeded("m")
    assert ledger.breaker("m") == CLOSED


def test_calls_under_way_when_it_opened_do_not_lengthen_the_wait() -> None:
    model = Model()
    for _ in range(20):
        model.fails()
    assert (model.state.until, model.state.opened) == (NOW + 30, 1)
    limited = Model()
    for _ in range(20):
        limited.fails(health="wait", after=7)
    assert (limited.state.until, limited.state.opened) == (NOW + 7, 1)


def test_a_probe_given_up_that_fails_late_does_not_speak_for_the_next_one() -> None:
    model = Model()
    for _ in range(3):
        model.fails()
    model.now += 30
    lost = model.asks()
    model.now += 60
    second = model.asks()
    model.fails(lost)
    assert model.state.probing == second.probe
    assert not model.asks().passes


def test_a_429_opens_until_retry_after_at_once() -> None:
    model = Model()
    model.fails(health="wait", after=12)
    model.now += 11
    assert not model.asks().passes
    model.now += 1
    assert model.asks().probe


def test_a_429_without_a_time_opens_for_the_declared_one_then_for_twice_as_long() -> None:
    model = Model()
    model.fails(health="wait")
    assert model.state.until == NOW + 20
    model.now += 20
    model.fails(model.asks(), "wait")
    assert model.state.until == NOW + 20 + 40


def test_want_of_money_opens_for_long_and_a_retry_after_for_no_longer_than_that() -> None:
    model = Model()
    model.fails(health="money")
    assert model.state.until == NOW + 3_600
    absurd = Model()
    absurd.fails(health="wait", after=4_294_967)
    assert absurd.state.until == NOW + 3_600


def test_a_wrong_request_is_no_failure_and_a_probe_it_answers_closes() -> None:
    model = Model()
    for _ in range(50):
        model.fails(health="answered")
    assert model.state == CLOSED
    for _ in range(3):
        model.fails()
    model.now += 30
    model.fails(model.asks(), "answered")
    assert model.state == CLOSED


def test_a_probe_that_learnt_nothing_leaves_its_place_to_the_next() -> None:
    model = Model()
    for _ in range(3):
        model.fails()
    model.now += 30
    model.fails(model.asks(), "unknown")
    assert model.asks().probe


def test_a_clock_put_back_by_a_day_does_not_keep_it_open_for_a_day() -> None:
    model = Model()
    for _ in range(3):
        model.fails()
    model.now -= 86_400
    assert model.asks().passes


def test_twenty_threads_at_half_open_get_one_probe() -> None:
    ledger, now = MemoryLedger(), [NOW]
    breakers = Breakers(ledger, RULES, lambda: now[0])
    breakers.failed("m", CALL, "wait", retry_after=5)
    now[0] += 5
    passed = list[bool]()
    gate = threading.Barrier(20)

    def ask() -> None:
        gate.wait()
        passed.append(breakers.admit("m").passes)

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(passed) == [False] * 19 + [True]


def test_ten_minutes_of_outage_cost_the_threshold_and_the_probes() -> None:
    # One call a second. Three failures open it at second 2; waits of 30, 60, 120, 240 and 240 s
    # put the probes at 32, 92, 212, 452 and 692: four of them fall into the ten minutes.
    ledger, now = MemoryLedger(), [NOW]
    breakers = Breakers(ledger, RULES, lambda: now[0])
    upstream = list[float]()
    for second in range(600):
        now[0] = NOW + second
        admission = breakers.admit("m")
        if admission.passes:
            upstream.append(second)
            breakers.failed("m", admission, "ill")
    assert upstream == [0, 1, 2, 32, 92, 212, 452]


class AnyHistory(RuleBasedStateMachine):
    """Whatever happens in whatever order: never two probes, never open for ever."""

    @initialize(half_open=st.booleans())
    def begin(self, half_open: bool) -> None:
        self.now = NOW
        self.ledger = MemoryLedger()
        self.breakers = Breakers(self.ledger, RULES, lambda: self.now)
        self.calls: list[Admission] = []
        self.probes: list[Admission] = []
        if half_open:
            self.breakers.failed("m", CALL, "wait", retry_after=0.0)

    @property
    def state(self) -> Breaker:
        return self.ledger.breaker("m")

    @rule()
    def call(self) -> None:
        before = self.state
        admission = self.breakers.admit("m")
        if admission.probe:
            assert before.until <= self.now
            lasting = [p for p in self.probes if self.now - p.probe < RULES.probe_seconds]
            assert not lasting
            self.probes.append(admission)
        if admission.passes:
            self.calls.append(admission)
        elif before.until <= self.now:
            assert any(self.now - probe.probe < RULES.probe_seconds for probe in self.probes)

    @rule(seconds=st.sampled_from([0.5, 7, 20, 30, 61, 4_000]) | st.floats(0.5, 5_000))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(
        which=st.integers(0, 1_000),
        health=st.sampled_from(["ill", "wait", "money", "answered", "unknown"]),
        after=st.sampled_from([None, 0.0, 5.0, 1e7]),
    )
    def fail(self, which: int, health: Health, after: float | None) -> None:
        self._finish(which, lambda a: self.breakers.failed("m", a, health, retry_after=after))

    @rule(which=st.integers(0, 1_000))
    def succeed(self, which: int) -> None:
        self._finish(which, lambda _: self.breakers.succeeded("m"))

    def _finish(self, which: int, how: Callable[[Admission], None]) -> None:
        if self.calls:
            admission = self.calls.pop(which % len(self.calls))
            how(admission)
            if self.state.probing == 0:
                self.probes.clear()

    @invariant()
    def it_is_never_open_for_longer_than_the_longest_wait(self) -> None:
        assert self.state.until - self.now <= RULES.furthest

    @invariant()
    def closed_means_no_probe_and_too_few_failures(self) -> None:
        if self.state.until == 0:
            assert self.state.probing == 0
            assert self.state.failures < RULES.failures


def _many(examples: int) -> settings:
    return settings(max_examples=examples, stateful_step_count=40, deadline=None)


def test_the_laws_hold_for_any_history() -> None:
    run_state_machine_as_test(AnyHistory, settings=_many(40))


@pytest.mark.slow
def test_the_laws_hold_for_many_histories() -> None:
    run_state_machine_as_test(AnyHistory, settings=_many(200))

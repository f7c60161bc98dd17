"""A breaker: after failures a model is left alone for a while, then one call tries it again.

Closed, calls pass. Open, none does until a time. Half-open, exactly one call is let through as a
probe, and its end decides. The state is plain data and every step a pure function of state, time
(seconds since the epoch) and rules; `Breakers` applies the steps to states in the ledger, alone
among all threads and processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from lila_app.errors import (
    AuthenticationError,
    ContextTooLarge,
    FrozenError,
    GatewayError,
    LilaError,
    RateLimitedError,
    RequestRefusedError,
    SpendLimitError,
)
from lila_app.gateway.ledger import Breaker, Ledger

Health = Literal["ill", "wait", "money", "answered", "unknown"]
"""What an error says of the provider's health.

- `ill`: it failed (5xx, no answer in time, no connection, a stream that broke off)
- `wait`: it asked to wait (429)
- `money`: the account has none left (402, spending limits)
- `answered`: it works and called the request wrong (400, 401, 403, 404, 413, 422)
- `unknown`: nothing was learnt; it may not even have been asked
"""

CLOSED = Breaker()

_ROUNDING = 1.0
"""Sums of seconds since 1970 are exact to a quarter of a microsecond only."""


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """When a breaker opens and for how long; seconds throughout.

    It opens after `failures` in a row, for `open_seconds`, twice as long each time it opens again
    without a success between, at most `longest_seconds`. After a 429 that names no time it opens
    for `rate_seconds` (and twice as long …), for want of money for `spend_seconds`; a time the
    provider names is kept, but not beyond `spend_seconds`. A probe that has not reported back
    after `probe_seconds` is given up and another is let through.
    """

    failures: int
    open_seconds: float
    longest_seconds: float
    rate_seconds: float
    spend_seconds: float
    probe_seconds: float

    @property
    def furthest(self) -> float:
        """The longest a breaker is ever open."""
        return max(self.longest_seconds, self.spend_seconds)


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a call may pass; `probe` is the time that identifies the half-open state's one.

    `reason` and `until` say why not, and until when; `trying` that another call is that one.
    """

    passes: bool
    probe: float = 0.0
    reason: str = ""
    until: float = 0.0
    trying: bool = False


def admit(state: Breaker, now: float, rules: BreakerRules) -> tuple[Breaker, Admission]:
    """Ask to pass.

    A time too far ahead to have been meant (the machine's clock was put back) counts as over.
    """
    if state.until == 0.0:
        return state, Admission(passes=True)
    if 0.0 < state.until - now <= rules.furthest + _ROUNDING:
        return state, Admission(passes=False, reason=state.reason, until=state.until)
    if state.probing and 0.0 <= now - state.probing < rules.probe_seconds:
        until = state.probing + rules.probe_seconds
        return state, Admission(passes=False, reason=state.reason, until=until, trying=True)
    return replace(state, probing=now), Admission(passes=True, probe=now)


def ended(
    state: Breaker,
    admission: Admission,
    health: Health,
    now: float,
    rules: BreakerRules,
    *,
    reason: str = "",
    retry_after: float | None = None,
) -> Breaker:
    """The state after an admitted call failed.

    While it is open only the probe's end changes how long: many calls that were under way when it
    opened, and fail now, are one failure of the provider and not many.
    """
    is_probe = admission.probe != 0.0 and admission.probe == state.probing
    match health:
        case "answered":
            return CLOSED if is_probe else state
        case "unknown":
            return replace(state, probing=0.0) if is_probe else state
        case "money":
            return _opened(state, now + rules.spend_seconds, reason, again=is_probe)
        case "wait":
            wait = _lengthened(rules.rate_seconds, state.opened, rules)
            if retry_after is not None:
                wait = min(retry_after, rules.spend_seconds)
            elif state.until and not is_probe:
                return state
            return _opened(state, now + wait, reason, again=is_probe)
        case "ill":
            state = replace(state, failures=state.failures + 1)
            if state.until and not is_probe:
                return state
            if not is_probe and state.failures < rules.failures:
                return replace(state, reason=reason)
            wait = _lengthened(rules.open_seconds, state.opened, rules)
            return _opened(state, now + wait, reason, again=is_probe)


def health_of(error: LilaError) -> Health:
    """What an error says of the provider's health."""
    match error:
        case ContextTooLarge() | FrozenError():
            return "unknown"
        case SpendLimitError():
            return "money"
        case RateLimitedError():
            return "wait"
        case AuthenticationError() | RequestRefusedError():
            return "answered"
        case GatewayError():
            return "ill"
        case _:
            return "unknown"


class Breakers:
    """The breakers of one home; `now` gives seconds since the epoch."""

    def __init__(self, ledger: Ledger, rules: BreakerRules, now: Callable[[], float]) -> None:
        self._ledger = ledger
        self._rules = rules
        self._now = now

    def admit(self, key: str) -> Admission:
        """Ask to pass; a closed breaker is only read."""
        if self._ledger.breaker(key).until == 0.0:
            return Admission(passes=True)
        return self._ledger.change_breaker(
            key, lambda state: admit(state, self._now(), self._rules)
        )

    def is_open(self, key: str) -> bool:
        """Whether no call would pass now; takes no probe."""
        return self._ledger.breaker(key).until > self._now()

    def succeeded(self, key: str) -> None:
        """A call ended well: closed, whatever it was."""
        if self._ledger.breaker(key) != CLOSED:
            self._ledger.change_breaker(key, lambda _: (CLOSED, None))

    def failed(
        self,
        key: str,
        admission: Admission,
        health: Health,
        *,
        reason: str = "",
        retry_after: float | None = None,
    ) -> None:
        """A call that was let through failed, or (`unknown`) ended without an answer."""
        if health in ("answered", "unknown") and not admission.probe:
            return

        def step(state: Breaker) -> tuple[Breaker, None]:
            new = ended(
                state,
                admission,
                health,
                self._now(),
                self._rules,
                reason=reason,
                retry_after=retry_after,
            )
            return new, None

        self._ledger.change_breaker(key, step)


def _opened(state: Breaker, until: float, reason: str, *, again: bool) -> Breaker:
    """Open, or open for longer; only the first failure and a probe's count as an opening."""
    if state.until and not again:
        return replace(state, until=max(state.until, until), reason=reason)
    return replace(state, until=until, probing=0.0, opened=state.opened + 1, reason=reason)


def _lengthened(seconds: float, opened: int, rules: BreakerRules) -> float:
    return min(seconds * 2.0 ** min(opened, 32), rules.longest_seconds)

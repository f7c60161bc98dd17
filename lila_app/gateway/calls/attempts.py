"""The attempts at one model for one request: when again, when not at all, and what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from lila_app.errors import (
    ContextTooLarge,
    FrozenError,
    GatewayError,
    LilaError,
    RateLimitedError,
    SpendLimitError,
    TimedOutError,
    UnavailableError,
    UnreachableError,
)
from lila_app.gateway.calls.breaker import Admission, health_of
from lila_app.gateway.calls.frozen import frozen, toggled
from lila_app.gateway.calls.means import Deadline, Means
from lila_app.gateway.calls.network import Network
from lila_app.gateway.calls.reading import Reading
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import Provider, ProviderEvent, Request, own

_MARGIN = 0.1
"""Seconds added to a provider's Retry-After: there are two clocks, and both are rounded."""

_EXPIRING = ("anthropic", "breakpoints", "contents")
"""Kinds of cache whose lifetime is asked for."""

_MINUTES = 120
"""Seconds from which on a time is told in minutes."""

_WHY = {
    RateLimitedError.__name__: "it asked to wait",
    SpendLimitError.__name__: (
        "its account has no money left or reached its limit (once that is mended, "
        "`lila models test` has it asked again at once)"
    ),
}


@dataclass(frozen=True, slots=True)
class Errand:
    """What the attempts are for: the request, its record, its deadline, and the network's state."""

    request: Request
    record_id: str | None
    deadline: Deadline
    network: Network


class Attempts:
    """The attempts at one candidate; `others` come after it.

    `asked` says that there was one, `visible` that the person has seen a part of a reply.
    """

    def __init__(
        self, means: Means, errand: Errand, provider: Provider, others: tuple[Provider, ...]
    ) -> None:
        self._means = means
        self._errand = errand
        self._provider = provider
        self._others = others
        self._about = means.about(provider.name)
        self._key = f"{provider.name}#{self._about.credential}"
        self.asked = False
        self.visible = False

    async def events(self) -> AsyncGenerator[ProviderEvent, None]:
        """The events of the first attempt that gives a reply. Raises the last one's error."""
        raised: LilaError | None = None
        for number in range(1, self._means.rules.attempts + 1):
            admission = await self._admitted(raised)
            try:
                async with aclosing(self._attempt(admission)) as events:
                    async for event in events:
                        yield event
                return
            except LilaError as error:
                wait = self._wait(error, number)
                if wait is None:
                    raise
                raised = error
            await self._means.world.sleep(wait)

    async def _admitted(self, raised: LilaError | None) -> Admission:
        """The breaker's leave. What an earlier attempt raised says more than a refusal."""
        try:
            if self._others and not self._about.local and self._errand.deadline.remaining <= 0:
                raise TimedOutError(
                    f"there was no time left to ask {self._provider.name}",
                    hint="ask again, or another model with --model",
                )
            if not self._about.local:
                self._errand.network.need()
            admission = await asyncio.to_thread(self._means.breakers.admit, self._key)
            if not admission.passes:
                raise self._left_alone(admission)
        except UnavailableError as error:
            raise raised or error from None
        return admission

    async def _attempt(self, admission: Admission) -> AsyncGenerator[ProviderEvent, None]:
        reading: Reading | None = None
        request, mark, at = self._errand.request, "", self._means.world.now()
        raised: BaseException | None = None
        try:
            self._fits()
            request, mark = await asyncio.to_thread(self._prepared)
            reading = self._reading(request)
            async with aclosing(reading.events()) as events:
                async for event in events:
                    self.visible = reading.visible
                    yield event
        except BaseException as error:
            raised = error
            if isinstance(error, ContextTooLarge) and not error.model:
                error.model = self._provider.name
            raise
        finally:
            tell = partial(self._tell, admission, at, request, mark, reading, raised)
            if isinstance(raised, asyncio.CancelledError | GeneratorExit):
                # Not awaited: an await would be cancelled too. It is two small transactions.
                tell()
            else:
                await asyncio.to_thread(tell)  # the first price of a process takes 0.2 s

    def _tell(
        self,
        admission: Admission,
        at: datetime,
        request: Request,
        mark: str,
        reading: Reading | None,
        raised: BaseException | None,
    ) -> None:
        """Put the attempt on record, and tell the breakers how it ended."""
        if reading is not None and reading.made:
            self.asked = True
            self._means.ledger.attempted(self._account(at, request, mark, reading))
        whole = reading is not None and reading.whole
        self._report(admission, None if whole else raised)

    def _fits(self) -> None:
        """Refuse what is larger than the model takes, before it is sent."""
        request, limits, name = self._errand.request, self._provider.limits(), self._provider.name
        room = (limits.window - request.max_tokens) * 10_000 // limits.token_ratio
        if not request.steps:  # what tools returned is beside the budget
            room = min(room, limits.context_budget)
        if request.tools and not limits.tools:
            raise ContextTooLarge(
                f"{name} cannot call tools, and the prompt offers some",
                hint="choose a model that can",
                model=name,
            )
        if request.tokens > room:
            raise ContextTooLarge(
                f"{name} takes {room:,} tokens and the prompt has {request.tokens:,}",
                hint="lower the budget, or choose a model with a larger window",
                model=name,
            )

    def _prepared(self) -> tuple[Request, str]:
        """The request with what the ledger knows, and the hash of what is frozen in it."""
        request, ledger = self._errand.request, self._means.ledger
        vendor, _, model = self._provider.name.partition("/")
        mark = frozen(request, self._provider.name, self._provider.limits())
        cache, contract = request.cache, self._about.contract
        last = ledger.last(cache.session, cache.epoch, vendor, model) if cache.session else None
        if last is not None and _same_use(last, request) and toggled(last.frozen, mark):
            raise FrozenError(
                f"tools, effort or output format for {self._provider.name} changed within an epoch",
                hint="begin a new epoch with the change, so that the cache it costs is accounted "
                "for; a new session does",
            )
        ttls = cache.ttls
        if contract.kind in _EXPIRING:
            gaps = [ledger.gaps(cache.use_case, vendor, model, p.after) for p in cache.prefixes]
            ttls = self._means.choose(contract, gaps)
        previous = last.response_id or None if last is not None else None
        cache = replace(cache, ttls=ttls, previous=previous)
        return replace(own(request, self._provider.name), cache=cache), mark

    def _reading(self, request: Request) -> Reading:
        rules = self._means.rules
        patience = rules.local if self._about.local else rules.patience[request.slot]
        if self._others and not self._about.local:
            # The deadline only cuts short who can be replaced.
            left = self._errand.deadline.remaining
            patience = replace(patience, first_token=min(patience.first_token, left))
        return Reading(self._provider, request, patience, self._means.world.timer)

    def _wait(self, error: LilaError, number: int) -> float | None:
        """Seconds until the next attempt; None when there is to be none."""
        rules = self._means.rules
        if self.visible or number == rules.attempts:
            return None
        match error:
            case RateLimitedError(retry_after=after) if after is not None:
                wait = after + _MARGIN
            case UnreachableError() | TimedOutError():
                return None  # nobody is there, or all the patience is spent
            case _ if health_of(error) == "ill" and not self._means.breakers.is_open(self._key):
                longest = min(rules.backoff * 2 ** (number - 1), rules.backoff_longest)
                wait = longest * (1 + self._means.world.random()) / 2
            case _:
                return None
        return wait if wait < self._errand.deadline.remaining else None

    def _report(self, admission: Admission, error: BaseException | None) -> None:
        """Tell the breakers how it ended."""
        breakers, network = self._means.breakers, self._errand.network
        if error is None:
            breakers.succeeded(self._key)
        elif not isinstance(error, LilaError):
            breakers.failed(self._key, admission, "unknown")
        else:
            health = health_of(error)
            if isinstance(error, UnreachableError) and (
                self._about.local or network.unreached(self._provider, self._others)
            ):
                # Whoever starts a server on this machine wants it at once; and that there is no
                # network is nobody's ill health.
                health = "unknown"
            breakers.failed(
                self._key,
                admission,
                health,
                reason=type(error).__name__,
                retry_after=error.retry_after if isinstance(error, RateLimitedError) else None,
            )
        answered = error is None or isinstance(error, GatewayError)
        if answered and not self._about.local and not isinstance(error, UnavailableError):
            network.reached()

    def _left_alone(self, admission: Admission) -> UnavailableError:
        left = max(1, round(admission.until - self._means.world.seconds()))
        more = f"{left} s" if left < _MINUTES else f"{-(-left // 60)} min"
        why = _WHY.get(admission.reason, "it kept failing")
        name = self._provider.name
        for_long = f"is left alone for {more} more"
        if admission.trying:
            for_long = "is just being tried by another call"
        return UnavailableError(
            f"{name} {for_long}: {why}",
            hint=f"wait, or ask another model with --model; `lila models test {name}` tries it now",
        )

    def _account(self, at: datetime, request: Request, mark: str, reading: Reading) -> Attempt:
        vendor, _, model = self._provider.name.partition("/")
        cache, receipt = request.cache, reading.receipt
        return Attempt(
            at=at.astimezone(UTC).isoformat(),
            provider=vendor,
            model=model,
            outcome=reading.outcome,
            usage=reading.usage,
            credential=self._about.credential,
            job=request.job,
            slot=request.slot,
            use_case=cache.use_case,
            session_id=cache.session or None,
            epoch=cache.epoch,
            record_id=self._errand.record_id,
            first_token_ms=reading.first_token_ms,
            total_ms=reading.elapsed_ms,
            prompt_tokens=request.tokens,
            prefixes=cache.prefixes,
            ttls=cache.ttls,
            frozen=mark,
            response_id=receipt.response_id,
            miss=receipt.miss,
            missed=receipt.missed,
        )


def _same_use(last: Attempt, request: Request) -> bool:
    """Whether two calls are to have the same frozen parts: another job has another schema."""
    return (last.job, last.use_case) == (request.job, request.cache.use_case)

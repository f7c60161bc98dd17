"""Asking a chain of models for one reply: try again, fall over, leave alone, and keep account.

The candidates are asked in order. Before the first visible token a failure is answered by asking
again, after a wait that fits into the deadline, or by the next candidate. After it no other voice
comes into the same reply: what came is the asker's to keep, and the error is raised.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from lila_app.errors import (
    ContextTooLarge,
    FrozenError,
    LilaError,
    MissingKeyError,
    MissingWeightsError,
)
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.attempts import Attempts, Errand
from lila_app.gateway.calls.breaker import Breakers
from lila_app.gateway.calls.means import (
    About,
    Choose,
    Deadline,
    Means,
    World,
    nothing_known,
    unchosen,
)
from lila_app.gateway.calls.network import Network
from lila_app.gateway.calls.rules import CallingRules
from lila_app.gateway.ledger import Attempt, Ledger
from lila_app.gateway.port import Provider, ProviderEvent, Request


@dataclass(frozen=True, slots=True)
class Switched:
    """From here on another candidate than before answers; `why` is a sentence without its stop."""

    to: str
    why: str


class Caller:
    """Calls models for one home; all it remembers is in the ledger, so any thread may use it."""

    def __init__(
        self,
        ledger: Ledger,
        rules: CallingRules,
        *,
        about: Callable[[str], About] = nothing_known,
        choose: Choose = unchosen,
        world: World | None = None,
    ) -> None:
        world = world or World()
        self._means = Means(
            ledger,
            rules,
            about,
            choose,
            world,
            Breakers(ledger, rules.breaker, world.seconds),
            Breakers(ledger, rules.network, world.seconds),
        )

    async def stream(
        self, candidates: Sequence[Provider], request: Request, *, record_id: str | None = None
    ) -> AsyncGenerator[ProviderEvent | Switched, None]:
        """A reply from the first candidate that gives one; see `port.Provider` for the events.

        `Switched` comes before the first event (or the `ContextTooLarge`) of any but the first
        candidate. Calls, what is carried, receipt and usage come only with the terminal marker.
        Raises `ContextTooLarge`, with the model's name, when the request must be made anew under
        that model's limits; `FrozenError` for a silent toggle; and when nobody answers the last
        error of those asked.
        """
        means = self._means
        network = Network(means)
        deadline = Deadline(means.world.timer, means.rules.deadlines[request.slot])
        errand = Errand(request, record_id, deadline, network)
        order, why = await asyncio.to_thread(self._order, tuple(candidates), request)
        answering, failure = candidates[0].name, _Failure()
        try:
            for place, provider in enumerate(order):
                attempts = Attempts(means, errand, provider, order[place + 1 :])
                try:
                    async with aclosing(attempts.events()) as events:
                        async for event in events:
                            if provider.name != answering:
                                answering = provider.name
                                yield Switched(answering, failure.why or why)
                            yield event
                    return
                except (ContextTooLarge, FrozenError):
                    if provider.name != answering:
                        yield Switched(provider.name, failure.why or why)
                    raise
                except LilaError as error:
                    if attempts.visible:
                        raise
                    failure.take(error, asked=attempts.asked)
        finally:
            network.leave()
        raise failure.error

    def answered(self, name: str) -> None:
        """A model answered somebody who asked past its breaker, as by hand: it is well again."""
        about = self._means.about(name)
        self._means.breakers.succeeded(f"{name}#{about.credential}")
        if not about.local:
            Network(self._means).reached()

    def _order(
        self, candidates: tuple[Provider, ...], request: Request
    ) -> tuple[tuple[Provider, ...], str]:
        """The candidates, before them the one that answered last while its cache is warm."""
        session, epoch = request.cache.session, request.cache.epoch
        if len(candidates) == 1 or not session:
            return candidates, ""
        answered: list[tuple[datetime, Provider, Attempt]] = []
        for provider in candidates:
            vendor, _, model = provider.name.partition("/")
            last = self._means.ledger.last(session, epoch, vendor, model)
            if last is not None:
                answered.append((datetime.fromisoformat(last.at), provider, last))
        if not answered:
            return candidates, ""
        at, provider, last = max(answered, key=lambda entry: entry[0])
        age = (self._means.world.now() - at).total_seconds()
        if provider is candidates[0] or age >= _lifetime(self._means.about(provider.name), last):
            return candidates, ""
        rest = tuple(other for other in candidates if other is not provider)
        return (provider, *rest), f"{provider.name} answered last and still has this conversation"


class _Failure:
    """What is told when nobody answered, and why somebody else did."""

    def __init__(self) -> None:
        self._error: LilaError | None = None
        self._asked = False

    def take(self, error: LilaError, *, asked: bool) -> None:
        """Keep the last error of those asked; of those only passed over, the last of all."""
        if asked or not self._asked:
            self._error, self._asked = error, asked

    @property
    def why(self) -> str:
        match self._error:
            case None:
                return ""
            case MissingKeyError() | MissingWeightsError() as missing if missing.hint:
                return f"{missing} ({missing.hint})"  # which only the person can mend
            case error:
                return str(error)

    @property
    def error(self) -> LilaError:
        assert self._error is not None, "a chain has at least one model"
        return self._error


def _lifetime(about: About, last: Attempt) -> float:
    """Seconds for which a cache that somebody pays for keeps a call; 0 for any other.

    On a machine of one's own reading again costs nothing, and the model there is the last resort.
    """
    contract: CacheContract = about.contract
    if contract.kind in ("none", "prefix"):
        return 0.0
    if last.usage.total is not None and last.usage.total < contract.minimum:
        return 0.0  # too short: nothing of it was kept
    return contract.long_seconds if "long" in last.ttls else contract.short_seconds

"""The gateway's ledger over the store: what calls were, in the store's own rows and back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Protocol, TypeVar, cast

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.caching.watch import missed
from lila_app.gateway.ledger import Attempt, Breaker, CachedContent
from lila_app.gateway.port import Job, Prefix, Slot, Ttl, Usage
from lila_app.gateway.prices import Cost
from lila_app.storage import breakers, contents, ledger, ratios, reuse
from lila_app.storage.breakers import BreakerRow
from lila_app.storage.connection import Store
from lila_app.storage.contents import ContentRow
from lila_app.storage.ledger import PrefixRow, UsageRow
from lila_app.storage.ratios import RatioRow
from lila_app.storage.reuse import Place

_log = logging.getLogger(__name__)

T = TypeVar("T")

PICODOLLARS = Decimal(10) ** 12
"""Costs are kept as whole picodollars: a token costs thousands of them, and sums stay exact."""

LEAST_TOKENS = 1_000
"""Declared tokens of a prompt from which its token ratio is learned. A chat template adds some 20
tokens of its own and a provider's instructions for tools up to 350 (Anthropic's documentation of
tool use, 2026-11); on a prompt of 50 those would read as a ratio of 8."""

LARGEST_RATIO = 40_000
"""Basis points beyond which a ratio is no tokenizer's: 2.27 is the largest one measured (Korean
under SmolLM2, 2026-11-30). A provider that counts what LILA did not send must not shrink every
later prompt to a quarter."""

_REFUSED = frozenset(
    {
        "AuthenticationError",
        "ContextTooLarge",
        "RateLimitedError",
        "RequestRefusedError",
        "SpendLimitError",
        "UnreachableError",
    }
)
"""Outcomes of calls that nobody worked on. Not those of a provider that failed or fell silent."""


class Pricing(Protocol):
    """What a call cost; `gateway.prices.Prices` is one."""

    def cost(self, name: str, usage: Usage, at: datetime) -> Cost:
        """The cost of a call of `provider/model`."""
        ...


class StoreLedger:
    """Implements `gateway.ledger.Ledger`; safe from any thread and for several processes."""

    def __init__(
        self,
        store: Store,
        prices: Pricing,
        contract: Callable[[str], CacheContract] = lambda _: CacheContract("none"),
    ) -> None:
        self._store = store
        self._prices = prices
        self._contract = contract

    def attempted(self, attempt: Attempt) -> None:
        """Keep one call, with its price and the token ratio it showed; log a missed cache read."""
        self._watch(attempt)
        name = f"{attempt.provider}/{attempt.model}"
        if _unbilled(attempt):
            cost = Cost(Decimal(0), "it was refused or never arrived")
        else:
            cost = self._prices.cost(name, attempt.usage, datetime.fromisoformat(attempt.at))
        ratio = _ratio(attempt)
        with self._store.write() as connection:
            ledger.add_usage(connection, _row(attempt, cost))
            if ratio is not None:
                ratios.observe(connection, ratio)

    def _watch(self, attempt: Attempt) -> None:
        """Log by its kind alone that a read was promised and did not come."""
        if attempt.usage.read != 0 or not attempt.session_id:
            return
        name = f"{attempt.provider}/{attempt.model}"
        before = self.last(attempt.session_id, attempt.epoch, attempt.provider, attempt.model)
        if before is None or before.credential != attempt.credential:
            return
        warning = missed(before, attempt, self._contract(name))
        if warning is not None:
            _log.warning("a promised cache read did not come: %s, %s", name, warning.cause)

    def last(self, session_id: str, epoch: int, provider: str, model: str) -> Attempt | None:
        """The last call of a session's epoch that this model answered whole."""
        row = ledger.last_whole(self._store, session_id, epoch, provider, model)
        return None if row is None else attempt_of(row)

    def gaps(self, use_case: str, provider: str, model: str, after: str) -> tuple[float, ...]:
        """Seconds since the call before with the same prefix, newest first; see `storage.reuse`."""
        return reuse.gaps(self._store, Place(use_case, provider, model, after))

    def breaker(self, key: str) -> Breaker:
        """The state under a key."""
        return _breaker(breakers.get(self._store, key))

    def change_breaker(self, key: str, change: Callable[[Breaker], tuple[Breaker, T]]) -> T:
        """Replace a state by what `change` makes of it, alone among all threads and processes."""

        def work(row: BreakerRow) -> tuple[BreakerRow, T]:
            after, told = change(_breaker(row))
            fields = (after.failures, after.until, after.probing, after.opened, after.reason)
            return BreakerRow(*fields), told

        return breakers.change(self._store, key, work)

    def cached(self, provider: str, model: str) -> tuple[CachedContent, ...]:
        """The explicit caches that were made and not dropped; `key` "" is one to be deleted."""
        rows = contents.list_contents(self._store, provider, model)
        return tuple(
            CachedContent(
                *(row.name, row.provider, row.model, row.key, row.session_id),
                *(row.tokens, row.expires),
            )
            for row in rows
        )

    def keep_cached(self, content: CachedContent) -> None:
        """Keep one, or replace the one of its name."""
        row = ContentRow(
            *(content.name, content.provider, content.model, content.key, content.session_id),
            *(content.tokens, content.expires),
        )
        contents.keep(self._store, row)

    def drop_cached(self, name: str) -> None:
        """Forget one."""
        contents.drop(self._store, name)

    def largest_ratio(self, provider: str, model: str) -> int | None:
        """The largest ratio seen of reported to declared prompt tokens, basis points."""
        row = ratios.largest(self._store, provider, model)
        return None if row is None else row.ratio


def attempt_of(row: UsageRow) -> Attempt:
    """A kept call as the gateway knows it."""
    return Attempt(
        at=row.at,
        provider=row.provider,
        model=row.model,
        outcome=row.finished,
        usage=Usage(row.total, row.read, row.written, row.output, row.written_long),
        credential=row.credential,
        job=cast(Job, row.job),
        slot=cast(Slot, row.slot),
        use_case=row.use_case,
        session_id=row.session_id,
        epoch=row.epoch,
        record_id=row.record_id,
        first_token_ms=row.first_token_ms,
        total_ms=row.total_ms or 0,
        prompt_tokens=row.prompt_tokens,
        prefixes=tuple(Prefix(one.after, one.sha256, one.tokens) for one in row.prefixes),
        ttls=tuple(cast("Ttl | None", one.ttl) for one in row.prefixes),
        frozen=row.frozen,
        response_id=row.response_id,
        miss=row.miss,
        missed=row.missed,
    )


def _row(attempt: Attempt, cost: Cost) -> UsageRow:
    usage = attempt.usage
    # No lifetimes asked for means that every breakpoint is short.
    ttls: tuple[Ttl | None, ...] = attempt.ttls or ("short",) * len(attempt.prefixes)
    return UsageRow(
        at=attempt.at,
        record_id=attempt.record_id,
        provider=attempt.provider,
        model=attempt.model,
        total=usage.total,
        read=usage.read,
        written=usage.written,
        output=usage.output,
        first_token_ms=attempt.first_token_ms,
        total_ms=attempt.total_ms,
        finished=attempt.outcome,
        written_long=usage.written_long,
        credential=attempt.credential,
        job=attempt.job,
        slot=attempt.slot,
        use_case=attempt.use_case,
        session_id=attempt.session_id or None,
        epoch=attempt.epoch,
        prompt_tokens=attempt.prompt_tokens,
        frozen=attempt.frozen,
        response_id=attempt.response_id,
        miss=attempt.miss,
        missed=attempt.missed,
        cost=None if cost.usd is None else round(cost.usd * PICODOLLARS),
        cost_note=cost.note,
        prices=cost.prices,
        prefixes=tuple(
            PrefixRow(prefix.after, prefix.sha256, prefix.tokens, ttl)
            for prefix, ttl in zip(attempt.prefixes, ttls, strict=False)
        ),
    )


def _unbilled(attempt: Attempt) -> bool:
    """Whether a call certainly cost nothing; one that was cut may have been worked on."""
    said_nothing = attempt.usage.total is None and attempt.first_token_ms is None
    return said_nothing and attempt.outcome in _REFUSED


def _ratio(attempt: Attempt) -> RatioRow | None:
    total, declared = attempt.usage.total, attempt.prompt_tokens
    if total is None or declared < LEAST_TOKENS:
        return None
    ratio = -(-total * 10_000 // declared)
    if ratio > LARGEST_RATIO:
        return None
    return RatioRow(attempt.provider, attempt.model, ratio, declared, attempt.at)


def _breaker(row: BreakerRow) -> Breaker:
    return Breaker(row.failures, row.until, row.probing, row.opened, row.reason)

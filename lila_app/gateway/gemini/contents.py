"""The explicit caches at Google: made before a call, extended and deleted beside it.

Making one is waited for, because the call that needs it reads it at once; it stands in for the
same tokens that call would have had to process itself. Whatever goes wrong with it, the call goes
on without. Extending and deleting run beside the reply and are tried once: an extension that did
not happen costs one making, a deletion that did not happen ends by itself with the cache's life.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from lila_app.context.items import ModelLimits
from lila_app.gateway.access import Access
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini import faults, wire
from lila_app.gateway.gemini.choice import Choice, Situation, choose, due, over, rotated
from lila_app.gateway.gemini.client import Connector
from lila_app.gateway.gemini.economy import expected
from lila_app.gateway.gemini.prefix import Span, cacheable
from lila_app.gateway.ledger import CachedContent, Ledger
from lila_app.gateway.port import Request

if TYPE_CHECKING:
    from google.genai import Client

_log = logging.getLogger(__name__)

_MAKE_SECONDS = 10.0
"""Longest a call waits for its cache; at Gemini's speed of reading that is some 100,000 tokens."""

_SETTLE_SECONDS = 2.0
"""Longest that closing waits for what still runs."""


@dataclass(frozen=True, slots=True)
class Held:
    """A cache a request may name: its first `messages` are in it; `written` if made just now."""

    content: CachedContent
    messages: int
    written: int | None = None


class CachedContents:
    """One model's caches; what must outlive the process is in the ledger."""

    def __init__(
        self,
        name: str,
        access: Access,
        limits: ModelLimits,
        contract: CacheContract,
        ledger: Ledger,
        now: Callable[[], datetime],
        connector: Connector,
    ) -> None:
        self._provider, _, self._model = name.partition("/")
        self._limits = limits
        self._contract = contract
        self._ledger = ledger
        self._now = now
        self._connector = connector
        self._whose = (name, connector.address, access.credential)
        self._least = contract.minimum
        self._making: set[str] = set()
        self._running: set[asyncio.Task[None]] = set()

    async def ready(self, client: Client, request: Request) -> Held | None:
        """The cache to name in this request, made if it pays; None for the implicit one."""
        life = self._life(request)
        if life is None:
            return None
        choice, held = await asyncio.to_thread(self._chosen, request, life)
        for old in held:
            if not old.key:  # something was forgotten since: it may be in there
                self._beside(self._delete(old))
        # Of calls at once, one makes the cache and the others go without.
        if choice.make is not None and choice.make.key not in self._making:
            self._making.add(choice.make.key)
            try:
                made = await self._make(client, request, choice.make, life)
            finally:
                self._making.discard(choice.make.key)
            if made is not None:
                for old in rotated([one for one in held if one.key], request.cache.session, made):
                    self._beside(self._delete(old))
                return Held(made, choice.make.messages, made.tokens)
        if choice.use is None or choice.holds is None:
            return None
        if due(choice.use, self._now(), life):
            self._beside(self._extend(choice.use, life))
        return Held(choice.use, choice.holds.messages)

    async def vanished(self, held: Held) -> None:
        """The provider does not have it any more."""
        _log.info("the cache %s is gone", held.content.name)
        await asyncio.to_thread(self._ledger.drop_cached, held.content.name)

    async def settle(self) -> None:
        """Give what still runs on this event loop a moment to end."""
        loop = asyncio.get_running_loop()
        ours = {task for task in self._running.copy() if task.get_loop() is loop}
        if ours:
            await asyncio.wait(ours, timeout=_SETTLE_SECONDS)

    def _life(self, request: Request) -> int | None:
        """Seconds a cache is to live, None when none is wanted."""
        if self._contract.kind != "contents" or not request.cache.prefixes:
            return None
        first: object = next(iter(request.cache.ttls), "short")
        match first:
            case "long":
                return self._contract.long_seconds
            case None:  # measured reuse says that not even the first breakpoint pays
                return None
            case _:
                return self._contract.short_seconds

    def _chosen(self, request: Request, life: int) -> tuple[Choice, tuple[CachedContent, ...]]:
        plan, now = request.cache, self._now()
        held: list[CachedContent] = []
        for one in self._ledger.cached(self._provider, self._model):
            if over(one, now):
                self._ledger.drop_cached(one.name)
            else:
                held.append(one)
        first = plan.prefixes[0]
        last = (
            self._ledger.last(plan.session, plan.epoch, self._provider, self._model)
            if plan.session
            else None
        )
        gaps = self._ledger.gaps(plan.use_case, self._provider, self._model, first.after)
        situation = Situation(
            prefixes=cacheable(request, self._limits, self._whose),
            held=tuple(held),
            session=plan.session,
            now=now,
            ahead=expected(gaps, life),
            steady=last is None or last.prefixes[:1] == (first,),
            minimum=self._least,
            life=life,
        )
        return choose(self._contract, situation), situation.held

    async def _make(
        self, client: Client, request: Request, span: Span, life: int
    ) -> CachedContent | None:
        try:
            async with asyncio.timeout(_MAKE_SECONDS):
                made = await client.aio.caches.create(
                    model=self._model, config=wire.held(request, span, life)
                )
        except (*faults.kinds(), TimeoutError) as error:
            self._learn(error, span)
            _log.info("no cache could be made: %s", type(error).__name__)
            return None
        if not made.name:
            return None
        size = made.usage_metadata.total_token_count if made.usage_metadata else None
        content = CachedContent(
            name=made.name,
            provider=self._provider,
            model=self._model,
            key=span.key,
            session_id=request.cache.session,
            tokens=span.tokens if size is None else size,
            expires=_stored(made.expire_time or self._now() + timedelta(seconds=life)),
        )
        await asyncio.to_thread(self._ledger.keep_cached, content)
        return content

    def _learn(self, error: Exception, span: Span) -> None:
        """The estimate that would have been large enough; published minima and ours may be off."""
        found = faults.too_small(error)
        if found is not None:
            counted, minimum = found
            self._least = max(self._least, -(-span.tokens * minimum // max(counted, 1)))

    async def _extend(self, content: CachedContent, life: int) -> None:
        from google.genai.types import UpdateCachedContentConfig

        async with self._connector.connected() as client:
            longer = await client.aio.caches.update(
                name=content.name, config=UpdateCachedContentConfig(ttl=f"{life}s")
            )
        expires = longer.expire_time or self._now() + timedelta(seconds=life)
        await asyncio.to_thread(
            self._ledger.keep_cached, replace(content, expires=_stored(expires))
        )

    async def _delete(self, content: CachedContent) -> None:
        from google.genai.errors import ClientError

        async with self._connector.connected() as client:
            try:
                await client.aio.caches.delete(name=content.name)
            except ClientError as error:
                if not faults.is_gone(error):
                    raise
        await asyncio.to_thread(self._ledger.drop_cached, content.name)

    def _beside(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(_tried(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)


async def _tried(work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except faults.kinds() as error:
        _log.info("the upkeep of a cache failed: %s", type(error).__name__)


def _stored(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()

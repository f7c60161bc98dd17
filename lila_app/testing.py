"""Stand-ins for LILA's ports: a provider that follows a script, and a clock that is set by hand.

They obey the same contracts as the real ones, so that a test that passes with them means something.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Literal, TypeVar

from lila_app.context.items import ModelLimits
from lila_app.errors import ContextTooLarge, LilaError, TruncatedReplyError
from lila_app.gateway.ledger import Attempt, Breaker, CachedContent
from lila_app.gateway.port import (
    Call,
    Carried,
    Finished,
    ProviderEvent,
    Receipt,
    Request,
    TextDelta,
    ThinkingDelta,
    Usage,
    merged,
)

T = TypeVar("T")

_WHOLE = ("stop", "length", "tools")
_MOST_GAPS = 200


@dataclass(frozen=True, slots=True)
class Scripted:
    """One reply to come.

    `pieces` are streamed one by one, `delay` seconds apart, after `thinking`. With `error` it is
    raised after them instead of ending; with `whole` False the stream just stops, as a dropped
    connection does, and with `hangs` nothing ever comes after the pieces. `usage` None lets the
    provider count for itself. With `calls` it asks for tools after the pieces, and ends with
    "tools"; `carried` is what it wants back unchanged.
    """

    pieces: tuple[str, ...]
    thinking: str = ""
    delay: float = 0.0
    error: LilaError | None = None
    whole: bool = True
    usage: Usage | None = None
    ended: Literal["stop", "length", "tools"] = "stop"
    calls: tuple[Call, ...] = ()
    carried: tuple[Carried, ...] = ()
    receipt: Receipt | None = None
    hangs: bool = False


class ScriptedProvider:
    """A provider that answers what was enqueued, in order; see `gateway.port.Provider`.

    `requests` and `warmed` are what it was asked, `stopped` counts streams that were closed before
    their end. A prompt that `count` finds larger than the window (at the limits' token ratio) is
    refused with `ContextTooLarge`. The cache is simulated per slot: `Usage.read` is what the
    longest common run of leading messages counts.
    """

    def __init__(
        self,
        *replies: str | Scripted,
        name: str = "scripted/test",
        limits: ModelLimits | None = None,
        count: Callable[[str], int] = lambda text: len(text.split()),
    ) -> None:
        self._name = name
        self._limits = limits or ModelLimits(window=100_000, context_budget=50_000)
        self._count = count
        self._script: deque[Scripted] = deque()
        self._cached: dict[str, tuple[tuple[str, str], ...]] = {}
        self.requests: list[Request] = []
        self.warmed: list[Request] = []
        self.stopped = 0
        self.closed = False
        for reply in replies:
            self.enqueue(reply)

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """As given."""
        return self._limits

    def enqueue(self, *replies: str | Scripted) -> None:
        """Add replies; a plain text is streamed word by word."""
        for reply in replies:
            self._script.append(
                reply if isinstance(reply, Scripted) else Scripted(tuple(_words(reply)))
            )

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """The next reply of the script; an empty script is a mistake of the test."""
        self.requests.append(request)
        total = self._refuse_too_large(request)
        assert self._script, "the script is empty: enqueue another reply"
        reply = self._script.popleft()
        read = self._read(request)
        try:
            if reply.thinking:
                yield ThinkingDelta(reply.thinking)
            for piece in reply.pieces:
                await asyncio.sleep(reply.delay)
                yield TextDelta(piece)
            if reply.hangs:
                await asyncio.Event().wait()
        except (GeneratorExit, asyncio.CancelledError):
            self.stopped += 1
            raise
        for asked_back in (*reply.calls, *reply.carried):
            yield asked_back
        if reply.receipt is not None:
            yield reply.receipt
        if reply.error is not None:
            raise reply.error
        if not reply.whole:
            raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        output = self._count("".join(reply.pieces))
        yield reply.usage or Usage(total=total, read=read, output=output)
        yield Finished("tools" if reply.calls else reply.ended)

    async def warm(self, request: Request) -> None:
        """Remember the request's messages as the slot's cached prefix."""
        self._refuse_too_large(request)
        self.warmed.append(request)
        self._read(request)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _refuse_too_large(self, request: Request) -> int:
        total = sum(self._count(message.content) for message in request.messages)
        needed = total * self._limits.token_ratio // 10_000 + request.max_tokens
        if needed > self._limits.window:
            raise ContextTooLarge(
                f"the prompt needs {needed} tokens and {self._name} takes {self._limits.window}",
                hint="lower the budget",
            )
        return total

    def _read(self, request: Request) -> int:
        asked = tuple((message.role, message.content) for message in merged(request.messages))
        common = _common(self._cached.get(request.slot, ()), asked)
        self._cached[request.slot] = asked
        return sum(self._count(content) for _, content in asked[:common])


class FakeClock:
    """A clock that stands until it is moved; calling it gives the time, always with a zone."""

    def __init__(self, now: str = "2026-11-30T12:00:00+00:00") -> None:
        self._now = datetime.fromisoformat(now)
        assert self._now.tzinfo is not None, "a time without a zone is nobody's time"

    def __call__(self) -> datetime:
        """The time it stands at."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move it forward (or, with a negative number, back: clocks are set)."""
        self._now += timedelta(seconds=seconds)

    def iso(self) -> str:
        """The time as it is stored: ISO 8601 in UTC."""
        return self._now.astimezone(UTC).isoformat(timespec="seconds")


class MemoryLedger:
    """A ledger that forgets with its process; see `gateway.ledger.Ledger`. Safe from any thread.

    `attempts` is everything that was kept, oldest first.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._attempts: list[Attempt] = []
        self._breakers: dict[str, Breaker] = {}
        self._cached: dict[str, CachedContent] = {}

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """What was kept, oldest first."""
        with self._lock:
            return tuple(self._attempts)

    def attempted(self, attempt: Attempt) -> None:
        """Keep one call; there are no prices here."""
        with self._lock:
            self._attempts.append(attempt)

    def last(self, session_id: str, epoch: int, provider: str, model: str) -> Attempt | None:
        """The last whole reply of a model in a session's epoch."""
        wanted = (session_id, epoch, provider, model)
        for attempt in reversed(self.attempts):
            found = (attempt.session_id, attempt.epoch, attempt.provider, attempt.model)
            if found == wanted and attempt.outcome in _WHOLE:
                return attempt
        return None

    def gaps(self, use_case: str, provider: str, model: str, after: str) -> tuple[float, ...]:
        """Seconds since a call had the same prefix, newest first; infinity for its first."""
        seen: dict[str, datetime] = {}
        gaps: list[float] = []
        for attempt in self.attempts:
            if (attempt.use_case, attempt.provider, attempt.model) != (use_case, provider, model):
                continue
            for prefix in attempt.prefixes:
                if prefix.after != after:
                    continue
                at = datetime.fromisoformat(attempt.at)
                before = seen.get(prefix.sha256)
                gaps.append((at - before).total_seconds() if before else math.inf)
                seen[prefix.sha256] = at
        return tuple(reversed(gaps))[:_MOST_GAPS]

    def breaker(self, key: str) -> Breaker:
        """The state under a key."""
        with self._lock:
            return self._breakers.get(key, Breaker())

    def change_breaker(self, key: str, change: Callable[[Breaker], tuple[Breaker, T]]) -> T:
        """Replace a state, alone among all threads."""
        with self._lock:
            self._breakers[key], told = change(self._breakers.get(key, Breaker()))
            return told

    def cached(self, provider: str, model: str) -> tuple[CachedContent, ...]:
        """The explicit caches that were made and not dropped."""
        with self._lock:
            every = tuple(self._cached.values())
        return tuple(one for one in every if (one.provider, one.model) == (provider, model))

    def keep_cached(self, content: CachedContent) -> None:
        """Keep one, or replace the one of its name."""
        with self._lock:
            self._cached[content.name] = content

    def drop_cached(self, name: str) -> None:
        """Forget one."""
        with self._lock:
            self._cached.pop(name, None)

    def largest_ratio(self, provider: str, model: str) -> int | None:
        """The largest ratio of reported to declared prompt tokens in basis points, rounded up."""
        ratios = [
            -(-attempt.usage.total * 10_000 // attempt.prompt_tokens)
            for attempt in self.attempts
            if (attempt.provider, attempt.model) == (provider, model)
            and attempt.usage.total is not None
            and attempt.prompt_tokens > 0
        ]
        return max(ratios, default=None)


def _words(text: str) -> Sequence[str]:
    """Pieces that joined are `text` again, split before each space."""
    pieces: list[str] = []
    for piece in text.split(" "):
        pieces.append(f" {piece}" if pieces else piece)
    return [piece for piece in pieces if piece]


def _common(a: Sequence[tuple[str, str]], b: Sequence[tuple[str, str]]) -> int:
    return next(
        (at for at, (left, right) in enumerate(zip(a, b, strict=False)) if left != right),
        min(len(a), len(b)),
    )

"""What the gateway has to remember between calls and processes, as a port storage implements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from lila_app.gateway.port import Job, Prefix, Slot, Ttl, Usage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call to one model, however it ended.

    `at` is when it began (ISO 8601, UTC); times are milliseconds of wall time. `outcome` is
    "stop", "length", "tools", "stopped" (by the person) or the error's class name. `credential` is
    a short digest of the key, never the key; "" without one. `ttls` are what was asked for beside
    `prefixes`. `frozen` is the hash of what must not change within an epoch. `miss` and `missed`
    are the provider's own account of a cache miss.
    """

    at: str
    provider: str
    model: str
    outcome: str
    usage: Usage = field(default_factory=Usage)
    credential: str = ""
    job: Job = "reply"
    slot: Slot = "chat"
    use_case: str = ""
    session_id: str | None = None
    epoch: int = 0
    record_id: str | None = None
    first_token_ms: int | None = None
    total_ms: int = 0
    prompt_tokens: int = 0
    prefixes: tuple[Prefix, ...] = ()
    ttls: tuple[Ttl | None, ...] = ()
    frozen: str = ""
    response_id: str = ""
    miss: str | None = None
    missed: int | None = None


@dataclass(frozen=True, slots=True)
class Breaker:
    """The breaker of one provider, model and credential.

    `failures` in a row since the last success; open until `until` (seconds since the epoch, 0:
    closed); `probing` is when the one probe of the half-open state was let through, 0 for none.
    `opened` counts how often it opened without a success between, which lengthens the wait.
    """

    failures: int = 0
    until: float = 0.0
    probing: float = 0.0
    opened: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CachedContent:
    """An explicit cache held at a provider (Gemini): its name there and what it holds.

    `key` is the hash of everything in it, with the profile, and "" once something was forgotten
    that may be in it: such a one is to be deleted. `expires` is ISO 8601, UTC; `tokens` are the
    provider's.
    """

    name: str
    provider: str
    model: str
    key: str
    session_id: str
    tokens: int
    expires: str


class Ledger(Protocol):
    """Remembers; safe to call from any thread, by several processes at once, and quick."""

    def attempted(self, attempt: Attempt) -> None:
        """Keep one call, with its price."""
        ...

    def last(self, session_id: str, epoch: int, provider: str, model: str) -> Attempt | None:
        """The last call of a session's epoch that this model answered whole."""
        ...

    def gaps(self, use_case: str, provider: str, model: str, after: str) -> tuple[float, ...]:
        """For each call that ended a prefix at this breakpoint, seconds since one had it before.

        The latest 200 of the use case and model, newest first; infinity for the first of a prefix.
        """
        ...

    def breaker(self, key: str) -> Breaker:
        """The state under a key; a closed one if there is none."""
        ...

    def change_breaker(self, key: str, change: Callable[[Breaker], tuple[Breaker, T]]) -> T:
        """Replace a state by what `change` makes of it, alone among all threads and processes."""
        ...

    def cached(self, provider: str, model: str) -> tuple[CachedContent, ...]:
        """The explicit caches that were made and not dropped."""
        ...

    def keep_cached(self, content: CachedContent) -> None:
        """Keep one, or replace the one of its name."""
        ...

    def drop_cached(self, name: str) -> None:
        """Forget one."""
        ...

    def largest_ratio(self, provider: str, model: str) -> int | None:
        """The largest ratio seen of the model's prompt tokens to the declared ones, basis points.

        None before the first call that reported its tokens.
        """
        ...

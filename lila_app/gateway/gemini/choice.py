"""What to do about explicit caches for one request: a decision over plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.gemini.economy import Expected, outgrown, pays
from lila_app.gateway.gemini.prefix import Span
from lila_app.gateway.ledger import CachedContent

_MARGIN = timedelta(seconds=5)
"""A cache this near its end is not named in a request: it may be gone when that arrives."""

_FRESH = 0.9
"""A cache that has this share of its life left is not extended: the calls of one tool loop come
within seconds, and each would send another request."""


@dataclass(frozen=True, slots=True)
class Situation:
    """All a decision rests on.

    `steady` says that the first breakpoint's prefix is what it was at the session's call before,
    or that there was none. `minimum` is the shortest prefix the provider caches, in its tokens,
    and `life` a cache's in seconds.
    """

    prefixes: tuple[Span, ...]
    held: tuple[CachedContent, ...]
    session: str
    now: datetime
    ahead: Expected
    steady: bool
    minimum: int
    life: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Use the cache `use`, which holds `holds`; or first try to make one that holds `make`."""

    use: CachedContent | None = None
    holds: Span | None = None
    make: Span | None = None


def choose(contract: CacheContract, situation: Situation) -> Choice:
    """Use what is held and make what pays; neither means the provider's implicit cache.

    A prefix that did not stand still since the session's last call is not put into a cache,
    whatever was measured before: something in it changes with every call.
    """
    use, holds = _longest_held(situation)
    if not situation.prefixes or not situation.steady:
        return Choice(use, holds)
    longest = situation.prefixes[-1]
    if longest.tokens < situation.minimum or not pays(contract, situation.ahead):
        return Choice(use, holds)
    if use is not None and holds is not None:
        ends = [one.tokens for one in situation.prefixes if one.messages > holds.messages]
        if not outgrown(contract, holds.tokens, ends):
            return Choice(use, holds)
    return Choice(use, holds, longest)


def _longest_held(situation: Situation) -> tuple[CachedContent | None, Span | None]:
    alive = {one.key: one for one in situation.held if not over(one, situation.now)}
    for prefix in reversed(situation.prefixes):
        if prefix.key in alive:
            return alive[prefix.key], prefix
    return None, None


def over(content: CachedContent, now: datetime) -> bool:
    """Whether a cache's life is over, or as good as over."""
    return datetime.fromisoformat(content.expires) - now <= _MARGIN


def due(content: CachedContent, now: datetime, life: int) -> bool:
    """Whether a cache in use is to be given its whole life again."""
    left = datetime.fromisoformat(content.expires) - now
    return left < _FRESH * timedelta(seconds=life)


def rotated(
    held: Sequence[CachedContent], session: str, made: CachedContent
) -> tuple[CachedContent, ...]:
    """The session's caches that a new one takes the place of."""
    return tuple(one for one in held if one.session_id == session and one.name != made.name)

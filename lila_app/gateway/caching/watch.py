"""Watching the cache: a read of zero where a provider's contract promises one.

A call is held against the last one of the same session, epoch, model and credential. What may be
expected of it follows from our own prefix hashes of the two, from the lifetimes that were asked
for, and from what was frozen. "Not reported" is not zero and never warns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.ledger import Attempt

PROMISING = ("anthropic", "breakpoints")
"""Kinds of cache that promise a read. Automatic and implicit ones do their best, and a server on
one's own machine keeps nothing beyond its own life, which nobody here knows."""

SPARE = 110
"""Percent of the minimum from which on a prefix is expected to be cached: its tokens are known in
the declared tokenizer only, and scaled to the provider's by what the whole prompt came to."""

Cause = Literal["changed", "minimum", "provider"]
"""Why a read is missing, as far as can be told from here.

- `changed`: our own bytes differ where they must not, from a breakpoint on
- `minimum`: nothing was written by the call before either, so the shortest prefix that is cached
  is longer than the table says
- `provider`: our bytes are the same; whatever it is, it is not ours
"""


@dataclass(frozen=True, slots=True)
class CacheWarning:
    """A call that read nothing though it should have.

    `promised` are the tokens that could have been read, in the provider's count as estimated.
    `after` is the breakpoint from which on our own prefixes differ, "" if they do not. `miss` is
    the provider's own reason, None if it gave none.
    """

    at: str
    provider: str
    model: str
    session_id: str
    epoch: int
    record_id: str | None
    previous_record_id: str | None
    promised: int
    cause: Cause
    after: str
    miss: str | None


def watch(
    attempts: Iterable[Attempt], contract: Callable[[str], CacheContract]
) -> tuple[CacheWarning, ...]:
    """The warnings over calls in the order they were made; `contract` is by `provider/model`."""
    last: dict[tuple[object, ...], Attempt] = {}
    found: list[CacheWarning] = []
    for attempt in attempts:
        if attempt.session_id is None or attempt.first_token_ms is None:
            continue
        place = (
            *(attempt.session_id, attempt.epoch, attempt.provider, attempt.model),
            attempt.credential,
        )
        before = last.get(place)
        last[place] = attempt
        if before is not None:
            warning = missed(before, attempt, contract(f"{attempt.provider}/{attempt.model}"))
            found += [warning] if warning is not None else []
    return tuple(found)


def missed(before: Attempt, attempt: Attempt, contract: CacheContract) -> CacheWarning | None:
    """A warning if the call read nothing where the one before should have left something."""
    if attempt.usage.read != 0 or contract.kind not in PROMISING:
        return None
    if before.frozen != attempt.frozen or not before.prefixes or not attempt.prefixes:
        return None  # another schema or another use; or something was forgotten in between
    same = _same(before, attempt)
    changed = same == 0
    promised = _promised(before, attempt, contract, len(before.prefixes) if changed else same)
    if not promised:
        return None
    return CacheWarning(
        at=attempt.at,
        provider=attempt.provider,
        model=attempt.model,
        session_id=attempt.session_id or "",
        epoch=attempt.epoch,
        record_id=attempt.record_id,
        previous_record_id=before.record_id,
        promised=promised,
        cause=_cause(before, changed=changed),
        after=attempt.prefixes[0].after if changed else "",
        miss=attempt.miss,
    )


def first_difference(
    before: Sequence[tuple[str, str | None]], now: Sequence[tuple[str, str | None]]
) -> str | None:
    """The first block that differs, of two prompts as (name, hash); None if that is not known."""
    for (name, one), (other_name, other) in zip(before, now, strict=False):
        if one is None or other is None:
            return None
        if (name, one) != (other_name, other):
            return other_name
    return None


def sentence(warning: CacheWarning, block: str | None = None) -> str:
    """The warning in words; `block` is the first one that differs, where it is known."""
    match warning.cause:
        case "changed":
            where = f"block {block}" if block else f"the prompt up to {warning.after}"
            why = f"{where} is not what it was"
        case "minimum":
            why = "nothing was kept the call before either; the minimum may be higher than declared"
        case "provider":
            why = "the prompt above the breakpoints is the same"
    said = f"; {warning.provider} says {warning.miss}" if warning.miss else ""
    return f"read 0 of some {warning.promised:,} cached tokens: {why}{said}"


def _same(before: Attempt, attempt: Attempt) -> int:
    """How many prefixes of the call before this one's prompt begins with.

    The last one of the call before counts when it is where the conversation goes on: it is not
    sent as a prefix again, but what now stands there was added to it. A prefix between that
    differs, below the first, was changed on purpose (a cut, a goal), within the epoch.
    """
    pairs = zip(before.prefixes, attempt.prefixes, strict=False)
    same = 0
    for one, other in pairs:
        if one.sha256 != other.sha256:
            break
        same += 1
    ends = len(before.prefixes) - 1
    if 0 < same == ends < len(attempt.prefixes):
        last, now = before.prefixes[ends], attempt.prefixes[ends]
        if last.after == now.after and ends == len(attempt.prefixes) - 1:
            return same + 1
    return same


def _promised(before: Attempt, attempt: Attempt, contract: CacheContract, count: int) -> int:
    """Tokens of the longest of the first `count` prefixes that should still be cached."""
    gap = _seconds(before.at, attempt.at)
    lifetimes = {"short": contract.short_seconds, "long": contract.long_seconds}
    longest = 0
    for number, prefix in enumerate(before.prefixes[:count]):
        ttl = before.ttls[number] if number < len(before.ttls) else "short"
        tokens = _theirs(prefix.tokens, before)
        if ttl is not None and gap <= lifetimes[ttl] and tokens * 100 >= contract.minimum * SPARE:
            longest = max(longest, tokens)
    return longest


def _theirs(tokens: int, attempt: Attempt) -> int:
    total, declared = attempt.usage.total, attempt.prompt_tokens
    return tokens * total // declared if total and declared else tokens


def _cause(before: Attempt, *, changed: bool) -> Cause:
    if changed:
        return "changed"
    kept = (before.usage.read, before.usage.written)
    return "minimum" if kept == (0, 0) else "provider"


def _seconds(before: str, now: str) -> float:
    return (datetime.fromisoformat(now) - datetime.fromisoformat(before)).total_seconds()

"""What stands above the breakpoints: goals, profile pack, summary, conversation window.

Standing sizes follow the policy and the limits alone, min(cap, ⌊limit·ratio⌋), and never borrow:
they must not wobble with the length of a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lila_app.context.fold import Exchange, fold
from lila_app.context.items import Counter, Item
from lila_app.context.policy import TOTAL_RATIO, Policy, UseCase
from lila_app.context.screen import Dropped, Reason, Screened, natural
from lila_app.context.specification import Summary
from lila_app.context.window import Framed, Window, forced, frame, shrink
from lila_app.errors import PinnedOverflowError


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut this assembly had to make: turns up to `upto_sequence` are now only in `summary`."""

    upto_sequence: int
    summary: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing parts as they will be rendered."""

    profile: tuple[Item, ...]
    goals: tuple[Item, ...]
    summary: str
    window: Window
    cut: Cut | None
    dropped: tuple[Dropped, ...]


def share(row: UseCase, layer: str, limit: int) -> int:
    """The standing share of a layer in tokens."""
    declared = row.layer(layer)
    return min(declared.cap, limit * declared.ratio // TOTAL_RATIO)


def summary_ceiling(policy: Policy, room: int) -> int:
    """Tokens a summary may take beside a window of `room`: its ceiling, at most a quarter."""
    return min(policy.block("summary").ceiling, room // 4)


def stand(
    screened: Sequence[Screened],
    summary: Summary | None,
    policy: Policy,
    row: UseCase,
    limit: int,
    count: Counter,
) -> Standing:
    """Choose the standing parts. Raises PinnedOverflowError."""
    layers = {entry.layer: entry for entry in screened}
    goals = _goals(layers["session"], policy, row, limit)
    profile, dropped = _profile(layers["memory"], policy, row, limit)
    room = share(row, "conversation", limit)
    framed = frame(layers["conversation"].turns, room, policy.window)
    before = summary.text if summary else ""
    ceiling = summary_ceiling(policy, room)
    if before and count(before + "\n") > ceiling:
        before = fold(before, (), ceiling, count)
    standing = Standing(profile, goals, before, Window(framed, ()), None, dropped)
    return cut(standing, forced(framed, room, policy.window), ceiling, count)


def cut(standing: Standing, window: Window, ceiling: int, count: Counter) -> Standing:
    """The standing parts after `window`'s cut and its summary took effect, as one event."""
    if not window.cut:
        return replace(standing, window=window)
    summary = fold(
        standing.summary,
        [Exchange(f.variant.text, f.variant.reply or "") for f in window.cut],
        ceiling,
        count,
    )
    gone = tuple(framed.item.id for framed in window.cut)
    if standing.cut:
        gone = standing.cut.turns + gone
    return replace(
        standing,
        summary=summary,
        window=Window(window.kept, ()),
        cut=Cut(window.cut[-1].item.sequence, summary, gone),
        dropped=standing.dropped
        + tuple(Dropped(framed.item, Reason.COMPRESSED) for framed in window.cut),
    )


def squeeze(standing: Standing, excess: int, room: int, policy: Policy, count: Counter) -> Standing:
    """Give back `excess` tokens: a cut in grid steps first, then, for this request alone, the
    oldest turns that are left, then the profile from its end.

    Only the cut is an event; a request that cannot hold the last turns drops them with the reason
    `budget` and the next request has them again.
    """
    ceiling = summary_ceiling(policy, room)
    held = standing.window.tokens
    smaller = cut(
        standing, shrink(standing.window.kept, excess, room, policy.window), ceiling, count
    )
    freed = held - smaller.window.tokens - _growth(standing.summary, smaller.summary, count)
    turns: list[Framed] = list(smaller.window.kept)
    profile = list(smaller.profile)
    dropped = list(smaller.dropped)
    while freed < excess and turns:
        gone = turns.pop(0)
        freed += gone.variant.tokens
        dropped.append(Dropped(gone.item, Reason.BUDGET))
    while freed < excess and profile:
        item = profile.pop()
        freed += item.variants[0].tokens
        dropped.append(Dropped(item, Reason.BUDGET))
    return replace(
        smaller, window=Window(tuple(turns), ()), profile=tuple(profile), dropped=tuple(dropped)
    )


def _growth(before: str, after: str, count: Counter) -> int:
    return (count(after + "\n") if after else 0) - (count(before + "\n") if before else 0)


def _goals(session: Screened, policy: Policy, row: UseCase, limit: int) -> tuple[Item, ...]:
    goals = tuple(sorted(session.goals, key=lambda item: (natural(item.id), item.id)))
    room = min(policy.block("goals").ceiling, share(row, "session", limit))
    tokens = sum(goal.variants[0].tokens for goal in goals)
    if tokens > room:
        raise PinnedOverflowError(
            layer="session", cap=room, tokens=tokens, items=tuple(goal.id for goal in goals)
        )
    return goals


def _profile(
    memory: Screened, policy: Policy, row: UseCase, limit: int
) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    room = min(policy.block("profile").ceiling, share(row, "memory", limit))
    pinned = [item for item in memory.profile if item.pinned]
    tokens = sum(item.variants[0].tokens for item in pinned)
    if tokens > room:
        raise PinnedOverflowError(
            layer="memory", cap=room, tokens=tokens, items=tuple(item.id for item in pinned)
        )
    kept: list[Item] = []
    dropped: list[Dropped] = []
    for item in memory.profile:
        if item.variants[0].tokens <= room:
            room -= item.variants[0].tokens
            kept.append(item)
        else:
            dropped.append(Dropped(item, Reason.LAYER_CAP))
    # Score selects, id orders: a pack whose members are the same has the same bytes.
    return tuple(sorted(kept, key=lambda item: (natural(item.id), item.id))), tuple(dropped)

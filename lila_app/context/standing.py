"""What stands above the breakpoints: goals, profile pack, summary, conversation window.

Standing sizes follow the policy and the limits alone, min(cap, ⌊limit·ratio⌋), and never borrow:
they must not wobble with the length of a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lila_app.context.blocks import content_room
from lila_app.context.fold import Exchange, fold
from lila_app.context.items import Counter, Item, tokens_of
from lila_app.context.policy import TOTAL_RATIO, Policy, UseCase, WindowPolicy
from lila_app.context.screen import Dropped, Reason, Screened, by_score, natural
from lila_app.context.specification import Summary
from lila_app.context.window import Window, due, forced, frame, shrink
from lila_app.errors import PinnedOverflowError

SUMMARY_PART = 8
"""The summary may take an eighth of conversation's share, up to its ceiling: what it takes is
taken from the window, and a smaller window is cut more often."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut this assembly had to make: turns up to `upto_sequence` are now only in `summary`."""

    upto_sequence: int
    summary: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing parts as they will be rendered; `summary_tokens` are counted with its line end.

    `cut` is the cut that was made on the way, `dropped` what did not find room.
    """

    profile: tuple[Item, ...]
    goals: tuple[Item, ...]
    summary: str
    summary_tokens: int
    window: Window
    cut: Cut | None
    dropped: tuple[Dropped, ...]

    @property
    def held(self) -> dict[str, int]:
        """Tokens of the layers that hold any."""
        return {
            "session": tokens_of(self.goals),
            "conversation": self.window.tokens + self.summary_tokens,
            "memory": tokens_of(self.profile),
        }

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks above the conversation that have content, so that their headings are due."""
        filled = {"profile": self.profile, "goals": self.goals, "summary": self.summary}
        return tuple(name for name, content in filled.items() if content)


def share(row: UseCase, layer: str, limit: int) -> int:
    """The standing share of a layer in tokens."""
    declared = row.layer(layer)
    return min(declared.cap, limit * declared.ratio // TOTAL_RATIO)


@dataclass(frozen=True, slots=True)
class Rooms:
    """What each standing part may hold, in tokens: constant for an epoch.

    Summary and window divide conversation's share, whether there is a summary yet or not, so that
    the first cut does not change the size of the window it cuts.
    """

    profile: int
    goals: int
    summary: int
    window: int


def rooms_under(policy: Policy, row: UseCase, limit: int, count: Counter) -> Rooms:
    """The rooms a use case has under a limit: shares within the ceilings of their blocks."""

    def room(block: str, most: int) -> int:
        return min(most, content_room(policy.block(block), count))

    conversation = share(row, "conversation", limit)
    summary = room("summary", conversation // SUMMARY_PART)
    return Rooms(
        profile=room("profile", share(row, "memory", limit)),
        goals=room("goals", share(row, "session", limit)),
        summary=summary,
        window=room("conversation", conversation - summary),
    )


def stand(
    screened: Sequence[Screened],
    summary: Summary | None,
    rooms: Rooms,
    row: UseCase,
    grid: WindowPolicy,
    count: Counter,
) -> Standing:
    """Choose the standing parts. Raises PinnedOverflowError."""
    layers = {entry.layer: entry for entry in screened}
    goals = _goals(layers["session"], rooms.goals)
    profile, dropped = _profile(layers["memory"], rooms.profile, row.layer("memory").cap)
    upto = summary.upto_sequence if summary else 0
    # What an earlier cut took is told by its summary, whoever offers it again.
    told = [turn for turn in layers["conversation"].turns if turn.sequence <= upto]
    turns = [turn for turn in layers["conversation"].turns if turn.sequence > upto]
    dropped += tuple(Dropped(turn, Reason.COMPRESSED) for turn in told)
    standing = _opened(profile, goals, summary, rooms, dropped, count)
    window = forced(frame(turns, rooms.window, grid), rooms.window, grid)
    return _cut(standing, window, rooms.summary, count)


def due_cut(
    turns: Sequence[Item], summary: Summary | None, rooms: Rooms, grid: WindowPolicy, count: Counter
) -> Cut | None:
    """The cut that is due because the window outgrew its room, with its fold.

    For use between requests: made durable, it is in force at the next one. None while there is
    nothing to cut.
    """
    upto = summary.upto_sequence if summary else 0
    framed = frame([turn for turn in turns if turn.sequence > upto], rooms.window, grid)
    standing = _opened((), (), summary, rooms, (), count)
    return _cut(standing, due(framed, rooms.window, grid), rooms.summary, count).cut


def _opened(
    profile: tuple[Item, ...],
    goals: tuple[Item, ...],
    summary: Summary | None,
    rooms: Rooms,
    dropped: tuple[Dropped, ...],
    count: Counter,
) -> Standing:
    before = summary.text if summary and rooms.summary else ""
    if _summary_tokens(before, count) > rooms.summary:
        # Made under higher limits than these.
        before = fold(before, (), rooms.summary, count)
    tokens = _summary_tokens(before, count)
    return Standing(profile, goals, before, tokens, Window((), ()), None, dropped)


def _summary_tokens(summary: str, count: Counter) -> int:
    return count(summary + "\n") if summary else 0


def _cut(standing: Standing, window: Window, ceiling: int, count: Counter) -> Standing:
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
        summary_tokens=_summary_tokens(summary, count),
        window=Window(window.kept, ()),
        cut=Cut(window.cut[-1].item.sequence, summary, gone),
        dropped=standing.dropped
        + tuple(Dropped(framed.item, Reason.COMPRESSED) for framed in window.cut),
    )


def squeeze(
    standing: Standing, excess: int, rooms: Rooms, grid: WindowPolicy, count: Counter
) -> Standing:
    """Give back `excess` tokens: cuts in grid steps first, then, for this request alone, the
    oldest turns that are left, the summary, and the profile from its weakest. Never what is pinned.

    Only a cut is an event; a request that cannot hold the last turns drops them with the reason
    `budget` and the next request has them again.
    """
    target = sum(standing.held.values()) - excess
    while (over := sum(standing.held.values()) - target) > 0:
        # The summary grows by what a cut feeds it, so one cut may not be enough.
        window = shrink(standing.window.kept, over, rooms.window, grid)
        if not window.cut:
            break
        standing = _cut(standing, window, rooms.summary, count)
    turns = list(standing.window.kept)
    profile = sorted(standing.profile, key=by_score)
    dropped = list(standing.dropped)
    while over > 0 and turns:
        gone = turns.pop(0)
        over -= gone.variant.tokens
        dropped.append(Dropped(gone.item, Reason.BUDGET))
    if over > 0:
        over -= standing.summary_tokens
        standing = replace(standing, summary="", summary_tokens=0)
    while over > 0 and profile and not profile[-1].pinned:
        item = profile.pop()
        over -= item.variants[0].tokens
        dropped.append(Dropped(item, Reason.BUDGET))
    return replace(
        standing,
        window=Window(tuple(turns), ()),
        profile=_in_order(profile),
        dropped=tuple(dropped),
    )


def _goals(session: Screened, room: int) -> tuple[Item, ...]:
    if (tokens := tokens_of(session.goals)) > room:
        names = tuple(goal.id for goal in session.goals)
        raise PinnedOverflowError(layer="session", cap=room, tokens=tokens, items=names)
    return _in_order(session.goals)


def _profile(memory: Screened, room: int, cap: int) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    pinned = [item for item in memory.profile if item.pinned]
    if (tokens := tokens_of(pinned)) > room:
        names = tuple(item.id for item in pinned)
        raise PinnedOverflowError(layer="memory", cap=room, tokens=tokens, items=names)
    # Pinned memories in L4 go before unpinned ones up here: they share one cap.
    below = tokens_of([item for item in memory.recalled if item.pinned])
    left = min(room, max(tokens, cap - below))
    kept: list[Item] = []
    dropped: list[Dropped] = []
    for item in memory.profile:
        if item.variants[0].tokens <= left:
            left -= item.variants[0].tokens
            kept.append(item)
        else:
            dropped.append(Dropped(item, Reason.LAYER_CAP))
    return _in_order(kept), tuple(dropped)


def _in_order(items: Sequence[Item]) -> tuple[Item, ...]:
    # Score selects, id orders: a pack whose members are the same has the same bytes.
    return tuple(sorted(items, key=lambda item: (natural(item.id), item.id)))

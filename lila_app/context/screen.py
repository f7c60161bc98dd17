"""Which candidates may compete at all, and why the others may not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from lila_app.context.items import Item, LayerAnswer, Placement
from lila_app.context.policy import UseCase


class Reason(StrEnum):
    """Why a candidate is not in the prompt. The set is closed."""

    BUDGET = "budget"
    LAYER_CAP = "layer_cap"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    BELOW_FLOOR = "below_floor"
    DEADLINE = "deadline"
    PRIVACY = "privacy"
    COMPRESSED = "compressed"
    RECOUNT = "recount"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate left out, and why."""

    item: Item
    reason: Reason


@dataclass(frozen=True, slots=True)
class Screened:
    """The candidates of one layer by placement, best first, each with a fixed order of its own."""

    layer: str
    profile: tuple[Item, ...]
    goals: tuple[Item, ...]
    turns: tuple[Item, ...]
    recalled: tuple[Item, ...]


_DIGITS = re.compile("([0-9]+)")


def natural(identifier: str) -> tuple[str | int, ...]:
    """A sort key under which "d4.10" follows "d4.9", whatever the identifier looks like.

    Alternates runs of other characters and numbers, so that like always meets like; equal keys
    mean equal identifiers up to leading zeros, which ids never have.
    """
    runs = _DIGITS.split(identifier)
    return tuple(int(run) if place % 2 else run for place, run in enumerate(runs))


def by_score(item: Item) -> tuple[int, int, tuple[str | int, ...], str, str, str]:
    """Pinned first, then score, then the stable id; two items of one id, by what they hold."""
    pinned = 0 if item.pinned else 1
    return (pinned, -item.score, natural(item.id), item.id, item.digest, item.variants[0].text)


def screen(
    answers: Sequence[LayerAnswer], row: UseCase
) -> tuple[tuple[Screened, ...], tuple[Dropped, ...]]:
    """Sort every layer's candidates, in declared order of layers, and drop what may not compete.

    A duplicate is a second item of the same id, a recalled one of the same full text, or one its
    layer found to repeat another. The first in declared order, and within a layer the best, stays;
    standing items come before recalled ones, and a pinned item is never left out for having the
    text of another. Raises ValueError for answers no layer may give.
    """
    offered = _by_layer(answers, row)
    seen_ids: set[str] = set()
    seen_texts: set[str] = set()
    dropped: list[Dropped] = []
    screened: list[Screened] = []
    for share in row.layers:
        answer = offered.get(share.name)
        kept: dict[Placement, list[Item]] = {placement: [] for placement in Placement}
        items = sorted(answer.items if answer else (), key=by_score)
        items.sort(key=lambda item: item.placement is Placement.RECALLED)
        for item in items:
            reason = _refused(item, share.ratio, share.floor, seen_ids, seen_texts)
            if answer is not None and not answer.answered:
                reason = Reason.DEADLINE
            if reason is None:
                seen_ids.add(item.id)
                if item.placement is not Placement.TURN:
                    seen_texts.add(item.variants[0].text)
                kept[item.placement].append(item)
            else:
                dropped.append(Dropped(item, reason))
        screened.append(
            Screened(
                share.name,
                tuple(kept[Placement.PROFILE]),
                tuple(kept[Placement.GOAL]),
                tuple(kept[Placement.TURN]),
                tuple(kept[Placement.RECALLED]),
            )
        )
    return tuple(screened), tuple(dropped)


_PLACES = {
    "session": (Placement.GOAL, Placement.RECALLED),
    "conversation": (Placement.TURN,),
    "memory": (Placement.PROFILE, Placement.RECALLED),
    "graph": (Placement.RECALLED,),
    "rag": (Placement.RECALLED,),
}


def _by_layer(answers: Sequence[LayerAnswer], row: UseCase) -> dict[str, LayerAnswer]:
    offered: dict[str, LayerAnswer] = {}
    for answer in answers:
        if answer.layer in offered or answer.layer not in {share.name for share in row.layers}:
            raise ValueError(f"layer {answer.layer!r} is unknown or answered twice")
        offered[answer.layer] = answer
        for item in answer.items:
            if item.layer != answer.layer or item.placement not in _PLACES[answer.layer]:
                raise ValueError(
                    f"layer {answer.layer} may not offer {item.id} of layer {item.layer} "
                    f"as {item.placement}"
                )
    return offered


def _refused(
    item: Item, ratio: int, floor: int, seen_ids: set[str], seen_texts: set[str]
) -> Reason | None:
    if item.private:
        return Reason.PRIVACY
    if item.superseded:
        return Reason.SUPERSEDED
    weighed = item.placement is Placement.RECALLED and not item.pinned
    repeats = item.duplicate or item.variants[0].text in seen_texts
    if item.id in seen_ids or (weighed and repeats):
        return Reason.DUPLICATE
    if ratio == 0:
        return Reason.LAYER_CAP
    if weighed and item.score < floor:
        return Reason.BELOW_FLOOR
    return None

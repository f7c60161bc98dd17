"""A second, naive assembler of L4: one token at a time, one item at a time, one reason at a time.

It counts characters, so that every sum can be taken apart, and knows nothing of the first one but
the inputs and the tokens of the standing items it kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lila_app.context import Item, Placement, Specification, Variant
from lila_app.context.policy import UseCase

HEADINGS = {"session": "state", "memory": "memory", "graph": "graph", "rag": "documents"}
STANDING = {Placement.PROFILE: "profile", Placement.GOAL: "goals"}


@dataclass
class Outcome:
    """Tokens to share, tokens granted and taken by layer, forms taken and reasons by item."""

    available: int
    granted: dict[str, int]
    forms: dict[tuple[str, str], str]
    reasons: dict[tuple[str, str], str]


def assemble_naively(specification: Specification, standing: dict[str, int], limit: int) -> Outcome:
    row = specification.policy.use_case(specification.use_case)
    assert row is not None
    offered = {answer.layer: list(answer.items) for answer in specification.answers}
    late = {answer.layer for answer in specification.answers if not answer.answered}
    reasons: dict[tuple[str, str], str] = {}
    competing: dict[str, list[Item]] = {}
    texts: set[str] = set()
    for share in row.layers:
        items = offered[share.name]
        for item in sorted(items, key=rank):
            reason = unfit(item, row, texts)
            if share.name in late:
                reason = "deadline"
            if reason:
                reasons[item.layer, item.id] = reason
                continue
            if item.placement is not Placement.TURN:
                texts.add(item.variants[0].text)
            competing.setdefault(share.name, []).append(item)
    held = {
        share.name: sum(
            standing.get(item.id, 0)
            for item in competing.get(share.name, [])
            if item.placement is not Placement.RECALLED
        )
        for share in row.layers
    }
    recalled = {
        name: [item for item in items if item.placement is Placement.RECALLED]
        for name, items in competing.items()
    }
    pins = [i for items in recalled.values() for i in items if i.pinned]
    # Where not even the headings of all that compete fit, what may not be left out still goes in.
    available = max(
        limit - off_the_top(specification, row, competing, recalled, standing),
        sum(held.values()) + sum(item.variants[0].tokens for item in pins),
    )
    return fill(row, available, held, recalled, reasons)


def rank(item: Item) -> tuple[bool, bool, int, str, int]:
    letters = item.id.rstrip("0123456789")
    number = int(item.id[len(letters) :])
    recalled = item.placement is Placement.RECALLED
    return recalled, not item.pinned, -item.score, letters, number


def unfit(item: Item, row: UseCase, texts: set[str]) -> str | None:
    weighed = item.placement is Placement.RECALLED and not item.pinned
    share = row.layer(item.layer)
    if item.private:
        return "privacy"
    if item.superseded:
        return "superseded"
    if weighed and item.variants[0].text in texts:
        return "duplicate"
    if not share.ratio:
        return "layer_cap"
    return "below_floor" if weighed and item.score < share.floor else None


def off_the_top(
    specification: Specification,
    row: UseCase,
    competing: dict[str, list[Item]],
    recalled: dict[str, list[Item]],
    standing: dict[str, int],
) -> int:
    policy = specification.policy
    lines = ["<|system|>", "<|user|>", policy.prompt(row.identity).strip(), "Profile: default"]
    lines += ["Now: Monday 30 November 2026, 12:58 (Europe/Berlin)", specification.turn]
    lines.append(policy.block("turn").heading)
    for placement, block in STANDING.items():
        kept = [i for items in competing.values() for i in items if i.placement is placement]
        if any(item.id in standing for item in kept):
            lines.append(policy.block(block).heading)
    lines += [policy.block(HEADINGS[name]).heading for name, items in recalled.items() if items]
    if any(items for name, items in recalled.items() if name != "session") and row.closing:
        lines.append(policy.prompt(row.closing).strip())
    return sum(len(line + "\n") for line in lines)


def fill(
    row: UseCase,
    available: int,
    held: dict[str, int],
    recalled: dict[str, list[Item]],
    reasons: dict[tuple[str, str], str],
) -> Outcome:
    items = [item for share in row.layers for item in recalled.get(share.name, [])]
    forms = {(i.layer, i.id): i.variants[0].name for i in items if i.pinned}
    used = {
        name: tokens + sum(i.variants[0].tokens for i in items if i.pinned and i.layer == name)
        for name, tokens in held.items()
    }
    waiting = [item for item in items if not item.pinned]
    granted = one_token_at_a_time(row, available - sum(used.values()), used, waiting)
    missed: list[Item] = []
    while waiting:
        rooms = {
            share.name: min(available - sum(used.values()), share.cap - used[share.name])
            for share in row.layers
        }
        first = {item.layer: item for item in reversed(waiting)}
        if gone := [i for i in first.values() if smallest(i) > rooms[i.layer]]:
            missed += gone
            waiting = [item for item in waiting if item not in gone]
            continue
        sizes = {name: largest(item, rooms[name]) for name, item in first.items()}
        # max keeps the first of equals, and the layers stand in declared order.
        best = max(
            (share for share in row.layers if share.name in first),
            key=lambda share: Fraction(share.ratio, used[share.name] + sizes[share.name].tokens),
        ).name
        forms[best, first[best].id] = sizes[best].name
        used[best] += sizes[best].tokens
        waiting.remove(first[best])
    for item in missed:
        over_cap = smallest(item) > row.layer(item.layer).cap - used[item.layer]
        reasons[item.layer, item.id] = "layer_cap" if over_cap else "budget"
    return Outcome(available, granted, forms, reasons)


def one_token_at_a_time(
    row: UseCase, left: int, used: dict[str, int], waiting: list[Item]
) -> dict[str, int]:
    have = dict(used)
    want = {
        name: min(
            max(row.layer(name).cap, tokens),
            tokens + sum(item.variants[0].tokens for item in waiting if item.layer == name),
        )
        for name, tokens in used.items()
    }
    for _ in range(left):
        takers = [s for s in row.layers if s.ratio and have[s.name] < want[s.name]]
        if not takers:
            break
        best = takers[0]
        for share in takers[1:]:
            if share.ratio * (have[best.name] + 1) > best.ratio * (have[share.name] + 1):
                best = share
        have[best.name] += 1
    return have


def smallest(item: Item) -> int:
    return min(variant.tokens for variant in item.variants)


def largest(item: Item, room: int) -> Variant:
    return next(variant for variant in item.variants if variant.tokens <= room)

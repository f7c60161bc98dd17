"""What a new statement does to what is held: nothing, ends it, corrects it, contradicts it.

A pure function over the statements of one slot (one subject, one predicate). How alike two texts
are plays no part: only that subject and predicate are the same, the value is another, and that
time or an explicit cue says which came later. What cannot be decided is a conflict, and both stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from lila_app.memory.model import Cue

Action = Literal["same", "close", "correct", "bound", "conflict"]
"""Said again; ended; never true; ends on a day to come; contradicts, undecided."""

Why = Literal["", "later", "update", "correction", "ended", "negated", "explicit", "earlier"]
"""What decided. "earlier" is of a statement that came in after the one that follows it in time."""

RECURRING = ("event", "chat")
"""Kinds of which each mention is its own: a run on Monday does not end the run on Friday."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What was stated. `at` is the instant (ISO, UTC), `day` the same in the person's zone.

    `source` is who said it ("" is the person); `value` is the key two values are compared by, ""
    with `negated` for any ("is not married to anyone"). `passing` is what was only said in naming
    somebody: it decides nothing.
    """

    value: str
    negated: bool
    many: bool
    kind: str
    at: str
    day: date
    source: str
    cue: Cue = ""
    explicit: bool = False
    valid_from: date | None = None
    valid_to: date | None = None
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """A statement that is held open under an id."""

    id: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of one that is held; `ends` is the day from which it holds no more."""

    id: str
    action: Action
    why: Why = ""
    ends: date | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of what is held, and of the new one.

    `add` says whether the new one is kept as a fact of its own; `same` names the one it repeats.
    Where `closed_by` is set, the new one was over before it came in: that one followed it.
    """

    verdicts: tuple[Verdict, ...]
    add: bool
    same: str | None = None
    closed_by: str | None = None
    ends: date | None = None


def decide(new: Statement, held: Sequence[Held]) -> Decision:
    """What a new statement does to those held open in its slot, in the order they are given."""
    same = next((one for one in held if _repeats(new, one.statement)), None)
    followed = None if same else _followed(new, held)
    if followed is not None:
        ends = followed.statement.valid_from or followed.statement.day
        return Decision((), True, None, followed.id, max(ends, new.valid_from or ends))
    verdicts = [
        verdict
        for one in held
        if one is not same and (verdict := _verdict(new, one, len(held))) is not None
    ]
    if same is not None:
        verdicts.insert(0, Verdict(same.id, "same"))
    return Decision(tuple(verdicts), same is None, same.id if same else None)


def contradicts(new: Statement, old: Statement) -> bool:
    """Whether both cannot hold at once."""
    if _disjoint(new, old):
        return False
    if new.negated or old.negated:
        denial = new if new.negated else old
        return new.negated != old.negated and (new.value == old.value or not denial.value)
    return not new.many and new.kind not in RECURRING and new.value != old.value


def _repeats(new: Statement, old: Statement) -> bool:
    # What is over is kept as a denial; said to be over again, it is the same.
    denied = new.negated or new.cue == "ended"
    if new.value != old.value or denied != old.negated:
        return False
    if new.kind in RECURRING or new.kind == "plan":
        # The same thing on another day is another thing.
        return new.valid_from is None or new.valid_from == old.valid_from
    return not _disjoint(new, old)


def _followed(new: Statement, held: Sequence[Held]) -> Held | None:
    """The first that came later in time than the new one and takes its place."""
    if new.cue == "ended" or new.negated:
        return None
    later = [
        one
        for one in held
        if one.statement.day > new.day
        and one.statement.source == new.source
        and not one.statement.negated
        and contradicts(new, one.statement)
    ]
    return min(later, key=lambda one: (one.statement.at, one.id), default=None)


def _verdict(new: Statement, one: Held, among: int) -> Verdict | None:
    old = one.statement
    if new.cue == "ended":
        return _ended(new, one)
    corrects = new.cue == "correction" and new.many and among == 1 and not new.negated
    if not contradicts(new, old) and not (corrects and new.value != old.value):
        return None
    why = _reason(new, old)
    if not why:
        return Verdict(one.id, "conflict")
    if why == "correction":
        return Verdict(one.id, "correct", why, old.valid_from or old.day)
    ends = _end(new, old)
    return Verdict(one.id, "bound" if ends > new.day else "close", why, ends)


def _ended(new: Statement, one: Held) -> Verdict | None:
    old = one.statement
    if old.negated or (new.value and new.value != old.value):
        return None
    if old.source != new.source:
        return Verdict(one.id, "conflict")
    if old.at > new.at:
        return None
    ends = max(new.valid_to or new.valid_from or new.day, old.valid_from or old.day)
    return Verdict(one.id, "bound" if ends > new.day else "close", "ended", ends)


def _reason(new: Statement, old: Statement) -> Why:
    """What decides between the two, or "" where nothing does."""
    if new.source != old.source or new.at < old.at:
        return ""
    if new.cue == "correction":
        return "correction"
    if new.cue == "update":
        return "update"
    if new.explicit and new.at > old.at:
        # "Remember that ..." is a decision of the person's own, an hour later too.
        return "explicit"
    if new.day > old.day and not new.passing:
        return "negated" if new.negated else "later"
    return ""


def _end(new: Statement, old: Statement) -> date:
    begins = new.valid_from or new.day
    return max(begins, old.valid_from or min(old.day, begins))


def _disjoint(one: Statement, other: Statement) -> bool:
    """Whether their intervals, as far as both are known, do not meet; ends are not part of them."""
    return _before(one, other) or _before(other, one)


def _before(one: Statement, other: Statement) -> bool:
    if one.valid_to is None:
        return False
    return one.valid_to <= (other.valid_from or other.day)

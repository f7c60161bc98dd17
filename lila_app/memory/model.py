"""What passes between the parts of memory: plain data, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

ME = "me"
"""The subject that stands for the person."""

ANYONE = "anyone"
"""The value of a denial that leaves open who it was ("I got divorced")."""

Kind = Literal["durable", "preference", "plan", "event", "state", "chat"]
"""What a fact is, which decides how long it is offered (policies/promotion.toml)."""

Cue = Literal["", "update", "correction", "ended"]
"""Words by which the speaker says that something else held before ("moved to", "correction:",
"no longer"); "ended" says that it holds no more and gives nothing in its place."""

Doubt = Literal["hypothetical", "quoted", "joke", "question", "third_party", "recalled", "command"]
"""Why something that looks like a fact is none the person stated."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words of one speaker. `at` is aware, in the zone of the person; `speaker` is `ME` or a name.

    `recalled` are texts LILA itself had put in front of the model for this turn: a sentence that
    repeats one of them is no new evidence.
    """

    text: str
    speaker: str
    at: datetime
    recalled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """Words that name a time, by offsets, and the days they mean, first and last included."""

    start: int
    end: int
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that was stated. `text` is a sentence that stands by itself.

    `subject` is `ME` or a name as it is written; `predicate` one of policies/predicates.toml;
    `is_entity` says that the value is a person, place or thing of its own, so that the fact is also
    a relation of the graph. `many` predicates may have several values at once. `start` and `end`
    are offsets of the statement in the utterance; `confidence` is in basis points. `passing` says
    that it is only how somebody was named while something else was said ("my doctor Dr. Silva").
    """

    subject: str
    predicate: str
    value: str
    text: str
    kind: Kind
    is_entity: bool
    many: bool
    start: int
    end: int
    negated: bool = False
    cue: Cue = ""
    explicit: bool = False
    valid_from: date | None = None
    valid_to: date | None = None
    confidence: int = 8_000
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that looked like a fact, and why it is none."""

    start: int
    end: int
    doubt: Doubt


@dataclass(frozen=True, slots=True)
class Extracted:
    """What one utterance says."""

    candidates: tuple[Candidate, ...]
    refused: tuple[Refused, ...]
    dates: tuple[ResolvedDate, ...]

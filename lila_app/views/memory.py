"""What front-ends show of how a memory came to be and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.views import MemoryInfo


@dataclass(frozen=True, slots=True)
class FactInfo:
    """One fact: subject, predicate, value, and where it stands.

    `stage` is candidate, withheld, long_term or core; `status` current, closed or conflict. Days
    are ISO dates, times ISO 8601 with zone, None where open.
    """

    id: str
    subject: str
    predicate: str
    value: str
    text: str
    kind: str
    negated: bool
    stage: str
    status: str
    valid_from: str | None
    valid_to: str | None
    learned_at: str
    closed_at: str | None
    superseded_by: str | None
    memory_id: str | None
    source_turn: str | None


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """The turn something was said in, with the very words; `speaker` "" is the person."""

    turn_id: str
    session_id: str
    at: str
    speaker: str
    words: str


@dataclass(frozen=True, slots=True)
class SightingInfo:
    """A turn whose own words bear on a fact: `how` is said, confirmed or ended."""

    fact_id: str
    turn_id: str
    at: str
    how: str


@dataclass(frozen=True, slots=True)
class ChangeInfo:
    """What was done, when and why; `ids` are what it touched, `undone` if it was taken back."""

    what: str
    why: str
    at: str
    ids: tuple[str, ...]
    undone: bool


@dataclass(frozen=True, slots=True)
class KeptInfo:
    """The memory that holds what was given; `already` if it did so before."""

    memory: MemoryInfo
    already: bool


@dataclass(frozen=True, slots=True)
class Named:
    """A memory, fact or relation with its words."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class UndoInfo:
    """What was taken back: a change with all it did.

    `gone` is what does not hold any more, `again` what holds again, each in words; `ids` are all
    rows that were touched.
    """

    what: str
    at: str
    ids: tuple[str, ...]
    gone: tuple[Named, ...]
    again: tuple[Named, ...]
    other: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class UseInfo:
    """A turn whose reply repeats a memory."""

    turn_id: str
    at: str


@dataclass(frozen=True, slots=True)
class WhyInfo:
    """Why LILA remembers something: what it is, where from, what was done, what it helped."""

    id: str
    memory: MemoryInfo | None
    facts: tuple[FactInfo, ...]
    sources: tuple[SourceInfo, ...]
    sightings: tuple[SightingInfo, ...]
    uses: tuple[UseInfo, ...]
    changes: tuple[ChangeInfo, ...]
    supersedes: tuple[str, ...]
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class ConflictInfo:
    """Facts that cannot all hold, and that nothing decided between."""

    facts: tuple[FactInfo, ...]


@dataclass(frozen=True, slots=True)
class CandidateInfo:
    """A fact that waits, and what it needs: one of so many more days, or so many more replies."""

    fact: FactInfo
    days: int
    uses: int


@dataclass(frozen=True, slots=True)
class LearnInfo:
    """What looking through turns gave: turns looked at, facts that are new, turns that wait."""

    turns: int
    facts: int
    waiting: int

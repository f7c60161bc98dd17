"""What an import did, and how far imports are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SkipInfo:
    """Something left out: where it is, of which conversation, why, and how many messages it is."""

    where: str
    conversation: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """One path; counts are messages but for `sessions`, the new ones.

    `known` were here before. `reasons` say how many were left out for what; their sum is `skipped`.
    `besides` counts what is no message and was not read (files of an export, images), by why.
    `named` are the first thousand of both; `count` is 0 for what is no message. `resumed_at` is how
    many records an earlier run had done.
    """

    path: str
    kind: str
    sessions: int
    messages: int
    known: int
    skipped: int
    resumed_at: int
    seconds: float
    reasons: tuple[tuple[str, int], ...]
    named: tuple[SkipInfo, ...]
    besides: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What an export of LILA's own put back: rows a table.

    `warning` says what of it cannot be read here, and what helps; "" where all of it can.
    """

    path: str
    rows: tuple[tuple[str, int], ...]
    warning: str = ""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was written where: rows a file."""

    path: str
    rows: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ImportInfo:
    """A source and how far it was read; `state` is "done", "stopped", or "running".

    "running" is also what is left of an import that was killed.
    """

    id: int
    path: str
    kind: str
    sessions: int
    messages: int
    skipped: int
    records: int
    state: str
    at: str
    last_at: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of how many turns or memories can be found by meaning yet."""

    done: int
    total: int

    @property
    def missing(self) -> int:
        """How many cannot."""
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class Following:
    """What is left to do after an import: turns without a vector, and turns to learn from."""

    vectors: int
    turns: int


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """Every source; how far vectors are over all turns; turns nothing was learned from yet."""

    imports: tuple[ImportInfo, ...]
    vectors: Coverage
    unlearned: int

"""`lila voice stats`: what each stage of a spoken turn takes, out of the traces that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lila_app.paths import Home


@dataclass(frozen=True, slots=True)
class StageTime:
    """What half the turns and 95 of 100 stayed within at a stage, in ms."""

    stage: str
    p50: int
    p95: int


@dataclass(frozen=True, slots=True)
class Group:
    """The turns under one policy and with one set of models, and what their stages took.

    `policy` is as in `default`, `fast`, `fast, continuity`. The stages' order is that of the
    turn; the last is `voice_to_voice`, from the last sound of the person to LILA's first.
    `speculated` is how many had their reply asked for before the turn's end was certain.
    """

    policy: str
    model: str
    recogniser: str
    engine: str
    turns: int
    interrupted: int
    speculated: int
    stages: tuple[StageTime, ...]


def stats(home: Home) -> tuple[Group, ...]:
    """What the kept traces say, most recently used group first; none is an empty tuple."""
    raise NotImplementedError

"""`lila voice stats`: what each stage of a spoken turn takes, out of the traces that are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lila_app.voice.trace import STAGES, Setup, Trace, kept, stages

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
    """What the kept traces say, most recently used group first; none is an empty tuple.

    Only turns that were answered aloud count.
    """
    groups: dict[Setup, list[Trace]] = {}
    for setup, trace in kept(home):
        if stages(trace):
            before = groups.pop(setup, [])
            before.append(trace)
            groups[setup] = before
    return tuple(_group(setup, traces) for setup, traces in reversed(groups.items()))


def _group(setup: Setup, traces: Sequence[Trace]) -> Group:
    times = [stages(trace) for trace in traces]
    return Group(
        policy=setup.policy,
        model=setup.model,
        recogniser=setup.recogniser,
        engine=setup.engine,
        turns=len(traces),
        interrupted=sum(trace.interrupted is not None for trace in traces),
        speculated=sum(trace.speculated for trace in traces),
        stages=tuple(_stage(stage, [each[stage] for each in times]) for stage in STAGES),
    )


def _stage(stage: str, times: Sequence[int]) -> StageTime:
    return StageTime(stage, percentile(times, 50), percentile(times, 95))


def percentile(values: Sequence[int], share: int) -> int:
    """The least of the values that `share` of 100 of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)]

"""Asking the layers of a use case together, within its deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from lila_app.context.items import Item, LayerAnswer
from lila_app.context.policy import UseCase
from lila_app.context.specification import Deadline
from lila_app.layers.port import Layer, Question


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the layers answered, in declared order, and which of them missed the deadline."""

    answers: tuple[LayerAnswer, ...]
    deadline: Deadline


def gather(
    layers: Sequence[Layer],
    question: Question,
    row: UseCase,
    pool: ThreadPoolExecutor,
    *,
    deadline_ms: int | None,
    clock: Callable[[], float] = time.perf_counter,
) -> Gathered:
    """Ask every layer that has a share in the use case; the others are not asked at all.

    With a deadline, a layer that is not done by then is left out and named; its work ends unseen.
    Without one (previews, `--now`) all are waited for, because what answered in time would be
    chance. A layer that fails raises here.
    """
    asked = [layer for layer in layers if row.layer(layer.name).ratio]
    running = {layer.name: pool.submit(_timed, layer, question, clock) for layer in asked}
    wait(running.values(), None if deadline_ms is None else deadline_ms / 1000)
    answers = tuple(
        _answer(layer, question, running.get(layer.name), deadline_ms or 0) for layer in layers
    )
    in_time = tuple(a.layer for a in answers if a.answered and a.layer in running)
    missed = tuple(a.layer for a in answers if not a.answered)
    return Gathered(answers, Deadline(deadline_ms, in_time, missed))


def _timed(
    layer: Layer, question: Question, clock: Callable[[], float]
) -> tuple[tuple[Item, ...], int]:
    start = clock()
    items = layer.offer(question)
    return items, round(1000 * (clock() - start))


def _answer(
    layer: Layer,
    question: Question,
    future: Future[tuple[tuple[Item, ...], int]] | None,
    deadline_ms: int,
) -> LayerAnswer:
    if future is None:
        return LayerAnswer(layer.name, "", (), 0, True, "not asked: no share in this use case")
    if not future.done():
        future.cancel()
        return LayerAnswer(layer.name, question.text, (), deadline_ms, False, layer.source)
    items, ms = future.result()
    return LayerAnswer(layer.name, question.text, items, ms, True, layer.source)

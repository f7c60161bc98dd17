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

LANES = (("rag",), ("session", "conversation", "graph", "memory"))
"""Layers that are asked one after the other, each lane in a thread of its own: as many as there are
cores to count on. With a thread a layer the small ones took turns with the two that search, and a
question took 3 to 5 % longer (tests/benchmarks at 100,000 chunks, 2026-11-30)."""

_Timed = tuple[tuple[Item, ...], int]


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

    With a deadline, a layer that is not done by then is left out and named; its work ends unseen,
    and one behind it in its lane is not asked at all.
    Without one (previews, `--now`) all are waited for, because what answered in time would be
    chance. A layer that fails raises here.
    """
    asked = {layer.name: layer for layer in layers if row.layer(layer.name).ratio}
    running: dict[str, Future[_Timed]] = {name: Future() for name in asked}
    for lane in LANES:
        pool.submit(_ask, [(asked[n], running[n]) for n in lane if n in asked], question, clock)
    wait(running.values(), None if deadline_ms is None else deadline_ms / 1000)
    answers = tuple(
        _answer(layer, question, running.get(layer.name), deadline_ms or 0) for layer in layers
    )
    in_time = tuple(a.layer for a in answers if a.answered and a.layer in running)
    missed = tuple(a.layer for a in answers if not a.answered)
    return Gathered(answers, Deadline(deadline_ms, in_time, missed))


def _ask(
    lane: Sequence[tuple[Layer, Future[_Timed]]],
    question: Question,
    clock: Callable[[], float],
) -> None:
    """Ask the layers of a lane in turn; those that nobody waits for any more are passed over."""
    for layer, answer in lane:
        if not answer.set_running_or_notify_cancel():
            continue
        start = clock()
        try:
            items = layer.offer(question)
        except BaseException as error:
            answer.set_exception(error)
        else:
            answer.set_result((items, round(1000 * (clock() - start))))


def _answer(
    layer: Layer,
    question: Question,
    future: Future[_Timed] | None,
    deadline_ms: int,
) -> LayerAnswer:
    if future is None:
        return LayerAnswer(layer.name, "", (), 0, True, "not asked: no share in this use case")
    if not future.done():
        future.cancel()
        return LayerAnswer(layer.name, question.text, (), deadline_ms, False, layer.source)
    items, ms = future.result()
    return LayerAnswer(layer.name, question.text, items, ms, True, layer.source)

"""The assembler alone: a fixed specification of some 4,000 tokens, counted by cl100k."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from lila_app.context import Counter, Item, ModelLimits, Placement, Specification, assemble
from lila_app.context.items import LayerAnswer, exchange, recalled
from lila_app.context.policy import Policy
from lila_app.context.specification import Deadline
from lila_app.embedding import load_counter, remember
from lila_app.layers import variants
from tests.benchmarks import words
from tests.benchmarks.measuring import Spread, spread
from tests.benchmarks.words import Writer

TOKENS = 4_000
ROUNDS = 200


@dataclass(frozen=True, slots=True)
class Alone:
    """Tokens used, and milliseconds with the counter of a turn and with one without a memory."""

    tokens: int
    turn: Spread
    bare: Spread


def measure(policy: Policy) -> Alone:
    """Assemble equal candidates over and over; all but the turn's words were counted before.

    The shorter forms that are looked at are made anew in every round, as on a turn.
    """
    bare = load_counter()
    turn = remember(bare)
    used: int = assemble(specification(policy, turn), bare).record["token_budget"]["used"]
    return Alone(used, spread(_taken(policy, turn)), spread(_taken(policy, bare)))


def _taken(policy: Policy, count: Counter) -> list[float]:
    taken: list[float] = []
    for number in range(ROUNDS):
        plain = specification(policy, count)
        asked = replace(plain, turn=f"{plain.turn} ({number})")
        start = time.perf_counter()
        assemble(asked, count)
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def specification(policy: Policy, count: Counter) -> Specification:
    """As many candidates as the layers offer at most, of the sizes they have."""
    write = words.writer(8)
    answers = (
        _answer("session", _goals(write, count)),
        _answer("conversation", _turns(write, count)),
        _answer("memory", _recalled("m", "memory", 40, lambda: write.sentence(12, 1), count)),
        _answer("graph", _recalled("r", "graph", 40, lambda: write.sentence(7, 1), count)),
        _answer("rag", _recalled("d1.", "rag", 24, lambda: write.text(9, 1), count)),
    )
    return Specification(
        record_id="c1",
        session_id="s1",
        profile="default",
        use_case="chat",
        epoch=1,
        now="2026-11-30T08:00:00+00:00",
        zone="UTC",
        turn=write.sentence(12, 1),
        policy=policy,
        limits=ModelLimits(window=32_768, context_budget=TOKENS, token_ratio=10_500),
        answers=answers,
        summary=None,
        deadline=Deadline(None, tuple(answer.layer for answer in answers), ()),
        tokenizer="cl100k_base",
        code_version="benchmark",
    )


def _answer(layer: str, items: list[Item]) -> LayerAnswer:
    return LayerAnswer(layer, "benchmark", tuple(items))


def _goals(write: Writer, count: Counter) -> list[Item]:
    form = recalled("full", write.sentence(9, 1), count)
    return [Item("g1", "session", Placement.GOAL, (form,), 10_000, pinned=True)]


def _turns(write: Writer, count: Counter) -> list[Item]:
    return [
        Item(
            f"t{number}",
            "conversation",
            Placement.TURN,
            (exchange("full", write.sentence(14, 1), write.text(3, 1), count),),
            10_000,
            sequence=number,
        )
        for number in range(1, 16)
    ]


def _recalled(
    letter: str, layer: str, most: int, text: Callable[[], str], count: Counter
) -> list[Item]:
    return [
        Item(
            f"{letter}{number}",
            layer,
            Placement.RECALLED,
            variants.of_text(f"[{letter}{number}, 2026-11-30] ", text(), count),
            10_000 - 100 * number,
            digest=f"{number:064}",
        )
        for number in range(1, most + 1)
    ]

"""The assembler against three simpler ways to fill a prompt, on labelled questions.

All four choose from the same candidates (what the layers offered) for the same tokens (the limit
less the fixed parts and what stands above the breakpoints), so the difference is the choice alone:

- pool: one pool, the best score first, whatever layer it is from
- slots: fixed shares of the policy without give-back
- truncated: everything in declared order, cut where the budget ends, as most prompts are made

Recall is the share of labelled evidence that stands in the prompt. The questions are our own
(tests/benchmarks/labelled.jsonl, 28 on the sample life): enough to see a difference of ten points,
not one of two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lila_app.assistant import Lila, open_lila
from lila_app.composing import Ask, compose, specify
from lila_app.context import Context, Item, ModelLimits, Placement, Specification
from lila_app.context.policy import TOTAL_RATIO
from lila_app.moments import resolve

LABELLED = Path(__file__).with_name("labelled.jsonl")
NOW = "2026-11-29T19:00:00+00:00"
BUDGETS = (800, 1_200, 2_000, 4_000)
WIDE = ModelLimits(window=32_768, context_budget=32_000, token_ratio=10_500)


@dataclass(frozen=True, slots=True)
class Compared:
    """Evidence recall (0 to 1) and tokens of recalled material of one way at one budget."""

    way: str
    budget: int
    recall: float
    tokens: float
    questions: int


@dataclass(frozen=True, slots=True)
class _Case:
    question: str
    evidence: tuple[str, ...]


Way = Callable[[Specification, int], list[Item]]


def compare(home: Path) -> list[Compared]:
    """Fill the sample profile in `home` and try every way at every budget."""
    cases = [
        _Case(row["question"], tuple(row["evidence"]))
        for row in map(json.loads, LABELLED.read_text(encoding="utf-8").splitlines())
    ]
    with open_lila(home, "sample") as lila:
        lila.memory.search("warm")
        return [row for budget in BUDGETS for row in _at(lila, cases, budget)]


def _at(lila: Lila, cases: Sequence[_Case], budget: int) -> list[Compared]:
    found: dict[str, list[tuple[float, int]]] = {}
    for case in cases:
        specification = _specify(lila, case.question)
        context = _assembled(lila, specification, budget)
        room = _room(context)
        texts = {"lila": _recalled_text(context)}
        sizes = {"lila": _spent(context)}
        for name, way in (("pool", pool), ("slots", slots)):
            chosen = way(specification, room)
            texts[name] = "\n".join(item.variants[0].text for item in chosen)
            sizes[name] = sum(item.variants[0].tokens for item in chosen)
        texts["truncated"], sizes["truncated"] = truncated(specification, room)
        standing = _standing_text(context)
        for name, text in texts.items():
            hits = sum(needle in f"{standing}\n{text}" for needle in case.evidence)
            found.setdefault(name, []).append((hits / len(case.evidence), sizes[name]))
    return [
        Compared(
            name,
            budget,
            sum(recall for recall, _ in rows) / len(rows),
            sum(tokens for _, tokens in rows) / len(rows),
            len(rows),
        )
        for name, rows in found.items()
    ]


def _specify(lila: Lila, question: str) -> Specification:
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]  (the benchmark looks inside)
    ask = Ask(
        text=question,
        use_case="chat",
        session_id=None,
        now=resolve(NOW, resources.clock),
        model="benchmark/none",
        limits=WIDE,
        budget=None,
        before_sequence=None,
        deadline=False,
    )
    return specify(resources, ask, write=False)


def _assembled(lila: Lila, specification: Specification, budget: int) -> Context:
    resources = lila._resources  # pyright: ignore[reportPrivateUsage]
    return compose(resources, replace(specification, budget=budget))


def _room(context: Context) -> int:
    """Tokens for recalled material: what the assembler itself had to spend."""
    budget = context.record["token_budget"]
    return budget["remaining"] + _spent(context)


def _spent(context: Context) -> int:
    recalled = {"memory", "graph", "documents", "state"}
    return sum(block.tokens for block in context.blocks if block.name in recalled)


def _recalled_text(context: Context) -> str:
    return "".join(block.text for block in context.blocks if block.lifetime == "L4")


def _standing_text(context: Context) -> str:
    return "".join(block.text for block in context.blocks if block.lifetime < "L4")


def _candidates(specification: Specification) -> list[Item]:
    return [
        item
        for answer in specification.answers
        for item in answer.items
        if item.placement is Placement.RECALLED and not item.superseded
    ]


def pool(specification: Specification, room: int) -> list[Item]:
    """One pool by calibrated score, whole items, those that fit."""
    chosen: list[Item] = []
    for item in sorted(_candidates(specification), key=lambda item: (-item.score, item.id)):
        if item.variants[0].tokens <= room:
            room -= item.variants[0].tokens
            chosen.append(item)
    return chosen


def slots(specification: Specification, room: int) -> list[Item]:
    """Each layer its share of the room and not a token more."""
    row = specification.policy.use_case(specification.use_case)
    assert row is not None
    chosen: list[Item] = []
    for share in row.layers:
        left = room * share.ratio // TOTAL_RATIO
        mine = [item for item in _candidates(specification) if item.layer == share.name]
        for item in sorted(mine, key=lambda item: (-item.score, item.id)):
            if item.variants[0].tokens <= left:
                left -= item.variants[0].tokens
                chosen.append(item)
    return chosen


def truncated(specification: Specification, room: int) -> tuple[str, int]:
    """Everything in declared order of layers, cut where the tokens end."""
    left, texts = room, list[str]()
    for item in _candidates(specification):
        form = item.variants[0]
        if form.tokens > left:
            texts.append(form.text[: len(form.text) * left // form.tokens])
            left = 0
            break
        left -= form.tokens
        texts.append(form.text)
    return "\n".join(texts), room - left


def print_table(rows: Sequence[Compared]) -> None:
    """Recall (and tokens of material) per way and budget."""
    print(f"evidence recall, {rows[0].questions} questions (mean tokens of recalled material)")
    ways = list(dict.fromkeys(row.way for row in rows))
    print(f"{'budget':>8}" + "".join(f"{way:>18}" for way in ways))
    for budget in dict.fromkeys(row.budget for row in rows):
        cells = {row.way: row for row in rows if row.budget == budget}
        line = "".join(f"{cells[w].recall:>10.2f} ({cells[w].tokens:>4.0f})" for w in ways)
        print(f"{budget:>8}{line}")

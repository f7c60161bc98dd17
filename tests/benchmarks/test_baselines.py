"""The simpler ways are what they say they are, and the assembler is worth its name beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lila_app.context import Item
from tests.benchmarks import baselines
from tests.benchmarks.baselines import Compared, pool, slots, truncated
from tests.context.support import item, specification, turn


def _of(id: str, layer: str, tokens: int, score: int, superseded: bool = False) -> Item:
    """A candidate of so many tokens: one a character, and one for its line end."""
    return item(id, layer, id[0] * (tokens - 1), score=score, superseded=superseded)


def _ids(chosen: list[Item]) -> list[str]:
    return [item.id for item in chosen]


OFFERED = (
    _of("m1", "memory", 300, 9_000),
    _of("m2", "memory", 100, 4_000),
    _of("r1", "graph", 60, 8_000),
    _of("r2", "graph", 60, 2_000),
    _of("d1.1", "rag", 500, 7_000),
    _of("d1.2", "rag", 90, 6_000),
    _of("m3", "memory", 10, 10_000, superseded=True),
)


def test_the_pool_takes_the_best_score_of_any_layer_and_passes_over_what_does_not_fit() -> None:
    assert _ids(pool(specification(*OFFERED), 1_110)) == [
        "m1", "r1", "d1.1", "d1.2", "m2", "r2",
    ]  # fmt: skip
    # 300 + 60 leave 90: the long chunk does not fit, the short one just does, nothing after it.
    assert _ids(pool(specification(*OFFERED), 450)) == ["m1", "r1", "d1.2"]
    assert pool(specification(*OFFERED), 0) == []


def test_slots_give_each_layer_its_share_and_nothing_of_what_another_leaves() -> None:
    # Of 1,000 tokens memory may spend 280, graph 100 and documents 160.
    assert _ids(slots(specification(*OFFERED), 1_000)) == ["m2", "r1", "d1.2"]
    alone = [one for one in OFFERED if one.layer == "memory"]
    assert _ids(slots(specification(*alone), 1_000)) == ["m2"]
    assert _ids(slots(specification(*OFFERED), 1_072)) == ["m1", "r1", "d1.2"]


def test_truncation_keeps_the_declared_order_and_cuts_where_the_budget_ends() -> None:
    text, tokens = truncated(specification(*OFFERED), 430)
    # Both memories and half of the first relation, whose 60 tokens are 59 letters.
    assert text == "\n".join(["m" * 299, "m" * 99, "r" * 29])
    assert tokens == 430
    everything, tokens = truncated(specification(*OFFERED), 2_000)
    assert (everything.count("\n"), tokens) == (5, 1_110)


def test_no_way_takes_what_stands_above_the_breakpoints_or_is_superseded() -> None:
    plain = specification(turn(1, "zork"), _of("m3", "memory", 10, 10_000, superseded=True))
    assert pool(plain, 900) == slots(plain, 900) == []
    assert truncated(plain, 900) == ("", 0)


@pytest.mark.slow
def test_the_assembler_keeps_up_with_a_pool_and_beats_slots_and_truncation(tmp_path: Path) -> None:
    rows = baselines.compare(tmp_path)

    def at(budget: int) -> dict[str, Compared]:
        return {row.way: row for row in rows if row.budget == budget}

    for budget in (800, 1_200):
        found = {way: row.recall for way, row in at(budget).items()}
        assert found["lila"] >= found["pool"] - 0.05, budget
        assert found["lila"] > found["slots"], budget
        assert found["lila"] > found["truncated"], budget
        # Nobody gets more room than the assembler had.
        assert at(budget)["lila"].tokens <= at(budget)["pool"].tokens + 0.05 * budget
    assert at(4_000)["lila"].tokens < at(4_000)["pool"].tokens

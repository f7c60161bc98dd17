"""The scale of what was said and remembered, worked out by hand, and its table."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.context import Source
from lila_app.errors import PolicyError
from lila_app.layers import score
from lila_app.layers.score import (
    Around,
    Scale,
    TurnScale,
    lent,
    meaning,
    own,
    recency,
    scored,
    scored_turns,
)
from tests.layers.conftest import NOW

SCALE = Scale(
    candidates=40, unrelated=1_200, restated=7_200, words=400, meaning=300, recency=100,
    half_life=60, middle=350, spread=100,
)  # fmt: skip
TURNS = TurnScale(
    **dataclasses.asdict(SCALE), around=16, reply=8_000, session=500, beside=100, further=50,
    answer=200, speaker=300, when=250, date=400, question=-50, length=80,
)  # fmt: skip
SHARE = st.floats(0, 1)


def test_a_cosine_is_read_from_unrelated_to_restated() -> None:
    assert [meaning(bp, SCALE) for bp in (None, -300, 1_200, 4_200, 7_200, 9_000)] == [
        0.0, 0.0, 0.0, 0.5, 1.0, 1.0,
    ]  # fmt: skip


def test_recency_halves_with_each_half_life() -> None:
    assert recency("2026-10-01T08:00:00+00:00", NOW, 60) == 0.5
    assert recency("2026-08-02T08:00:00+00:00", NOW, 60) == 0.25
    assert recency("2026-12-24T08:00:00+00:00", NOW, 60) == 1.0


def test_the_middle_of_the_scale_is_half_and_a_spread_is_one_unit_of_log_odds() -> None:
    # 400·.5 + 300·.5 = 350, the middle; 100 of recency more is one unit: 1 / (1 + 1/e).
    assert scored(SCALE, 0.5, 0.5, 0.0) == 5_000
    assert scored(SCALE, 0.5, 0.5, 1.0) == round(10_000 / (1 + math.exp(-1)))
    assert scored(SCALE, 0.0, 0.0, 1.0) == 0


def test_each_thing_around_a_turn_lends_its_weight() -> None:
    assert lent(TURNS, Around()) == 0
    assert lent(TURNS, Around(session=0.4)) == 200
    assert lent(TURNS, Around(beside=1.5)) == 150
    assert lent(TURNS, Around(further=1.0)) == 50
    assert lent(TURNS, Around(answer=0.5)) == 100
    assert (lent(TURNS, Around(speaker=1)), lent(TURNS, Around(speaker=-1))) == (150, -150)
    assert (lent(TURNS, Around(when=True)), lent(TURNS, Around(question=True))) == (250, -50)
    assert lent(TURNS, Around(date=True, length=0.5)) == 440


def test_what_is_lent_orders_turns_and_does_not_raise_the_best() -> None:
    # Sums 350 + 500, 450 + 100, 250 + 0: the first leads and gets what 450 is worth by itself.
    scores = scored_turns(TURNS, {1: (350.0, 500.0), 2: (450.0, 100.0), 3: (250.0, 0.0)})
    odds = {row: value / (10_000 - value) for row, value in scores.items()}
    assert {row: round(20 * math.log(value)) * 5 for row, value in odds.items()} == {
        1: 100,
        2: -200,
        3: -500,
    }


@given(SHARE, SHARE, SHARE, SHARE, SHARE)
def test_more_evidence_never_lowers_a_score(
    words: float, more: float, near: float, nearer: float, fresh: float
) -> None:
    words, more = sorted((words, more))
    near, nearer = sorted((near, nearer))
    assert 0 <= scored(SCALE, words, near, fresh) <= scored(SCALE, more, nearer, fresh) <= 10_000


@given(st.dictionaries(st.integers(1, 50), st.tuples(st.floats(0, 900), st.floats(-500, 2_000))))
def test_turns_are_scored_in_the_order_of_their_sums(sums: dict[int, tuple[float, float]]) -> None:
    scores = scored_turns(TURNS, sums)
    ordered = sorted(sums, key=lambda row: sum(sums[row]))
    assert all(scores[a] <= scores[b] for a, b in pairwise(ordered))
    if sums:
        alone = scored_turns(TURNS, {0: (max(itself for itself, _ in sums.values()), 0.0)})[0]
        assert max(scores.values()) == alone


def test_the_shipped_scale_says_what_its_comment_says() -> None:
    turns = score.shipped().turns
    told = [(0.5, 0.5), (0.0, 0.5), (1.0, 1.0), (0.0, 0.0)]
    sums = [own(turns, words, near, 0.0) for words, near in told]
    scores = [scored_turns(turns, {1: (total, 0.0)})[1] for total in sums]
    assert [round(value / 100) for value in scores] == [79, 30, 100, 6]


@pytest.mark.parametrize(
    ("mine", "key", "found"),
    [
        ("[turns]\nwords = 'many'", "turns.words", "'many'"),
        ("[turns]\nspread = 0", "turns.spread", "0"),
        ("[memories]\nspeaker = 3", "memories.speaker", "speaker"),
        ("[memories]\nrestated = 1_000", "memories.restated", "1000"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_key(mine: str, key: str, found: str) -> None:
    shipped = Source("shipped", _shipped())
    with pytest.raises(PolicyError) as refused:
        score.parse([shipped, Source("mine.toml", mine)])
    assert key in str(refused.value)
    assert found in str(refused.value)
    assert "mine.toml" in str(refused.value)


def test_the_persons_own_keys_are_laid_over_the_shipped() -> None:
    mine = score.parse([Source("shipped", _shipped()), Source("mine", "[turns]\nspeaker = 7")])
    assert mine.turns.speaker == 7
    assert mine.turns.words == score.shipped().turns.words


def _shipped() -> str:
    from lila_app.paths import read_text, shipped

    return read_text(shipped("policies") / "retrieval.toml")

"""Properties of the two allocation algorithms, against a naive one-token-at-a-time oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.context import allocate_tokens, fill_items

SMALL = st.integers(0, 40)


@st.composite
def cases(draw: st.DrawFn, most: int = 120) -> tuple[int, list[int], list[int]]:
    n = draw(st.integers(1, 6))
    weights = draw(st.lists(SMALL, min_size=n, max_size=n))
    limits = draw(st.lists(st.integers(0, 60), min_size=n, max_size=n))
    return draw(st.integers(0, most)), weights, limits


def one_at_a_time(
    budget: int, weights: list[int], limits: list[int], held: list[int] | None = None
) -> tuple[int, ...]:
    """The oracle: each next token goes to the largest w/(a+1), first index on a tie."""
    have = list(held or [0] * len(weights))
    start = list(have)
    for _ in range(budget):
        best = None
        for i, w in enumerate(weights):
            if w == 0 or have[i] - start[i] >= limits[i]:
                continue
            if best is None or w * (have[best] + 1) > weights[best] * (have[i] + 1):
                best = i
        if best is None:
            break
        have[best] += 1
    return tuple(h - s for h, s in zip(have, start, strict=True))


@given(cases())
def test_equals_giving_tokens_one_at_a_time(case: tuple[int, list[int], list[int]]) -> None:
    assert allocate_tokens(*case) == one_at_a_time(*case)


@given(cases(), st.data())
def test_equals_the_oracle_when_layers_already_hold_tokens(
    case: tuple[int, list[int], list[int]], data: st.DataObject
) -> None:
    budget, weights, limits = case
    held = data.draw(st.lists(st.integers(0, 50), min_size=len(weights), max_size=len(weights)))
    assert allocate_tokens(budget, weights, limits, held) == one_at_a_time(
        budget, weights, limits, held
    )


@given(cases())
def test_conserves_the_budget_and_respects_limits(case: tuple[int, list[int], list[int]]) -> None:
    budget, weights, limits = case
    given_ = allocate_tokens(budget, weights, limits)
    takers = [u for w, u in zip(weights, limits, strict=True) if w]
    assert sum(given_) == min(budget, sum(takers))
    assert all(0 <= a <= u for a, u in zip(given_, limits, strict=True))
    assert all(a == 0 for a, w in zip(given_, weights, strict=True) if w == 0)


@given(cases())
def test_no_layer_with_room_deserves_the_last_token_more(
    case: tuple[int, list[int], list[int]],
) -> None:
    budget, w, u = case
    a = allocate_tokens(budget, w, u)
    for i in range(len(w)):
        if a[i] >= u[i] or w[i] == 0:
            continue
        for j in range(len(w)):
            if i == j or a[j] == 0:
                continue
            assert w[i] * a[j] <= w[j] * (a[i] + 1)
            if w[i] * a[j] == w[j] * (a[i] + 1):
                assert j < i


@given(cases())
def test_one_more_token_goes_to_exactly_one_layer(case: tuple[int, list[int], list[int]]) -> None:
    budget, weights, limits = case
    before = allocate_tokens(budget, weights, limits)
    after = allocate_tokens(budget + 1, weights, limits)
    grown = [b - a for a, b in zip(before, after, strict=True)]
    assert all(g in (0, 1) for g in grown)
    room = any(w and a < u for w, a, u in zip(weights, before, limits, strict=True))
    assert sum(grown) == (1 if room else 0)


@given(cases(), st.data())
def test_raising_one_demand_never_lowers_it_nor_raises_another(
    case: tuple[int, list[int], list[int]], data: st.DataObject
) -> None:
    budget, weights, limits = case
    i = data.draw(st.integers(0, len(weights) - 1))
    raised = [u + 5 if k == i else u for k, u in enumerate(limits)]
    before, after = (allocate_tokens(budget, weights, x) for x in (limits, raised))
    assert after[i] >= before[i]
    assert all(after[k] <= before[k] for k in range(len(weights)) if k != i)


@given(cases(), st.data())
def test_dropping_a_layer_with_its_share_leaves_the_rest_unchanged(
    case: tuple[int, list[int], list[int]], data: st.DataObject
) -> None:
    budget, weights, limits = case
    given_ = allocate_tokens(budget, weights, limits)
    i = data.draw(st.integers(0, len(weights) - 1))
    rest = [k for k in range(len(weights)) if k != i]
    assert allocate_tokens(
        budget - given_[i], [weights[k] for k in rest], [limits[k] for k in rest]
    ) == tuple(given_[k] for k in rest)


@given(cases(), st.integers(1, 1000))
def test_scaling_all_weights_changes_nothing(
    case: tuple[int, list[int], list[int]], factor: int
) -> None:
    budget, weights, limits = case
    assert allocate_tokens(budget, weights, limits) == allocate_tokens(
        budget, [w * factor for w in weights], limits
    )


@given(cases(), st.data())
def test_more_weight_never_means_fewer_tokens(
    case: tuple[int, list[int], list[int]], data: st.DataObject
) -> None:
    budget, weights, limits = case
    i = data.draw(st.integers(0, len(weights) - 1))
    heavier = [w + 7 if k == i else w for k, w in enumerate(weights)]
    assert (
        allocate_tokens(budget, heavier, limits)[i] >= allocate_tokens(budget, weights, limits)[i]
    )


def test_the_published_counterexample_to_largest_remainder_stays_monotone() -> None:
    w, u = (12, 33, 26, 13, 35), (10, 40, 13, 11, 69)
    at_59, at_60 = allocate_tokens(59, w, u), allocate_tokens(60, w, u)
    assert at_59 == one_at_a_time(59, list(w), list(u))
    assert all(b >= a for a, b in zip(at_59, at_60, strict=True))


def test_huge_integers_lose_no_token() -> None:
    budget = 10**30 + 7
    given_ = allocate_tokens(budget, (1, 2, 3), (10**40,) * 3)
    assert sum(given_) == budget
    assert given_[2] - 3 * given_[0] in (-1, 0, 1, 2)


def test_zero_weights_zero_budget_and_no_layers_give_nothing() -> None:
    assert allocate_tokens(100, (0, 0), (5, 5)) == (0, 0)
    assert allocate_tokens(0, (1, 1), (5, 5)) == (0, 0)
    assert allocate_tokens(10, (), ()) == ()


def test_a_tie_goes_to_the_layer_declared_first() -> None:
    assert allocate_tokens(1, (5, 5), (9, 9)) == (1, 0)
    assert allocate_tokens(3, (5, 5), (9, 9)) == (2, 1)


def test_negative_or_mismatched_input_is_refused() -> None:
    for args in ((-1, (1,), (1,)), (1, (-1,), (1,)), (1, (1,), (-1,)), (1, (1,), (1, 1))):
        with pytest.raises(ValueError, match="must"):
            allocate_tokens(*args)


@st.composite
def fills(draw: st.DrawFn) -> tuple[int, list[int], list[int], list[list[tuple[int, ...]]]]:
    n = draw(st.integers(1, 5))
    weights = draw(st.lists(SMALL, min_size=n, max_size=n))
    limits = draw(st.lists(st.integers(0, 80), min_size=n, max_size=n))
    sizes = st.lists(st.integers(1, 30), min_size=1, max_size=3).map(
        lambda s: tuple(sorted(s, reverse=True))
    )
    items = draw(st.lists(st.lists(sizes, max_size=8), min_size=n, max_size=n))
    return draw(st.integers(0, 150)), weights, limits, items


Fill = tuple[int, list[int], list[int], list[list[tuple[int, ...]]]]


@given(fills())
def test_a_fill_never_overshoots_budget_or_limit_and_admits_each_item_once(case: Fill) -> None:
    budget, weights, limits, items = case
    admitted = fill_items(budget, weights, limits, items)
    assert sum(a.size for a in admitted) <= budget
    for i, limit in enumerate(limits):
        assert sum(a.size for a in admitted if a.layer == i) <= limit
    assert len({(a.layer, a.index) for a in admitted}) == len(admitted)
    assert all(items[a.layer][a.index][a.variant] == a.size for a in admitted)
    assert all(weights[a.layer] > 0 for a in admitted)


@given(fills())
def test_nothing_left_out_of_a_fill_would_still_fit(case: Fill) -> None:
    budget, weights, limits, items = case
    admitted = fill_items(budget, weights, limits, items)
    left = budget - sum(a.size for a in admitted)
    taken = {(a.layer, a.index) for a in admitted}
    for i, layer in enumerate(items):
        room = min(left, limits[i] - sum(a.size for a in admitted if a.layer == i))
        for k, sizes in enumerate(layer):
            if weights[i] and (i, k) not in taken:
                assert min(sizes) > room


@given(fills())
def test_each_layer_gets_the_prefix_of_its_items_that_fits_its_share(case: Fill) -> None:
    budget, weights, limits, items = case
    total = sum(weights)
    admitted = {(a.layer, a.index): a for a in fill_items(budget, weights, limits, items)}
    for i, layer in enumerate(items):
        if weights[i] == 0:
            continue
        share = min(budget * weights[i] // total, limits[i])
        running = 0
        for k, sizes in enumerate(layer):
            running += sizes[0]
            if running > share:
                break
            assert (i, k) in admitted
            assert admitted[(i, k)].variant == 0


@given(cases())
def test_with_unit_items_a_fill_is_the_token_allocation(
    case: tuple[int, list[int], list[int]],
) -> None:
    budget, weights, limits = case
    admitted = fill_items(budget, weights, limits, [[1] * u for u in limits])
    per_layer = tuple(sum(1 for a in admitted if a.layer == i) for i in range(len(weights)))
    assert per_layer == allocate_tokens(budget, weights, limits)


def test_a_layer_that_already_holds_its_share_waits_for_the_others() -> None:
    admitted = fill_items(30, (1, 1), (100, 100), [[10, 10], [10, 10, 10]], held=(30, 0))
    assert [a.layer for a in admitted] == [1, 1, 1]


def test_an_item_too_large_in_full_is_taken_in_the_largest_variant_that_fits() -> None:
    (only,) = fill_items(60, (1,), (60,), [[(100, 55, 20)]])
    assert (only.variant, only.size) == (1, 55)

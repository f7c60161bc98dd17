"""The budget holds on the final bytes, whatever is offered and however tokens are counted."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.context import Context, Counter, LayerAnswer, Specification, assemble
from lila_app.errors import BudgetError, FixedPartsError, PinnedOverflowError
from tests.context.invariants import candidates, check_everything, replayed
from tests.context.strategies import specifications
from tests.context.support import COUNTERS


def assembled(specification: Specification, count: Counter) -> Context | None:
    try:
        return assemble(specification, count)
    except BudgetError as error:
        assert error.hint
        return None


@pytest.mark.parametrize("name", sorted(COUNTERS))
def test_every_assembly_fits_and_accounts_for_everything_or_says_what_does_not_fit(
    name: str,
) -> None:
    count = COUNTERS[name]()
    outcomes: list[bool] = []

    @settings(max_examples=60)
    @given(specifications(count))
    def run(specification: Specification) -> None:
        context = assembled(specification, count)
        outcomes.append(context is not None)
        if context is not None:
            check_everything(specification, context, count)
            again = replayed(specification, count)
            assert again.text == context.text
            assert again.record == context.record

    run()
    assert sum(outcomes) > len(outcomes) // 4  # the property was not passed by refusing


@settings(max_examples=100)
@given(specifications(len))
def test_with_an_additive_counter_only_what_may_not_yield_is_ever_too_large(
    specification: Specification,
) -> None:
    try:
        assemble(specification, len)
    except FixedPartsError as error:
        assert sum(tokens for _, tokens in error.parts) > error.limit
    except PinnedOverflowError as error:
        pinned = {item.id for item in candidates(specification) if item.pinned}
        assert error.tokens > error.cap
        assert error.items
        assert set(error.items) <= pinned


@settings(max_examples=50)
@given(specifications(len), st.randoms(use_true_random=False))
def test_the_order_in_which_layers_and_items_arrive_changes_nothing(
    specification: Specification, random: Random
) -> None:
    shuffled: list[LayerAnswer] = []
    for answer in specification.answers:
        mixed = list(answer.items)
        random.shuffle(mixed)
        shuffled.append(replace(answer, items=tuple(mixed)))
    random.shuffle(shuffled)
    first = assembled(specification, len)
    second = assembled(replace(specification, answers=tuple(shuffled)), len)
    assert (first is None) == (second is None)
    if first and second:
        assert first.text == second.text
        assert first.record == second.record
        assert repr(first.record) == repr(second.record)

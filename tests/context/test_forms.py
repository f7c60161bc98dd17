"""Shorter forms that are made when they are looked at change nothing but the work."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings

from lila_app.context import Item, Specification, Variant, assemble, from_inputs, to_inputs
from lila_app.context.items import Forms, longest
from lila_app.errors import BudgetError
from tests.context.strategies import specifications
from tests.context.support import item, quarters, specification

FULL, HALF, QUARTER = Variant("full", "f", 80), Variant("half", "h", 40), Variant("quarter", "q", 9)


class Maker:
    """Makes the shorter forms, and counts how often it had to."""

    def __init__(self, *forms: Variant) -> None:
        self.forms = forms
        self.asked = 0

    def __call__(self) -> tuple[Variant, ...]:
        self.asked += 1
        return self.forms


def deferred(specification: Specification, makers: list[Maker]) -> Specification:
    """The same candidates, their shorter forms not made yet."""

    def of(item: Item) -> Item:
        full, *shorter = item.variants
        makers.append(Maker(*shorter))
        least = min(variant.tokens for variant in item.variants)
        return replace(item, variants=Forms(full, least, makers[-1]))

    return replace(
        specification,
        answers=tuple(
            replace(answer, items=tuple(map(of, answer.items))) for answer in specification.answers
        ),
    )


def test_the_first_form_is_had_without_the_others() -> None:
    maker = Maker(HALF, QUARTER)
    forms = Forms(FULL, 9, maker)
    assert (forms[0], next(iter(forms)), forms.made) == (FULL, FULL, (FULL,))
    assert maker.asked == 0
    assert (forms[1], forms[-1], len(forms)) == (HALF, QUARTER, 3)
    assert tuple(forms) == forms.made == (FULL, HALF, QUARTER)
    assert maker.asked == 1


def test_forms_are_equal_to_what_they_give() -> None:
    maker = Maker(HALF)
    assert Forms(FULL, 9, maker) == (FULL, HALF)
    assert Forms(FULL, 9, maker) == Forms(FULL, 1, Maker(HALF))
    assert Forms(FULL, 9, maker) != (FULL,)
    assert hash(Forms(FULL, 9, maker)) == hash(Forms(FULL, 1, Maker(HALF)))


@pytest.mark.parametrize(
    ("room", "found", "asked"),
    [(80, (0, 80), 0), (79, (1, 40), 1), (39, (2, 9), 1), (8, None, 0)],
)
def test_a_room_that_holds_all_or_nothing_needs_no_shorter_form(
    room: int, found: tuple[int, int] | None, asked: int
) -> None:
    maker = Maker(HALF, QUARTER)
    assert longest(Forms(FULL, 9, maker), room) == found == longest((FULL, HALF, QUARTER), room)
    assert maker.asked == asked


def test_candidates_that_all_fit_are_never_shortened() -> None:
    makers: list[Maker] = []
    offered = [item(f"m{n}", "memory", [f"{n} " * 40, f"{n} " * 20]) for n in range(1, 9)]
    assemble(deferred(specification(*offered), makers), quarters)
    assert [maker.asked for maker in makers] == [0] * 8


@settings(max_examples=150)
@given(specifications(quarters))
def test_when_forms_are_made_moves_no_byte_and_no_word_of_the_record(
    eager: Specification,
) -> None:
    makers: list[Maker] = []
    later = deferred(eager, makers)
    try:
        plain = assemble(eager, quarters)
    except BudgetError as error:
        with pytest.raises(type(error)):
            assemble(later, quarters)
        return
    context = assemble(later, quarters)
    assert context.text == plain.text
    assert context.record == plain.record
    assert max((maker.asked for maker in makers), default=0) <= 1


@settings(max_examples=150)
@given(specifications(quarters))
def test_what_was_looked_at_is_stored_and_is_enough_to_assemble_again(
    eager: Specification,
) -> None:
    makers: list[Maker] = []
    later = deferred(eager, makers)
    try:
        context = assemble(later, quarters)
    except BudgetError:
        return
    stored = json.loads(json.dumps(to_inputs(later)))
    again = assemble(from_inputs(stored, later.policy), quarters)
    assert (again.text, again.record) == (context.text, context.record)
    kept = [len(one["variants"]) for row in stored["answers"] for one in row["items"]]
    whole = [1 + len(maker.forms) if maker.asked else 1 for maker in makers]
    assert kept == whole


def test_an_item_without_any_form_is_refused() -> None:
    with pytest.raises(ValueError, match="m1 has no variant"):
        item("m1", "memory", [])

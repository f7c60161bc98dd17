"""The conversation's window: whole grid steps, hysteresis, and a prefix that only grows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.context import Context, Item, Placement, assemble
from lila_app.context.policy import WindowPolicy
from lila_app.context.window import Framed, due, forced, frame, grid_step, shrink
from tests.context.simulation import Session, fresh_facts
from tests.context.support import cl100k, item, policy, specification, turn

GRID = WindowPolicy(grid=100, keep_turns=2, idle_minutes=1, keep_results=1)


def framed(sizes: list[int]) -> tuple[Framed, ...]:
    found: list[Framed] = []
    for number, size in enumerate(sizes, 1):
        past = turn(number)
        variant = replace(past.variants[0], tokens=size)
        found.append(Framed(replace(past, variants=(variant,)), variant))
    return tuple(found)


sizes_of_turns = st.lists(st.integers(1, 120), max_size=30)


@given(sizes_of_turns, st.integers(0, 900))
def test_a_cut_takes_the_oldest_turns_until_whole_grid_steps_are_free(
    sizes: list[int], room: int
) -> None:
    turns = framed(sizes)
    window = due(turns, room, GRID)
    assert window.cut + window.kept == turns
    step = grid_step(room, GRID)
    over = sum(sizes) - room
    taken = [f.variant.tokens for f in window.cut]
    if over <= 0:
        assert not taken
    elif len(window.kept) > GRID.keep_turns:
        steps = -(-over // step) * step
        assert sum(taken) >= steps > sum(taken[:-1])
        assert window.tokens <= room
    assert len(window.kept) >= min(len(sizes), GRID.keep_turns)


@given(sizes_of_turns, st.integers(0, 900))
def test_a_request_may_overrun_by_one_step_before_it_has_to_cut(
    sizes: list[int], room: int
) -> None:
    turns = framed(sizes)
    window = forced(turns, room, GRID)
    if sum(sizes) <= room + grid_step(room, GRID):
        assert not window.cut
    else:
        assert window == due(turns, room, GRID)


@given(sizes_of_turns, st.integers(0, 900), st.integers(1, 500))
def test_giving_back_tokens_takes_whole_steps_too(sizes: list[int], room: int, excess: int) -> None:
    window = shrink(framed(sizes), excess, room, GRID)
    taken = [f.variant.tokens for f in window.cut]
    if len(window.kept) > GRID.keep_turns:
        assert sum(taken) >= excess
        step = grid_step(room, GRID)
        assert sum(taken[:-1]) < -(-excess // step) * step


def test_the_step_of_a_small_window_is_at_most_half_of_it_and_never_nothing() -> None:
    assert [grid_step(room, GRID) for room in (1_000, 150, 1, 0)] == [100, 75, 1, 1]


def test_a_long_turn_takes_the_longest_form_that_leaves_room_for_the_last_two() -> None:
    past = turn(1)
    forms = tuple(
        replace(past.variants[0], name=name, tokens=tokens)
        for name, tokens in (("full", 90), ("half", 45), ("quarter", 22))
    )
    long = replace(past, variants=forms)
    assert [frame([long], room, GRID)[0].variant.name for room in (180, 179, 90, 88, 44, 10)] == [
        "full",
        "half",
        "half",
        "quarter",
        "quarter",
        "quarter",
    ]


def test_turns_stand_in_order_of_their_events_whatever_their_score_or_number() -> None:
    late, early = replace(turn(3), id="t9"), replace(turn(2), id="t10", score=0)
    assert [f.item.id for f in frame([late, early], 1_000, GRID)] == ["t10", "t9"]


SMALL = "[chat]\nbudget = 4_000\n[chat.conversation]\ncap = 1_200\n"


def played(turns: int, *, background: bool) -> tuple[Session, list[Context], list[bool]]:
    """A session with a profile, a goal and recalled material that is new on every turn."""
    count = cl100k()
    session = Session(
        count,
        specification(policy=policy(SMALL)),
        background=background,
        standing=(
            item("m900", "memory", "- likes tea", count=count, placement=Placement.PROFILE),
            item(
                "g1",
                "session",
                "- learn Dutch",
                count=count,
                placement=Placement.GOAL,
                pinned=True,
            ),
        ),
    )
    contexts: list[Context] = []
    broken: list[bool] = []
    cut = False
    for number in range(1, turns + 1):
        said = f"On day {number} I saw {number * 7} herons in Utrecht. " * (1 + number % 3)
        context = session.ask(said, f"Noted for day {number}. " * 6, fresh_facts(number, count))
        contexts.append(context)
        broken.append(cut or context.cut is not None)
        cut = session.between()
    return session, contexts, broken


def stable(context: Context) -> str:
    return context.text[: context.breakpoints[-1].end]


@pytest.mark.parametrize("background", [False, True])
def test_between_cuts_every_prompt_of_a_long_session_begins_with_the_last_ones_prefix(
    background: bool,
) -> None:
    session, contexts, broken = played(200, background=background)
    for (before, after), cut in zip(pairwise(contexts), broken[1:], strict=True):
        assert after.text.startswith(stable(before)) is not cut
        # Down to the summary's breakpoint nothing ever moves but by a cut.
        if not cut:
            assert after.breakpoints[0] == before.breakpoints[0]
            assert len(stable(after)) > len(stable(before))
    assert sum(broken) == len(session.cuts)
    spoken = sum(past.variants[0].tokens for past in session.turns)
    step = policy(SMALL).window.grid
    assert 5 <= len(session.cuts) <= spoken // step


def test_the_window_never_outgrows_its_room_by_more_than_one_step() -> None:
    for background in (False, True):
        session, contexts, _ = played(120, background=background)
        share = 1_200  # the cap; ⌊4,000 · 38 %⌋ is more
        for number, context in enumerate(contexts):
            held = context.record["layers"][1]["tokens"]
            assert held <= share + session.plain.policy.window.grid
            assert len(context.record["layers"][1]["items"]) >= min(2, number)


def test_every_turn_is_in_the_window_or_was_folded_and_none_comes_back() -> None:
    session, contexts, _ = played(60, background=False)
    for number, context in enumerate(contexts):
        shown = [int(entry["id"][1:]) for entry in context.record["layers"][1]["items"]]
        assert shown == list(range(number + 1 - len(shown), number + 1))
    gone = [name for cut in session.cuts for name in cut.turns]
    assert gone == [f"t{number}" for number in range(1, len(gone) + 1)]


def test_forty_turns_of_chat_break_the_prefix_at_most_five_times() -> None:
    count = cl100k()
    tables = "[chat]\nbudget = 4_000\n[chat.conversation]\ncap = 1_500\n"
    for background in (False, True):
        session = Session(count, specification(policy=policy(tables)), background=background)
        for number in range(40):
            session.ask(f"What about {number}? " * 9, f"About {number}: fine. " * 6)
            session.between()
        tokens = [past.variants[0].tokens for past in session.turns]
        assert 70 <= sum(tokens) / len(tokens) <= 110
        assert 1 <= len(session.cuts) <= 5


@given(st.integers(1, 60), st.integers(0, 3_000))
def test_the_standing_part_does_not_wobble_with_the_length_of_a_turn(
    turns: int, length: int
) -> None:
    items: list[Item] = [turn(number, "x" * 40, "y" * 40) for number in range(1, turns + 1)]
    plain = specification(*items, policy=policy("[chat]\nbudget = 20_000\n", ""), turn="short")
    short = assemble(plain, lambda text: len(text) // 4)
    long = assemble(replace(plain, turn="z" * length + "z"), lambda text: len(text) // 4)
    assert stable(short) == stable(long)
    assert short.cut == long.cut

"""What gets in, what does not, and the one reason given for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lila_app.context import (
    Context,
    Item,
    LayerAnswer,
    Placement,
    Specification,
    Summary,
    ToolExchange,
    assemble,
)
from lila_app.context.items import exchange
from lila_app.errors import BudgetError, FixedPartsError, PinnedOverflowError, UsageError
from tests.context.support import (
    PROMPTS,
    answers,
    ceilings,
    cl100k,
    item,
    policy,
    quarters,
    sized,
    specification,
    turn,
)

COUNT = cl100k()


def reasons(context: Context) -> dict[str, str]:
    return {entry["id"]: entry["reason"] for entry in context.record["dropped_items"]}


def included(context: Context, layer: str) -> list[str]:
    (row,) = [row for row in context.record["layers"] if row["name"] == layer]
    return [entry["id"] for entry in row["items"]]


def fact(id: str, layer: str = "memory", tokens: int = 20, **more: Any) -> Item:
    return item(id, layer, sized(tokens, f"fact {id}", COUNT), count=COUNT, **more)


def test_each_candidate_that_may_not_compete_is_dropped_for_its_own_reason() -> None:
    context = assemble(
        specification(
            fact("m1", score=3_499),
            fact("m2", superseded=True),
            fact("m3", private=True, superseded=True),
            item("m4", "memory", "the same words", count=COUNT),
            item("d1.1", "rag", "the same words", count=COUNT),
            fact("m5", score=3_500),
            fact("m6", score=0, pinned=True),
        ),
        COUNT,
    )
    assert reasons(context) == {
        "m1": "below_floor",
        "m2": "superseded",
        "m3": "privacy",
        "d1.1": "duplicate",
    }
    assert included(context, "memory") == ["m6", "m4", "m5"]


def test_a_floor_of_zero_restores_the_reading_that_no_token_stays_unspent() -> None:
    weak = fact("m1", score=0)
    assert reasons(assemble(specification(weak), COUNT)) == {"m1": "below_floor"}
    open_policy = policy("[chat.memory]\nfloor = 0\n")
    assert reasons(assemble(specification(weak, policy=open_policy), COUNT)) == {}


def test_a_second_item_of_one_id_is_a_duplicate_and_the_standing_one_stays() -> None:
    core = item("m1", "memory", "- core", count=COUNT, placement=Placement.PROFILE, score=1)
    twin = item("m1", "memory", "recalled twin", count=COUNT, score=10_000, pinned=True)
    context = assemble(specification(twin, core), COUNT)
    assert "- core\n" in context.text
    assert reasons(context) == {"m1": "duplicate"}


def test_a_pinned_item_is_never_left_out_for_having_the_words_of_another() -> None:
    context = assemble(
        specification(
            item("m1", "memory", "same words", count=COUNT),
            item("r1", "graph", "same words", count=COUNT, pinned=True),
        ),
        COUNT,
    )
    assert included(context, "graph") == ["r1"]


def test_a_layer_that_missed_the_deadline_is_on_record_and_its_items_are_not_used() -> None:
    plain = specification()
    late = answers(fact("d1.1", "rag"), fact("m1"), missed=["rag"])
    context = assemble(replace(plain, answers=late), COUNT)
    assert reasons(context) == {"d1.1": "deadline"}
    assert included(context, "memory") == ["m1"]


def test_an_item_the_cap_leaves_no_room_for_says_so_and_one_the_budget_leaves_none_says_that() -> (
    None
):
    capped = [fact(f"r{n}", "graph", 300, score=9_000 - n) for n in range(1, 5)]
    context = assemble(specification(*capped), COUNT)  # graph: 800
    assert reasons(context) == {"r3": "layer_cap", "r4": "layer_cap"}
    tight = specification(
        *[fact(f"d1.{n}", "rag", 300, score=9_000 - n) for n in range(1, 5)], budget=900
    )
    assert set(reasons(assemble(tight, COUNT)).values()) == {"budget"}


def test_an_item_that_fits_its_cap_to_the_token_is_left_out_for_the_budget_alone() -> None:
    tables = policy("[chat.graph]\ncap = 300\n")
    first, second = (fact(f"r{n}", "graph", 150, score=9_000 - n) for n in (1, 2))
    second = replace(second, variants=(replace(second.variants[0], tokens=150),))
    first = replace(first, variants=(replace(first.variants[0], tokens=150),))
    bare = assemble(specification(first, policy=tables), COUNT).record["token_budget"]
    tight = specification(first, second, policy=tables, budget=bare["used"] + 60)
    assert reasons(assemble(tight, COUNT)) == {"r2": "budget"}


def test_what_a_layer_does_not_ask_for_goes_to_those_that_do() -> None:
    alone = [fact(f"d1.{n}", "rag", 300, score=9_000 - n) for n in range(1, 10)]
    context = assemble(specification(*alone, budget=3_000), COUNT)
    rag = context.record["layers"][4]
    assert rag["tokens"] > rag["nominal"]
    assert rag["borrowed"] == rag["tokens"] - rag["nominal"]


def test_a_long_item_is_taken_in_the_longest_form_that_fits() -> None:
    forms = [sized(size, "page", COUNT) for size in (2_000, 1_000, 500)]
    chunk = item("d1.1", "rag", forms, count=COUNT)
    taken = [
        assemble(specification(chunk, budget=budget), COUNT).record["layers"][4]["items"]
        for budget in (4_000, 2_000, 1_000, 400)
    ]
    assert [[entry["variant"] for entry in items] for items in taken] == [
        ["full"],
        ["half"],
        ["quarter"],
        [],
    ]


def test_within_a_block_the_best_stand_at_the_edges() -> None:
    ranked = [fact(f"m{n}", score=10_000 - n) for n in range(1, 7)]
    context = assemble(specification(*reversed(ranked)), COUNT)
    (block,) = [block for block in context.blocks if block.name == "memory"]
    order = [word for word in block.text.split() if word.startswith("m") and word[1:].isdigit()]
    assert order == ["m1", "m3", "m5", "m6", "m4", "m2"]
    assert included(context, "memory") == [f"m{n}" for n in range(1, 7)]


def test_equal_scores_are_ordered_by_id_as_numbers() -> None:
    ids = ["m10", "m9", "m100", "m1"]
    context = assemble(specification(*[fact(id) for id in ids]), COUNT)
    assert included(context, "memory") == ["m1", "m9", "m10", "m100"]


def test_the_profile_selects_by_score_and_stands_by_id() -> None:
    core = [
        item(
            f"m{n}",
            "memory",
            sized(190, f"- core {n}", COUNT),
            count=COUNT,
            placement=Placement.PROFILE,
            score=score,
        )
        for n, score in ((1, 10), (2, 9_000), (3, 5_000), (10, 8_000))
    ]
    context = assemble(specification(*core), COUNT)  # the block's ceiling is 600
    assert included(context, "memory") == ["m2", "m3", "m10"]
    assert reasons(context) == {"m1": "layer_cap"}


def test_pinned_items_go_first_whatever_their_score() -> None:
    rivals = [fact(f"m{n}", tokens=200, score=10_000) for n in range(1, 30)]
    context = assemble(specification(*rivals, fact("m99", score=0, pinned=True)), COUNT)
    assert included(context, "memory")[0] == "m99"


def test_pinned_items_beyond_their_cap_are_an_error_that_names_them() -> None:
    pins = [fact(f"r{n}", "graph", 300, pinned=True) for n in range(1, 4)]
    with pytest.raises(PinnedOverflowError) as caught:
        assemble(specification(*pins), COUNT)
    assert (caught.value.layer, caught.value.cap) == ("graph", 800)
    assert caught.value.items == ("r1", "r2", "r3")
    goals = [
        item(f"g{n}", "session", sized(90, "- goal", COUNT), count=COUNT, placement=Placement.GOAL)
        for n in range(1, 4)
    ]
    with pytest.raises(PinnedOverflowError) as caught:
        assemble(specification(*goals), COUNT)
    assert caught.value.layer == "session"


def test_fixed_parts_that_do_not_fit_are_each_named_with_their_tokens() -> None:
    plain = specification(fact("m1"), turn="word " * 300, tools=('{"name":"search"}',), budget=250)
    with pytest.raises(FixedPartsError) as caught:
        assemble(plain, COUNT)
    parts = dict(caught.value.parts)
    assert set(parts) == {"tools", "identity", "clock", "turn", "role lines"}
    assert parts["turn"] == COUNT("Message:\n" + "word " * 300 + "\n")
    assert parts["identity"] == COUNT(PROMPTS["identity"].strip() + "\nProfile: default\n")
    assert caught.value.limit == 250
    for name, tokens in parts.items():
        assert f"{name} {tokens}" in str(caught.value)


def test_where_nothing_but_the_fixed_parts_fits_they_are_sent_without_the_rest() -> None:
    offered = [fact("m1"), fact("d1.1", "rag"), fact("n1", "session"), fact("r1", "graph")]
    bare = assemble(specification(), COUNT).record["token_budget"]["used"]
    context = assemble(specification(*offered, budget=bare), COUNT)
    assert context.record["token_budget"]["remaining"] == 0
    assert set(reasons(context).values()) == {"budget"}
    with pytest.raises(FixedPartsError):
        assemble(specification(*offered, budget=bare - 1), COUNT)


def test_voice_takes_none_of_the_five_and_the_record_says_so() -> None:
    offered = [fact("m1", pinned=True), fact("d1.1", "rag"), turn(4, count=COUNT)]
    context = assemble(
        specification(*offered, use_case="voice", summary=Summary(3, "- They said: hi")), quarters
    )
    assert context.text == (
        f"<|system|>\n{PROMPTS['voice'].strip()}\nProfile: default\n"
        "<|user|>\nNow: Monday 30 November 2026, 12:58 (Europe/Berlin)\n"
        "Message:\nWhat did we decide about the garden?\n"
    )
    for layer in context.record["layers"]:
        assert (layer["nominal"], layer["granted"], layer["tokens"]) == (0, 0, 0)
    assert set(reasons(context).values()) == {"layer_cap"}


def test_tool_results_older_than_the_last_few_are_cleared_to_a_line() -> None:
    calls = tuple(ToolExchange(f"c{n}", "search", f'{{"n":{n}}}', f"found {n}") for n in range(6))
    context = assemble(specification(exchanges=calls), COUNT)
    results = next(block for block in context.blocks if block.name == "results")
    assert results.lifetime == "L5"
    assert results.text == "".join(
        f'<|assistant|>\n[c{n}] search {{"n":{n}}}\n<|tool|>\n'
        + ("(cleared)" if n < 2 else f"found {n}")
        + "\n"
        for n in range(6)
    )
    without = assemble(specification(), COUNT)
    assert context.text == without.text + results.text
    assert context.breakpoints == without.breakpoints


def test_more_results_are_cleared_where_they_exceed_their_ceiling_but_never_the_last() -> None:
    calls = tuple(ToolExchange(f"c{n}", "search", "{}", f"found {n} " * 250) for n in range(4))
    context = assemble(specification(exchanges=calls), COUNT)
    block = next(block for block in context.blocks if block.name == "results")
    assert block.text.count("(cleared)") == 2
    assert block.tokens <= 2_000
    with pytest.raises(BudgetError, match="block results"):
        assemble(specification(exchanges=(replace(calls[0], result="word " * 2_100),)), COUNT)


def test_what_a_step_wrote_stands_before_its_first_call() -> None:
    calls = (
        ToolExchange("1", "search", "{}", "found", step=1, said="Let me look."),
        ToolExchange("2", "search", "{}", "more", step=1),
    )
    context = assemble(specification(exchanges=calls), COUNT)
    results = next(block for block in context.blocks if block.name == "results")
    assert results.text == (
        "<|assistant|>\nLet me look.\n[1] search {}\n<|tool|>\nfound\n"
        "<|assistant|>\n[2] search {}\n<|tool|>\nmore\n"
    )


def test_results_leave_two_thirds_of_a_small_limit_to_everything_else() -> None:
    calls = tuple(ToolExchange(f"c{n}", "search", "{}", f"found {n} " * 50) for n in range(4))
    wide = assemble(specification(exchanges=calls), COUNT)
    small = assemble(specification(exchanges=calls, budget=900), COUNT)
    assert "(cleared)" not in wide.text
    results = next(block for block in small.blocks if block.name == "results")
    assert results.tokens <= 900 // 3
    assert results.text.count("(cleared)") == 3 and "found 3" in results.text


def test_equal_limits_give_equal_bytes_whichever_window_they_come_from() -> None:
    offered = [fact(f"m{n}", tokens=150, score=9_000 - n) for n in range(30)]
    plain = specification(*offered)
    by_budget = assemble(replace(plain, budget=3_000), COUNT)
    limits = replace(plain.limits, context_budget=3_000)
    by_model = assemble(replace(plain, limits=limits), COUNT)
    # ⌊(4,150 − 1,000) · 10,000 / 10,500⌋ = 3,000
    by_window = assemble(replace(plain, limits=replace(plain.limits, window=4_150)), COUNT)
    assert by_budget.text == by_model.text == by_window.text
    assert by_window.record["token_budget"]["limit"] == 3_000
    # A model that needs 16 tokens for 10 gets less; one that needs 9 is not believed.
    wide, narrow = (
        assemble(
            replace(plain, limits=replace(plain.limits, window=4_150, token_ratio=ratio)), COUNT
        ).record["token_budget"]["limit"]
        for ratio in (9_000, 16_000)
    )
    assert (wide, narrow) == (3_000, 1_968)


def test_a_ceiling_declared_for_a_recalled_block_holds() -> None:
    text = ceilings(1)
    place = text.index('name = "graph"')
    text = text[:place] + text[place:].replace("ceiling = 0", "ceiling = 100", 1)
    facts = [fact(f"r{n}", "graph", 30, score=9_000 - n) for n in range(8)]
    context = assemble(specification(*facts, policy=policy("", text)), COUNT)
    (block,) = [block for block in context.blocks if block.name == "graph"]
    assert 60 < block.tokens <= 100
    assert set(reasons(context).values()) == {"layer_cap"}


def bad(*items: Item) -> Specification:
    return replace(specification(), answers=(LayerAnswer("memory", "", items),))


@pytest.mark.parametrize(
    "wrong",
    [
        bad(fact("d1.1", "rag")),
        bad(item("m1", "memory", placement=Placement.TURN)),
        replace(specification(), answers=(LayerAnswer("wiki", "", ()),)),
        replace(specification(), answers=(LayerAnswer("rag", "", ()), LayerAnswer("rag", "", ()))),
    ],
)
def test_answers_no_layer_may_give_are_refused(wrong: Specification) -> None:
    with pytest.raises(ValueError, match="layer"):
        assemble(wrong, COUNT)


def test_an_item_without_a_form_or_with_a_score_off_the_scale_cannot_be_made() -> None:
    for score in (-1, 10_001):
        with pytest.raises(ValueError, match="score"):
            item("m1", "memory", score=score)
    with pytest.raises(ValueError, match="variant"):
        replace(item("m1", "memory"), variants=())


def test_an_unknown_use_case_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        assemble(specification(use_case="chta"), COUNT)
    assert "chta" in str(caught.value)
    assert "briefing, chat, voice" in caught.value.hint


def test_a_turn_is_atomic() -> None:
    past = turn(3, count=COUNT)
    half = exchange("half", "What now", "Nothing", COUNT)
    long = replace(past, variants=(replace(past.variants[0], tokens=10**6), half))
    context = assemble(specification(long), COUNT)
    assert "<|user|>\nWhat now\n<|assistant|>\nNothing\n" in context.text
    assert context.record["layers"][1]["items"][0]["variant"] == "half"

"""When a request is too large: recalled material yields, then the window is cut, then the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lila_app.context import Context, Counter, Item, Placement, Specification, Summary, assemble
from lila_app.context.fold import Exchange, fold
from lila_app.context.standing import Rooms, due_cut, rooms_under
from lila_app.context.window import frame
from lila_app.errors import BudgetError, FixedPartsError, PinnedOverflowError
from tests.context.invariants import check_everything
from tests.context.support import ceilings, cl100k, item, nasty, policy, sized, specification, turn

COUNT = cl100k()


def conversation(turns: int, tokens: int = 100) -> list[Item]:
    return [
        turn(n, sized(tokens // 2, f"Day {n} I saw {n} cats.", COUNT), "I see. " * 14, count=COUNT)
        for n in range(1, turns + 1)
    ]


def reasons(context: Context, layer: str) -> dict[str, str]:
    return {
        entry["id"]: entry["reason"]
        for entry in context.record["dropped_items"]
        if entry["layer"] == layer
    }


def window(context: Context) -> list[str]:
    return [entry["id"] for entry in context.record["layers"][1]["items"]]


def test_a_long_message_pushes_out_recalled_material_before_it_cuts_the_window() -> None:
    facts = [item(f"m{n}", "memory", sized(100, f"fact {n}", COUNT), count=COUNT) for n in range(9)]
    plain = specification(*conversation(10), *facts, budget=3_000)
    calm = assemble(plain, COUNT)
    assert calm.cut is None
    before = calm.record["token_budget"]["used"]
    recalled = calm.record["layers"][2]["tokens"]
    assert recalled > 700
    # As long as recalled material alone can make the room, the window keeps every byte.
    longer = assemble(replace(plain, turn="word " * (3_000 - before + recalled - 60)), COUNT)
    assert longer.cut is None
    assert window(longer) == window(calm)
    assert longer.record["layers"][2]["tokens"] < 100
    # One that needs more forces a cut.
    longest = assemble(replace(plain, turn="word " * (3_000 - before + recalled + 60)), COUNT)
    assert longest.cut is not None
    assert set(reasons(longest, "memory").values()) == {"budget"}
    for context in (calm, longer):
        check_everything(plain, context, COUNT)


def test_a_forced_cut_is_one_event_with_its_summary() -> None:
    turns = conversation(10)
    plain = specification(*turns, budget=3_000, turn="word " * 2_000)
    context = assemble(plain, COUNT)
    cut = context.cut
    assert cut is not None
    assert list(cut.turns) == [f"t{n}" for n in range(1, len(cut.turns) + 1)]
    assert cut.upto_sequence == len(cut.turns)
    assert window(context) == [f"t{n}" for n in range(len(cut.turns) + 1, 11)]
    assert reasons(context, "conversation") == dict.fromkeys(cut.turns, "compressed")
    assert f"Earlier in this conversation:\n{cut.summary}\n" in context.text
    gone = turns[: len(cut.turns)]
    assert cut.summary == fold(
        "",
        [Exchange(t.variants[0].text, t.variants[0].reply or "") for t in gone],
        rooms(plain).summary,
        COUNT,
    )
    # The next request, with the cut made durable, has the same standing part without cutting.
    after = replace(
        plain,
        turn="word " * 1_990,
        summary=Summary(cut.upto_sequence, cut.summary),
    )
    again = assemble(after, COUNT)
    assert again.cut is None
    end = context.breakpoints[-1].end
    assert again.text[: again.breakpoints[-1].end] == context.text[:end]
    # The layer offered the cut turns again: they are told by the summary.
    assert reasons(again, "conversation") == dict.fromkeys(cut.turns, "compressed")


def rooms(plain: Specification) -> Rooms:
    row = plain.policy.use_case(plain.use_case)
    assert row is not None
    return rooms_under(plain.policy, row, plain.budget or row.budget, COUNT)


def test_a_window_that_was_over_and_then_has_to_give_more_makes_one_cut_of_it() -> None:
    turns = conversation(30)
    over = assemble(specification(*turns, budget=3_000), COUNT).cut
    more = assemble(specification(*turns, budget=3_000, turn="word " * 2_400), COUNT)
    assert over is not None
    assert more.cut is not None
    assert len(more.cut.turns) > len(over.turns)
    gone = [f"t{n}" for n in range(1, more.cut.upto_sequence + 1)]
    assert list(more.cut.turns) == gone == list(reasons(more, "conversation"))
    assert window(more) == [f"t{n}" for n in range(more.cut.upto_sequence + 1, 31)]
    assert f"{more.cut.summary}\n" in more.text


def test_a_cut_between_requests_is_the_same_as_the_one_a_request_would_make() -> None:
    plain = specification(budget=3_000)
    row = plain.policy.use_case("chat")
    assert row is not None
    room = rooms_under(plain.policy, row, 3_000, COUNT)
    turns = conversation(20)
    cut = due_cut(turns, None, room, plain.policy.window, COUNT)
    forced = assemble(replace(plain, answers=specification(*turns).answers), COUNT).cut
    assert cut == forced
    assert cut is not None
    made = Summary(cut.upto_sequence, cut.summary)
    assert due_cut(turns, made, room, plain.policy.window, COUNT) is None
    assert due_cut(turns[:5], None, room, plain.policy.window, COUNT) is None


def test_the_summary_and_the_window_share_the_conversations_cap() -> None:
    for budget in (600, 1_500, 3_000, 8_000, 50_000):
        plain = specification(budget=budget)
        row = plain.policy.use_case("chat")
        assert row is not None
        room = rooms_under(plain.policy, row, budget, COUNT)
        share = min(4_000, budget * 3_800 // 10_000)
        assert room.summary + room.window == share
        assert room.summary <= min(300, share // 4)
        assert room.profile <= min(600, 2_400, budget * 2_800 // 10_000)
        assert room.goals <= min(200, 600, budget * 800 // 10_000)


def test_a_summary_made_under_higher_limits_is_folded_the_same_way_every_time() -> None:
    text = "\n".join(f"- They said: I will see Ada on {n} May." for n in range(1, 20))
    plain = specification(*conversation(2), summary=Summary(0, text), budget=1_200)
    context = assemble(plain, COUNT)
    (block,) = [block for block in context.blocks if block.name == "summary"]
    kept = block.text.splitlines()[1:]
    assert kept
    assert [line for line in text.splitlines() if line in kept] == kept
    other = assemble(replace(plain, turn="Something else entirely?"), COUNT)
    end = context.breakpoints[-1].end
    assert other.text[:end] == context.text[:end]
    assert context.cut is None


def test_the_last_two_turns_stay_when_the_window_is_cut() -> None:
    huge = [replace(t, variants=(replace(t.variants[0], tokens=900),)) for t in conversation(6)]
    context = assemble(specification(*huge, budget=2_500), COUNT)
    assert window(context) == ["t5", "t6"]
    assert context.cut is not None
    assert context.cut.upto_sequence == 4


def test_a_request_that_cannot_hold_the_last_turns_drops_them_for_itself_alone() -> None:
    plain = specification(*conversation(4), budget=900)
    short = assemble(plain, COUNT)
    long = assemble(replace(plain, turn="word " * 780), COUNT)
    assert window(long) == []
    assert reasons(long, "conversation")["t3"] == reasons(long, "conversation")["t4"] == "budget"
    # What was cut was made an event; what was dropped for the budget was not.
    assert long.cut is None or long.cut.upto_sequence <= 2
    assert window(short)[-2:] == ["t3", "t4"]


def test_the_profile_yields_after_the_window_from_its_weakest_and_what_is_pinned_never() -> None:
    core = [
        item(
            f"m{n}",
            "memory",
            sized(60, f"- core {n}", COUNT),
            count=COUNT,
            placement=Placement.PROFILE,
            score=score,
            pinned=n == 9,
        )
        for n, score in ((1, 5_000), (2, 100), (9, 0))
    ]
    plain = specification(*core, *conversation(2), budget=900)
    whole = assemble(plain, COUNT)
    assert reasons(whole, "memory") == {}
    less = assemble(replace(plain, turn="word " * 690), COUNT)
    assert reasons(less, "memory") == {"m2": "budget"}
    assert window(less) == []
    with pytest.raises(FixedPartsError) as caught:
        assemble(replace(plain, turn="word " * 790), COUNT)
    named = dict(caught.value.parts)
    assert named["memory (standing)"] == core[2].variants[0].tokens
    assert sum(named.values()) > 900


def test_pinned_material_forces_a_cut_before_it_is_an_error() -> None:
    pins = [
        item(f"m{n}", "memory", sized(150, f"pin {n}", COUNT), count=COUNT, pinned=True)
        for n in range(1, 5)
    ]
    plain = specification(*pins, *conversation(8), budget=1_500, turn="word " * 350)
    context = assemble(plain, COUNT)
    assert context.cut is not None
    entries = context.record["layers"][2]["items"]
    assert [entry["id"] for entry in entries] == ["m1", "m2", "m3", "m4"]
    check_everything(plain, context, COUNT)
    with pytest.raises(PinnedOverflowError) as caught:
        assemble(replace(plain, turn="word " * 900), COUNT)
    assert caught.value.items == ("m1", "m2", "m3", "m4")
    assert caught.value.tokens > caught.value.cap >= 0


def test_pinned_material_in_l4_comes_before_unpinned_core_in_one_cap() -> None:
    tables = policy("[chat.memory]\ncap = 300\n")
    core = [
        item(
            f"m{n}",
            "memory",
            sized(100, f"- core {n}", COUNT),
            count=COUNT,
            placement=Placement.PROFILE,
        )
        for n in (1, 2)
    ]
    pin = item("m9", "memory", sized(150, "pin", COUNT), count=COUNT, pinned=True)
    context = assemble(specification(*core, pin, policy=tables), COUNT)
    assert [entry["id"] for entry in context.record["layers"][2]["items"]] == ["m1", "m9"]
    assert reasons(context, "memory") == {"m2": "layer_cap"}


def test_a_counter_that_charges_for_joining_drops_what_came_in_last() -> None:
    facts = [item(f"m{n}", "memory", f"{n}" * 420, count=nasty, score=9_000 - n) for n in range(30)]
    plain = specification(*facts, policy=policy("", ceilings(6)), budget=2_000)
    context = assemble(plain, nasty)
    dropped = reasons(context, "memory")
    taken = [entry["id"] for entry in context.record["layers"][2]["items"]]
    recounted = [id for id, reason in dropped.items() if reason == "recount"]
    assert recounted
    assert taken + list(reversed(recounted)) == [f"m{n}" for n in range(len(taken + recounted))]
    assert nasty(context.text) <= 2_000
    check_everything(plain, context, nasty)


def test_one_token_too_many_on_the_last_count_is_one_too_many() -> None:
    def joined(text: str) -> int:
        return len(text) + (1 if text.count("\n") > 5 else 0)

    facts = [item(f"m{n}", "memory", "x" * 30, count=joined, score=9_000 - n) for n in range(3)]
    facts = [
        replace(f, variants=(replace(f.variants[0], text=f"{f.id} {'x' * 27}"),)) for f in facts
    ]
    plain = specification(*facts, policy=policy("", ceilings(6)))
    whole = assemble(plain, joined).record["token_budget"]
    assert whole["join_delta"] == 1
    exact = assemble(replace(plain, budget=whole["used"]), joined)
    assert reasons(exact, "memory") == {}
    tight = assemble(replace(plain, budget=whole["used"] - 1), joined)
    assert reasons(tight, "memory") == {"m2": "recount"}


def cliff(limit: int) -> Counter:
    """A counter that charges a fortune for any text with more than so many line ends."""
    return lambda text: len(text) // 4 + (10_000 if text.count("\n") > limit else 0)


def test_a_counter_no_text_satisfies_ends_in_an_error_and_not_in_a_loop() -> None:
    turns = [turn(n, f"question {n}", f"answer {n}", count=cliff(99)) for n in range(1, 1_500)]
    core = [
        item(f"m{n}", "memory", "- core", count=cliff(99), placement=Placement.PROFILE)
        for n in range(5)
    ]
    facts = [item(f"r{n}", "graph", "fact", count=cliff(99)) for n in range(50)]
    plain = specification(*turns, *core, *facts, policy=policy("", ceilings(6)))
    with pytest.raises(BudgetError):
        assemble(plain, cliff(3))
    # Where the bare prompt is within the cliff, it is what is sent.
    bare = assemble(plain, cliff(7))
    assert [block.name for block in bare.blocks if block.lifetime != "L4"] == ["identity"]


def test_a_window_cut_to_pieces_by_joining_still_persists_a_consistent_cut() -> None:
    turns = [turn(n, f"question {n} " * 20, f"answer {n}", count=nasty) for n in range(1, 40)]
    plain = specification(*turns, policy=policy("", ceilings(6)), budget=1_500)
    context = assemble(plain, nasty)
    cut = context.cut
    assert cut is not None
    told = list(cut.turns)
    kept = window(context)
    fallen = [id for id, reason in reasons(context, "conversation").items() if reason == "budget"]
    assert told + fallen + kept == [t.id for t in turns]
    assert cut.upto_sequence == len(told)
    if cut.summary:
        assert f"{cut.summary}\n" in context.text


def test_framing_follows_the_room_alone() -> None:
    turns = conversation(4)
    grid = policy().window
    assert frame(turns[:2], 500, grid) == frame(turns, 500, grid)[:2]

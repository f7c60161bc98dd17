"""What a new statement does to what is held: the pure decision, and what holds of it always."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lila_app.memory.model import Cue
from lila_app.memory.supersession import Decision, Held, Statement, Verdict, contradicts, decide

START = date(2026, 1, 1)


def stated(
    value: str = "porto",
    day: int = 10,
    *,
    hour: int = 12,
    many: bool = False,
    negated: bool = False,
    kind: str = "durable",
    source: str = "",
    cue: Cue = "",
    explicit: bool = False,
    since: int | None = None,
    until: int | None = None,
) -> Statement:
    on = START + timedelta(day)
    return Statement(
        value=value,
        negated=negated,
        many=many,
        kind=kind,
        at=f"{on.isoformat()}T{hour:02}:00:00+00:00",
        day=on,
        source=source,
        cue=cue,
        explicit=explicit,
        valid_from=None if since is None else START + timedelta(since),
        valid_to=None if until is None else START + timedelta(until),
    )


def held(statement: Statement, id: str = "f1") -> Held:
    return Held(id, statement)


LISBON = stated("lisbon", 0)


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (stated(), LISBON, [Verdict("f1", "close", "later", START + timedelta(10))]),
        (stated(since=7), LISBON, [Verdict("f1", "close", "later", START + timedelta(7))]),
        (stated(day=0, hour=13), LISBON, [Verdict("f1", "conflict")]),
        (stated(day=0, hour=13, cue="update"), LISBON, [Verdict("f1", "close", "update", START)]),
        (
            stated(day=0, hour=13, cue="correction"),
            LISBON,
            [Verdict("f1", "correct", "correction", START)],
        ),
        (
            stated(day=0, hour=13, explicit=True),
            LISBON,
            [Verdict("f1", "close", "explicit", START)],
        ),
        (stated(day=0, explicit=True), LISBON, [Verdict("f1", "conflict")]),
        (stated(source="Nora"), LISBON, [Verdict("f1", "conflict")]),
        (stated(many=True), stated("lisbon", 0, many=True), []),
        (stated(kind="event"), stated("lisbon", 0, kind="event"), []),
        (stated(cue="ended", value="rome"), LISBON, []),
        (
            stated(cue="ended", value="lisbon"),
            LISBON,
            [Verdict("f1", "close", "ended", START + timedelta(10))],
        ),
        (
            stated(cue="ended", value=""),
            LISBON,
            [Verdict("f1", "close", "ended", START + timedelta(10))],
        ),
        (
            stated("lisbon", negated=True),
            LISBON,
            [Verdict("f1", "close", "negated", START + timedelta(10))],
        ),
        (stated("rome", negated=True), LISBON, []),
        (stated("lisbon", 0, hour=14, negated=True), LISBON, [Verdict("f1", "conflict")]),
        (stated(since=40), LISBON, [Verdict("f1", "bound", "later", START + timedelta(40))]),
        (stated(since=-900, until=-400), stated("lisbon", 0, since=-100), []),
    ],
)
def test_what_becomes_of_what_is_held(
    new: Statement, old: Statement, expected: list[Verdict]
) -> None:
    decision = decide(new, [held(old)])
    assert list(decision.verdicts) == expected
    assert decision.add


def test_what_is_said_again_is_the_same_fact() -> None:
    assert decide(stated(), [held(stated(day=2))]) == Decision(
        (Verdict("f1", "same"),), add=False, same="f1"
    )


def test_a_run_on_another_day_is_another_run() -> None:
    run = {"kind": "event", "many": True}
    monday, friday = stated("5k", 0, since=0, **run), stated("5k", 4, since=4, **run)  # type: ignore[arg-type]
    assert decide(friday, [held(monday)]) == Decision((), add=True)


def test_an_older_statement_that_comes_in_late_was_followed_already() -> None:
    decision = decide(stated("rome", -30), [held(LISBON)])
    assert (decision.closed_by, decision.ends, decision.verdicts) == ("f1", START, ())


def test_saying_again_what_holds_ends_a_conflict_with_the_other() -> None:
    sides = [held(stated("lisbon", 0), "f1"), held(stated("porto", 0, hour=13), "f2")]
    decision = decide(stated("porto", 9), sides)
    assert decision.same == "f2"
    assert [(one.id, one.action) for one in decision.verdicts] == [("f2", "same"), ("f1", "close")]


def test_a_corrected_list_of_one_is_replaced_and_a_longer_one_is_not() -> None:
    ana, rui = stated("ana", 0, many=True), stated("rui", 0, many=True)
    new = stated("anna", 0, hour=15, many=True, cue="correction")
    assert [one.action for one in decide(new, [held(ana)]).verdicts] == ["correct"]
    assert decide(new, [held(ana, "f1"), held(rui, "f2")]).verdicts == ()


CUES: tuple[Cue, ...] = ("", "update", "correction", "ended")
statements = st.builds(
    stated,
    value=st.sampled_from(["a", "b", "c"]),
    day=st.integers(0, 6),
    hour=st.integers(0, 23),
    many=st.booleans(),
    negated=st.booleans(),
    kind=st.sampled_from(["durable", "preference", "plan", "event", "state", "chat"]),
    source=st.sampled_from(["", "Nora"]),
    cue=st.sampled_from(CUES),
    explicit=st.booleans(),
    since=st.none() | st.integers(-3, 9),
    until=st.none() | st.integers(-3, 9),
)
slots = st.lists(statements, max_size=4).map(
    lambda found: [held(one, f"f{place}") for place, one in enumerate(found, start=1)]
)


@given(statements, slots)
def test_nothing_closes_but_by_time_or_a_cue_from_the_same_source(
    new: Statement, slot: list[Held]
) -> None:
    by_id = {one.id: one.statement for one in slot}
    for verdict in decide(new, slot).verdicts:
        if verdict.action in ("close", "correct", "bound"):
            old = by_id[verdict.id]
            assert old.source == new.source
            assert old.at <= new.at
            assert new.cue or new.explicit or old.day < new.day
            assert verdict.why


@given(statements, slots)
def test_only_what_contradicts_is_touched_and_each_once(new: Statement, slot: list[Held]) -> None:
    decision = decide(new, slot)
    by_id = {one.id: one.statement for one in slot}
    touched = [one.id for one in decision.verdicts]
    assert len(touched) == len(set(touched))
    for verdict in decision.verdicts:
        if verdict.action == "conflict" and new.cue not in ("ended", "correction"):
            assert contradicts(new, by_id[verdict.id])
        if verdict.ends is not None and verdict.action != "correct":
            assert verdict.ends >= (by_id[verdict.id].valid_from or START)


@given(statements, statements)
def test_recurring_things_and_lists_retire_nothing(new: Statement, old: Statement) -> None:
    lists = new.many and new.cue not in ("correction", "ended")
    recurring = new.kind in ("event", "chat") and new.cue not in ("correction", "ended")
    if (lists or recurring) and not new.negated and not old.negated:
        decision = decide(new, [held(old)])
        assert {one.action for one in decision.verdicts} <= {"same"}
        assert decision.closed_by is None


@given(statements, slots)
def test_it_is_decided_the_same_each_time(new: Statement, slot: list[Held]) -> None:
    assert decide(new, slot) == decide(new, list(slot))


def test_who_is_only_named_in_passing_retires_nobody_and_both_are_offered() -> None:
    silva = replace(stated("dr silva"), passing=True)
    assert decide(silva, [held(LISBON)]).verdicts == (Verdict("f1", "conflict"),)
    again = replace(stated("lisbon"), passing=True)
    assert decide(again, [held(LISBON)]).same == "f1"
    new = replace(stated("dr silva", cue="update"), passing=True)
    assert decide(new, [held(LISBON)]).verdicts[0].action == "close"


def test_a_denial_of_anyone_is_over_when_there_is_somebody_again() -> None:
    nobody = stated("", 5, negated=True)
    assert contradicts(stated("tom"), nobody)
    assert decide(stated("tom"), [held(nobody)]).verdicts[0].action == "close"
    assert decide(stated("", cue="ended", negated=True), [held(LISBON)]).verdicts[0].why == "ended"


def test_what_is_over_and_said_to_be_over_again_is_one_fact() -> None:
    over = stated("lisbon", 5, negated=True)
    decision = decide(stated("lisbon", cue="ended"), [held(over)])
    assert (decision.same, decision.add) == ("f1", False)

"""The record: a whole account of one assembly, recomputed by a naive second implementation."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import ValidationError

from lila_app.context import (
    Context,
    Deadline,
    ModelLimits,
    Placement,
    Specification,
    Summary,
    ToolExchange,
    assemble,
    from_inputs,
    policy_hash,
    to_inputs,
)
from lila_app.context.policy import LayerPolicy
from lila_app.errors import BudgetError
from tests.context.invariants import candidates, check_everything, replayed, schema
from tests.context.naive import assemble_naively
from tests.context.strategies import specifications
from tests.context.support import cl100k, item, policy, specification, turn


def standing(specification: Specification, context: Context) -> dict[str, int]:
    """The tokens of the standing items that are in the prompt."""
    tokens = {e["id"]: e["tokens"] for row in context.record["layers"] for e in row["items"]}
    return {
        item.id: tokens[item.id]
        for item in candidates(specification)
        if item.placement is not Placement.RECALLED and item.id in tokens
    }


def dropped_standing(specification: Specification, context: Context) -> bool:
    ids = {
        item.id
        for item in candidates(specification)
        if item.placement in (Placement.TURN, Placement.PROFILE)
    }
    return any(
        entry["id"] in ids and entry["reason"] in ("budget", "compressed")
        for entry in context.record["dropped_items"]
    )


def test_a_naive_second_implementation_grants_takes_and_drops_the_same() -> None:
    compared: list[int] = []

    @settings(max_examples=100)
    @given(specifications(len, most=25), st.integers(500, 20_000))
    def run(specification: Specification, budget: int) -> None:
        plain = replace(specification, budget=budget, limits=ModelLimits(10**6, 10**6))
        try:
            context = assemble(plain, len)
        except BudgetError:
            return
        if context.cut or dropped_standing(plain, context):
            return
        budget_row = context.record["token_budget"]
        naive = assemble_naively(plain, standing(plain, context), budget_row["limit"])
        forms = {
            (layer["name"], entry["id"]): entry["variant"]
            for layer in context.record["layers"]
            for entry in layer["items"]
            if entry["id"] not in standing(plain, context)
        }
        reasons = {
            (entry["layer"], entry["id"]): entry["reason"]
            for entry in context.record["dropped_items"]
        }
        # What did not fit the profile pack is not L4's to say.
        packed = {key: why for key, why in reasons.items() if key not in naive.reasons}
        assert set(packed.values()) <= {"layer_cap"}
        assert reasons == packed | naive.reasons
        assert budget_row["available"] == naive.available
        assert {row["name"]: row["granted"] for row in context.record["layers"]} == naive.granted
        assert forms == naive.forms
        weights = {share.name: share.ratio for share in shares(plain)}
        total = sum(weights.values())
        for row in context.record["layers"]:
            share = naive.available * weights[row["name"]] // total if total else 0
            assert row["nominal"] == share
        compared.append(len(forms))

    run()
    assert len(compared) > 40
    assert sum(compared) > 100


def shares(specification: Specification) -> tuple[LayerPolicy, ...]:
    row = specification.policy.use_case(specification.use_case)
    assert row is not None
    return row.layers


def full() -> Specification:
    count = cl100k()
    return specification(
        item("m1", "memory", "- likes tea", count=count, placement=Placement.PROFILE),
        turn(5, count=count),
        item("m2", "memory", "The shed is in Zeist.", count=count, external_ids=("x1",)),
        item("m3", "memory", "The shed is red.", count=count, external_ids=("x2", "x3")),
        item("r1", "graph", "Anna owns the shed.", count=count, score=10),
        item("d1.2", "rag", "Paint needs a dry day. 🎨", count=count),
        record_id="c77",
        parent_record_id="c76",
    )


def test_a_record_says_what_each_layer_was_asked_given_and_refused() -> None:
    record = assemble(full(), cl100k()).record
    assert record["meta"] == {
        "record_id": "c77",
        "parent_record_id": "c76",
        "session_id": "s1",
        "profile": "default",
        "at": "2026-11-30T12:58:33+01:00",
        "use_case": "chat",
        "strategy": "layered",
        "epoch": 1,
    }
    assert record["policy_hash"] == policy_hash(policy())
    assert record["query"]["rag"] == "query for rag"
    assert [layer["priority"] for layer in record["layers"]] == [1, 2, 3, 4, 5]
    memory = record["layers"][2]
    assert memory["ms"] == 3
    assert [entry.get("external_id") for entry in memory["items"]] == [None, "x1", None]
    assert memory["items"][2]["external_ids"] == ["x2", "x3"]
    assert record["dropped_items"] == [
        {
            "id": "r1",
            "layer": "graph",
            "reason": "below_floor",
            "source": "source of r1",
            "tokens": cl100k()("Anna owns the shed.\n"),
        }
    ]
    schema().validate(record)


def test_the_schema_refuses_a_record_with_anything_missing_added_or_of_another_kind() -> None:
    record = assemble(full(), cl100k()).record
    for key in record:
        with pytest.raises(ValidationError):
            schema().validate({name: value for name, value in record.items() if name != key})
    wrong = json.loads(json.dumps(record))
    wrong["dropped_items"][0]["reason"] = "because"
    with pytest.raises(ValidationError):
        schema().validate(wrong)
    with pytest.raises(ValidationError):
        schema().validate({**record, "extra": 1})


def test_a_stored_specification_replays_to_the_same_bytes_and_the_same_record() -> None:
    plain = replace(
        full(),
        summary=Summary(4, "- They said: The shed leaks."),
        tools=('{"name":"search"}',),
        exchanges=(ToolExchange("c1", "search", "{}", "found"),),
        persona="You are Ada.",
    )
    first, again = assemble(plain, cl100k()), replayed(plain, cl100k())
    assert again.text == first.text
    assert again.blocks == first.blocks
    assert again.breakpoints == first.breakpoints
    assert json.dumps(again.record) == json.dumps(first.record)
    stored = json.loads(json.dumps(to_inputs(plain)))
    assert from_inputs(stored, plain.policy) == plain


def test_under_another_policy_the_bytes_or_at_least_the_policy_hash_differ() -> None:
    plain = full()
    other = replace(plain, policy=policy("[chat]\nreply_reserve = 1_001\n"))
    first, second = assemble(plain, cl100k()), assemble(other, cl100k())
    assert first.text == second.text
    assert first.record["policy_hash"] != second.record["policy_hash"]


def test_time_spent_and_who_answered_are_recorded_and_never_change_the_bytes() -> None:
    plain = full()
    slower = replace(
        plain, answers=tuple(replace(answer, ms=400) for answer in reversed(plain.answers))
    )
    first, second = assemble(plain, cl100k()), assemble(slower, cl100k())
    assert first.text == second.text
    assert {layer["ms"] for layer in second.record["layers"]} == {400}
    assert list(first.record["query"]) == list(second.record["query"])
    late = replace(plain, deadline=Deadline(400, ("rag", "session"), ("memory", "graph")))
    assert assemble(late, cl100k()).record["deadline"] == {
        "ms": 400,
        "answered": ["session", "rag"],
        "missed": ["memory", "graph"],
    }


def test_lone_surrogates_and_marks_survive_the_store() -> None:
    count = cl100k()
    plain = specification(
        item("m1", "memory", "half \ud83d a pair\r\n\x00", count=count),
        turn="\ufeff\udfff e\u0301 <|endoftext|>",
    )
    context = assemble(plain, count)
    assert replayed(plain, count).bytes_sha256 == context.bytes_sha256
    check_everything(plain, context, count)

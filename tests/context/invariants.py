"""What must hold of every assembly, worked out a second time from the parts and the record."""

from __future__ import annotations

import hashlib
import json
from collections import Counter as Multiset
from functools import lru_cache

from jsonschema import Draft202012Validator

from lila_app.context import (
    Context,
    Counter,
    Item,
    Placement,
    Specification,
    assemble,
    from_inputs,
    from_snapshot,
    snapshot,
    to_inputs,
)
from tests.context.support import HERE

REASONS = {
    *("budget", "layer_cap", "duplicate", "superseded", "below_floor"),
    *("deadline", "privacy", "compressed", "recount"),
}


@lru_cache(maxsize=1)
def schema() -> Draft202012Validator:
    text = (HERE.parents[1] / "assets" / "schemas" / "context-record.json").read_text("utf-8")
    Draft202012Validator.check_schema(json.loads(text))
    return Draft202012Validator(json.loads(text))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def candidates(specification: Specification) -> list[Item]:
    return [item for answer in specification.answers for item in answer.items]


def check_everything(specification: Specification, context: Context, count: Counter) -> None:
    schema().validate(json.loads(json.dumps(context.record)))
    check_bytes(context)
    check_sums(context, count)
    check_candidates(specification, context)
    check_caps(specification, context)
    check_pins(specification, context)
    check_maximality(specification, context)


def check_bytes(context: Context) -> None:
    text = context.text
    assert text == "".join(block.text for block in context.blocks)
    assert context.bytes_sha256 == context.record["bytes_sha256"] == sha(text)
    assert [block["hash"] for block in context.record["blocks"]] == [
        sha(block.text) for block in context.blocks
    ]
    assert [point["sha256"] for point in context.record["prefix_sha256"]] == [
        sha(text[: point.end]) for point in context.breakpoints
    ]
    lifetimes = [block.lifetime for block in context.blocks]
    assert lifetimes == sorted(lifetimes)


def check_sums(context: Context, count: Counter) -> None:
    budget = context.record["token_budget"]
    assert budget["used"] == count(context.text) <= budget["limit"]
    assert budget["used"] + budget["remaining"] == budget["limit"]
    layers = sum(layer["tokens"] for layer in context.record["layers"])
    assert layers + budget["fixed"] + budget["join_delta"] == budget["used"]
    assert sum(block["tokens"] for block in context.record["blocks"]) == layers + budget["fixed"]
    for layer in context.record["layers"]:
        inside = sum(item["tokens"] for item in layer["items"])
        assert layer["tokens"] == inside or layer["name"] == "conversation"  # the summary
        assert layer["tokens"] >= inside
        assert layer["returned"] == max(0, layer["nominal"] - layer["tokens"])
        assert layer["borrowed"] == max(0, layer["tokens"] - layer["nominal"])


def check_candidates(specification: Specification, context: Context) -> None:
    offered = Multiset((item.layer, item.id) for item in candidates(specification))
    included = Multiset(
        (layer["name"], item["id"]) for layer in context.record["layers"] for item in layer["items"]
    )
    dropped = Multiset((entry["layer"], entry["id"]) for entry in context.record["dropped_items"])
    assert offered == included + dropped
    assert {entry["reason"] for entry in context.record["dropped_items"]} <= REASONS


def check_caps(specification: Specification, context: Context) -> None:
    row = specification.policy.use_case(specification.use_case)
    assert row is not None
    for layer in context.record["layers"]:
        share = row.layer(layer["name"])
        assert layer["cap"] == share.cap
        if layer["name"] != "conversation":
            assert layer["tokens"] <= share.cap
        if share.ratio == 0:
            assert layer["tokens"] == layer["granted"] == layer["nominal"] == 0
            assert layer["items"] == []
    for block in context.blocks:
        ceiling = specification.policy.block(block.name).ceiling
        assert not ceiling or block.tokens <= ceiling


def check_pins(specification: Specification, context: Context) -> None:
    dropped = {
        (entry["layer"], entry["id"]): entry["reason"] for entry in context.record["dropped_items"]
    }
    row = specification.policy.use_case(specification.use_case)
    assert row is not None
    for item in candidates(specification):
        if item.pinned and row.layer(item.layer).ratio:
            reason = dropped.get((item.layer, item.id))
            assert reason in (None, "privacy", "superseded", "duplicate", "deadline")


def check_maximality(specification: Specification, context: Context) -> None:
    """Nothing recalled that was dropped for room would fit into what was left of it."""
    layers = {layer["name"]: layer for layer in context.record["layers"]}
    available = context.record["token_budget"]["available"]
    left = available - sum(layer["tokens"] for layer in layers.values())
    offered = {(item.layer, item.id): item for item in candidates(specification)}
    reasons = [entry["reason"] for entry in context.record["dropped_items"]]
    for entry in context.record["dropped_items"]:
        item = offered[(entry["layer"], entry["id"])]
        layer = layers[item.layer]
        smallest = min(variant.tokens for variant in item.variants)
        if item.placement is not Placement.RECALLED or "recount" in reasons:
            continue
        if entry["reason"] == "budget":
            assert smallest > left
            assert smallest <= layer["cap"] - layer["tokens"]
        if entry["reason"] == "layer_cap" and layer["cap"]:
            assert smallest > layer["cap"] - layer["tokens"]


def replayed(specification: Specification, count: Counter) -> Context:
    """Assembled again from what would be stored: JSON of the inputs, and the policy's snapshot."""
    stored = json.loads(json.dumps(to_inputs(specification)))
    policy = from_snapshot(json.loads(json.dumps(snapshot(specification.policy))))
    return assemble(from_inputs(stored, policy), count)

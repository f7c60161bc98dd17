"""What differs between two context records, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]


def compare(one: Record, other: Record) -> tuple[str, ...]:
    """One line for each difference, from the whole to the parts; empty for equal records."""
    return (*_whole(one, other), *_budget(one, other), *_blocks(one, other), *_items(one, other))


def _whole(one: Record, other: Record) -> tuple[str, ...]:
    lines = [
        f"{key} {_short(one[key])} → {_short(other[key])}"
        for key in ("code_version", "policy_hash", "tokenizer", "bytes_sha256", "limits")
        if one[key] != other[key]
    ]
    lines += [
        f"{key} {one['meta'][key]} → {other['meta'][key]}"
        for key in ("use_case", "epoch")
        if one["meta"][key] != other["meta"][key]
    ]
    for layer in sorted({*one["query"], *other["query"]}):
        before, after = one["query"].get(layer, ""), other["query"].get(layer, "")
        if before != after:
            lines.append(f"query of {layer}: {before!r} → {after!r}")
    return tuple(lines)


def _budget(one: Record, other: Record) -> tuple[str, ...]:
    lines = [
        f"{key} {one['token_budget'][key]} → {other['token_budget'][key]} tokens"
        for key in ("limit", "used")
        if one["token_budget"][key] != other["token_budget"][key]
    ]
    layers = {layer["name"]: layer for layer in other["layers"]}
    for layer in one["layers"]:
        after = layers.get(layer["name"])
        changed = [
            f"{key} {layer[key]} → {after[key]}"
            for key in ("nominal", "cap", "granted", "tokens")
            if after is not None and layer[key] != after[key]
        ]
        if changed:
            lines.append(f"layer {layer['name']}: {', '.join(changed)}")
    return tuple(lines)


def _blocks(one: Record, other: Record) -> tuple[str, ...]:
    before = {block["name"]: block for block in one["blocks"]}
    after = {block["name"]: block for block in other["blocks"]}
    lines = [
        f"block {before[name]['lifetime']}.{name} is gone" for name in before if name not in after
    ]
    lines += [
        f"block {after[name]['lifetime']}.{name} is new" for name in after if name not in before
    ]
    lines += [
        f"block {block['lifetime']}.{name}: {_short(block['hash'])} → {_short(after[name]['hash'])}"
        for name, block in before.items()
        if name in after and block["hash"] != after[name]["hash"]
    ]
    return tuple(lines)


def _items(one: Record, other: Record) -> tuple[str, ...]:
    before, after = _included(one), _included(other)
    lines = [f"{id} ({layer}) is no longer in" for id, layer in before.items() if id not in after]
    lines += [f"{id} ({layer}) is in now" for id, layer in after.items() if id not in before]
    reasons = {item["id"]: item["reason"] for item in one["dropped_items"]}
    lines += [
        f"{item['id']} ({item['layer']}) dropped for {item['reason']}"
        + (f", before for {reasons[item['id']]}" if item["id"] in reasons else "")
        for item in other["dropped_items"]
        if reasons.get(item["id"]) != item["reason"]
    ]
    return tuple(lines)


def _included(record: Record) -> dict[str, str]:
    return {item["id"]: layer["name"] for layer in record["layers"] for item in layer["items"]}


def _short(value: object) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) > 40 else text

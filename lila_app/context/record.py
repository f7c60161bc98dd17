"""The context record: what each layer was asked, given and refused, and the hashes of the result.

The form is fixed by assets/schemas/context-record.json (JSON Schema 2020-12).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lila_app.context.blocks import Block, Breakpoint
from lila_app.context.items import Item, LayerAnswer
from lila_app.context.policy import LayerPolicy, UseCase, policy_hash
from lila_app.context.recall import Chosen
from lila_app.context.screen import Dropped
from lila_app.context.specification import Specification

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an assembly arrived at, before it is put on record.

    `available` are the tokens the layers share: the limit less the fixed parts and what opens the
    blocks of all that compete; `held` the standing tokens by layer, `granted` the tokens capped
    D'Hondt gave it.
    """

    limit: int
    available: int
    used: int
    blocks: tuple[Block, ...]
    breakpoints: tuple[Breakpoint, ...]
    bytes_sha256: str
    dropped: tuple[Dropped, ...]
    included: tuple[Chosen, ...]
    held: Mapping[str, int]
    granted: Mapping[str, int]


def make_record(specification: Specification, row: UseCase, outcome: Outcome) -> dict[str, Any]:
    """The record of one assembly, as JSON values."""
    answers = {answer.layer: answer for answer in specification.answers}
    names = [share.name for share in row.layers]
    layers = [
        _layer(priority, share, row, outcome, answers.get(share.name))
        for priority, share in enumerate(row.layers, 1)
    ]
    fixed = sum(block.tokens for block in outcome.blocks) - sum(row["tokens"] for row in layers)
    parts = sum(layer["tokens"] for layer in layers) + fixed
    return {
        "schema_version": SCHEMA_VERSION,
        "meta": {
            "record_id": specification.record_id,
            "parent_record_id": specification.parent_record_id,
            "session_id": specification.session_id,
            "profile": specification.profile,
            "at": specification.now,
            "use_case": specification.use_case,
            "strategy": "layered",
            "epoch": specification.epoch,
        },
        "code_version": specification.code_version,
        "policy_hash": policy_hash(specification.policy),
        "tokenizer": specification.tokenizer,
        "limits": asdict(specification.limits),
        "query": {name: answers[name].query for name in names if name in answers},
        "token_budget": {
            "limit": outcome.limit,
            "used": outcome.used,
            "remaining": outcome.limit - outcome.used,
            "fixed": fixed,
            "available": outcome.available,
            "join_delta": outcome.used - parts,
        },
        "layers": layers,
        "dropped_items": [_dropped(entry) for entry in outcome.dropped],
        "blocks": [
            {
                "name": block.name,
                "lifetime": str(block.lifetime),
                "tokens": block.tokens,
                "hash": block.sha256,
            }
            for block in outcome.blocks
        ],
        "prefix_sha256": [
            {"after": point.after, "sha256": point.prefix_sha256} for point in outcome.breakpoints
        ],
        "bytes_sha256": outcome.bytes_sha256,
        "deadline": {
            "ms": specification.deadline.ms,
            "answered": [name for name in names if name in specification.deadline.answered],
            "missed": [name for name in names if name in specification.deadline.missed],
        },
    }


def _layer(
    priority: int,
    share: LayerPolicy,
    row: UseCase,
    outcome: Outcome,
    answer: LayerAnswer | None,
) -> dict[str, Any]:
    mine = [chosen for chosen in outcome.included if chosen.item.layer == share.name]
    tokens = sum(chosen.variant.tokens for chosen in mine)
    if share.name == "conversation":
        tokens = outcome.held[share.name]  # the summary is its, and is not an item
    total = sum(other.ratio for other in row.layers)
    nominal = outcome.available * share.ratio // total if total else 0
    return {
        "name": share.name,
        "priority": priority,
        "nominal": nominal,
        "cap": share.cap,
        "granted": outcome.granted[share.name],
        "returned": max(0, nominal - tokens),
        "borrowed": max(0, tokens - nominal),
        "tokens": tokens,
        "ms": answer.ms if answer else 0,
        "source": answer.source if answer else "",
        "items": [
            {
                "id": chosen.item.id,
                **_external(chosen.item),
                "tokens": chosen.variant.tokens,
                "hash": chosen.item.digest,
                "score": chosen.item.score,
                "variant": chosen.variant.name,
            }
            for chosen in mine
        ],
    }


def _external(item: Item) -> dict[str, Any]:
    match item.external_ids:
        case ():
            return {}
        case (one,):
            return {"external_id": one}
        case many:
            return {"external_ids": list(many)}


def _dropped(entry: Dropped) -> dict[str, Any]:
    return {
        "id": entry.item.id,
        "layer": entry.item.layer,
        "reason": str(entry.reason),
        "source": entry.item.source,
        "tokens": entry.item.variants[0].tokens,
    }

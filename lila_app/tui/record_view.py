"""A context record read into what the panel shows.

The record is JSON (`assets/schemas/context-record.json`). Reading is forgiving: an older record
that lacks a field shows a nought or nothing there; it never keeps the panel from opening.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

MEASURES = ("nominal", "cap", "granted", "returned", "borrowed", "used", "ms")
"""What the panel says of each layer, in this order; `used` is the record's `tokens`."""


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item the model saw (`reason` empty) or did not see."""

    id: str
    layer: str
    tokens: int
    score: int
    variant: str
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LayerView:
    """One layer: its `MEASURES`, what it was asked, and the items it gave."""

    name: str
    measures: tuple[int, ...]
    query: str
    items: tuple[ItemView, ...]

    @property
    def shares(self) -> bool:
        """Whether the use case lets it have any tokens."""
        return any(self.measures[MEASURES.index(one)] for one in ("cap", "granted"))


@dataclass(frozen=True, slots=True)
class BlockView:
    """One block of the prompt with its hash."""

    name: str
    lifetime: str
    tokens: int
    hash: str


@dataclass(frozen=True, slots=True)
class PrefixView:
    """The prompt up to a breakpoint: after which block it lies, and the hash so far."""

    after: str
    hash: str


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record; `erased` says why hashes are gone when something in it was forgotten."""

    id: str
    use_case: str
    at: str
    epoch: int
    limit: int
    used: int
    remaining: int
    fixed: int
    join_delta: int
    layers: tuple[LayerView, ...]
    dropped: tuple[ItemView, ...]
    blocks: tuple[BlockView, ...]
    prefixes: tuple[PrefixView, ...]
    bytes_sha256: str
    missed: tuple[str, ...]
    policy_hash: str
    erased: str


def read_record(record: Mapping[str, object]) -> RecordView:
    """The record as the panel shows it."""
    meta = _mapping(record.get("meta"))
    budget = _mapping(record.get("token_budget"))
    queries = _mapping(record.get("query"))
    return RecordView(
        id=_text(meta.get("record_id")),
        use_case=_text(meta.get("use_case")),
        at=_text(meta.get("at")),
        epoch=_number(meta.get("epoch")),
        limit=_number(budget.get("limit")),
        used=_number(budget.get("used")),
        remaining=_number(budget.get("remaining")),
        fixed=_number(budget.get("fixed")),
        join_delta=_number(budget.get("join_delta")),
        layers=tuple(_layer(one, queries) for one in _mappings(record.get("layers"))),
        dropped=tuple(_item(one, "") for one in _mappings(record.get("dropped_items"))),
        blocks=tuple(_block(one) for one in _mappings(record.get("blocks"))),
        prefixes=tuple(
            PrefixView(_text(one.get("after")), _text(one.get("sha256")))
            for one in _mappings(record.get("prefix_sha256"))
        ),
        bytes_sha256=_text(record.get("bytes_sha256")),
        missed=tuple(_text(one) for one in _list(_mapping(record.get("deadline")).get("missed"))),
        policy_hash=_text(record.get("policy_hash")),
        erased=_text(record.get("erased")),
    )


def _layer(layer: Mapping[str, object], queries: Mapping[str, object]) -> LayerView:
    name = _text(layer.get("name"))
    return LayerView(
        name=name,
        measures=tuple(
            _number(layer.get("tokens" if measure == "used" else measure)) for measure in MEASURES
        ),
        query=_text(queries.get(name)),
        items=tuple(_item(one, name) for one in _mappings(layer.get("items"))),
    )


def _item(item: Mapping[str, object], layer: str) -> ItemView:
    return ItemView(
        id=_text(item.get("id")),
        layer=_text(item.get("layer")) or layer,
        tokens=_number(item.get("tokens")),
        score=_number(item.get("score")),
        variant=_text(item.get("variant")),
        source=_text(item.get("source")),
        reason=_text(item.get("reason")),
    )


def _block(block: Mapping[str, object]) -> BlockView:
    return BlockView(
        name=_text(block.get("name")),
        lifetime=_text(block.get("lifetime")),
        tokens=_number(block.get("tokens")),
        hash=_text(block.get("hash")),
    )


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        return {}
    return cast("Mapping[str, object]", value)


def _list(value: object) -> list[object]:
    if not isinstance(value, (list, tuple)):
        return []
    return list(cast("list[object]", value))


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [found for found in (_mapping(one) for one in _list(value)) if found]


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0

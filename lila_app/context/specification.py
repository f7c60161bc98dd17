"""Everything an assembly depends on, as one frozen value that can be stored and read back.

What is not in here (and in the counter) cannot influence the bytes. The policy is stored once
under its hash, so it is not part of the stored form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lila_app.context.items import Forms, Item, LayerAnswer, ModelLimits, Placement, Variant
from lila_app.context.policy import Policy

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class Summary:
    """What earlier cuts left of this session: every turn up to `upto_sequence`."""

    upto_sequence: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """One tool call of this turn and its result; `arguments` is canonical JSON.

    `step` counts the model's answers of this turn that asked for tools, from 1; `said` is what it
    wrote before the first call of its step. `failed` says that the tool did not do what was asked.
    """

    id: str
    name: str
    arguments: str
    result: str
    step: int = 0
    said: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Deadline:
    """How long layers were given (None: no deadline), and which answered in time."""

    ms: int | None
    answered: tuple[str, ...]
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Specification:
    """The inputs of one assembly.

    `now` is ISO 8601 with zone in the person's own zone, whose name is `zone`. `budget` replaces
    the use case's. `persona` replaces the identity prompt. `tools` are canonical JSON, sorted by
    name. `tokenizer` names the counter.
    """

    record_id: str
    session_id: str | None
    profile: str
    use_case: str
    epoch: int
    now: str
    zone: str
    turn: str
    policy: Policy
    limits: ModelLimits
    answers: tuple[LayerAnswer, ...]
    summary: Summary | None
    deadline: Deadline
    tokenizer: str
    code_version: str
    budget: int | None = None
    persona: str | None = None
    parent_record_id: str | None = None
    tools: tuple[str, ...] = ()
    exchanges: tuple[ToolExchange, ...] = ()


def to_inputs(specification: Specification) -> dict[str, Any]:
    """The stored form: plain JSON values, without the policy.

    Of an item it holds the forms that were looked at, in this assembly or another one: all that
    the same assembly can look at again, and half the bytes.
    """
    plain = _shallow(specification)
    del plain["policy"]
    plain["limits"] = _shallow(specification.limits)
    plain["answers"] = [_plain_answer(answer) for answer in specification.answers]
    plain["summary"] = _shallow(specification.summary) if specification.summary else None
    plain["deadline"] = _shallow(specification.deadline)
    plain["exchanges"] = [_shallow(exchange) for exchange in specification.exchanges]
    return plain


def _plain_answer(answer: LayerAnswer) -> dict[str, Any]:
    items = [
        _shallow(item) | {"variants": [_shallow(variant) for variant in _made(item.variants)]}
        for item in answer.items
    ]
    return _shallow(answer) | {"items": items}


def _made(variants: Sequence[Variant]) -> Sequence[Variant]:
    return variants.made if isinstance(variants, Forms) else variants


def _shallow(value: DataclassInstance) -> dict[str, Any]:
    # dataclasses.asdict copies every value on the way and takes ten times as long.
    return {field: getattr(value, field) for field in value.__dataclass_fields__}


def from_inputs(inputs: Mapping[str, Any], policy: Policy) -> Specification:
    """The specification a stored form and its policy were made from."""
    data = dict(inputs)
    deadline = cast("Mapping[str, Any]", data["deadline"])
    data["limits"] = ModelLimits(**data["limits"])
    data["answers"] = tuple(_answer(answer) for answer in data["answers"])
    data["summary"] = Summary(**data["summary"]) if data["summary"] else None
    data["deadline"] = Deadline(
        deadline["ms"], tuple(deadline["answered"]), tuple(deadline["missed"])
    )
    data["tools"] = tuple(data["tools"])
    data["exchanges"] = tuple(ToolExchange(**entry) for entry in data["exchanges"])
    return Specification(policy=policy, **data)


def _answer(data: Mapping[str, Any]) -> LayerAnswer:
    values = dict(data)
    values["items"] = tuple(_item(item) for item in data["items"])
    return LayerAnswer(**values)


def _item(data: Mapping[str, Any]) -> Item:
    values = dict(data)
    values["placement"] = Placement(data["placement"])
    values["variants"] = tuple(Variant(**variant) for variant in data["variants"])
    values["external_ids"] = tuple(data["external_ids"])
    return Item(**values)

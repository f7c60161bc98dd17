"""The declared table, as frozen data: what each use case may spend, and how a prompt is laid out.

`lila_app.context.parse` makes a `Policy` from text. A policy is part of what a record replays
from, so it goes to canonical JSON (`snapshot`), comes back (`from_snapshot`) and has a hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

LAYERS = ("session", "conversation", "memory", "graph", "rag")
"""The five kinds of knowing; a policy declares their order, never their number."""

TOTAL_RATIO = 10_000
"""Ratios are integer basis points: floats lose tokens (`int(0.29 * 100)` is 28)."""


class Lifetime(StrEnum):
    """How long a block's bytes stand still."""

    L0 = "L0"
    """Tools and output schemas: changes with a release."""
    L1 = "L1"
    """Identity and hard rules: changes with the policy or the persona."""
    L2 = "L2"
    """The profile pack: once per epoch."""
    L3 = "L3"
    """The session: goals, summary, the conversation, append-only between cuts."""
    L4 = "L4"
    """The turn: recalled material, clock, closing instruction, the person's words."""
    L5 = "L5"
    """This turn's tool calls and results."""


@dataclass(frozen=True, slots=True)
class LayerPolicy:
    """One layer's share in one use case: `ratio` in basis points, `cap` in tokens."""

    name: str
    ratio: int
    cap: int
    floor: int


FORMER_PAST = 16
"""Earlier turns that were offered before a use case could say how many."""


@dataclass(frozen=True, slots=True)
class UseCase:
    """One row of the table; `layers` stand in declared order. Tokens, and milliseconds.

    `past` is how many earlier turns may be offered; with `whole` each is one message of its own,
    never shortened, under a head of date and speaker alone. Where no model `answers`, none's
    limits hold and the budget is all there is.
    """

    name: str
    budget: int
    reply_reserve: int
    deadline_ms: int
    tools: tuple[str, ...]
    identity: str
    rules: str
    closing: str
    layers: tuple[LayerPolicy, ...]
    past: int = FORMER_PAST
    whole: bool = False
    answers: bool = True

    def layer(self, name: str) -> LayerPolicy:
        """The share of one layer."""
        return next(layer for layer in self.layers if layer.name == name)


@dataclass(frozen=True, slots=True)
class BlockPolicy:
    """One block of the prompt, in render order.

    `ceiling` is in tokens, heading and role line included; 0 means the layer's own share bounds
    it. `owner` says whose the block is; `heading` opens it when it has content.
    """

    name: str
    lifetime: Lifetime
    ceiling: int
    owner: str
    heading: str


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """The conversation's grid: cut in steps of `grid` tokens, never below `keep_turns` turns.

    `idle_minutes` is how long a working note lives untouched; `keep_results` how many tool results
    of a turn stay in full, fewer where their block's ceiling asks; the older ones are cleared.
    """

    grid: int
    keep_turns: int
    idle_minutes: int
    keep_results: int


@dataclass(frozen=True, slots=True)
class ToolsPolicy:
    """How far a turn may go with tools.

    `steps` is how many times the model may ask for them, `result_tokens` bounds each result, and
    `deadline_ms` is how long one may take, the person's own consent not counted.
    """

    steps: int
    result_tokens: int
    deadline_ms: int


FORMER_TOOLS = ToolsPolicy(steps=0, result_tokens=0, deadline_ms=0)
"""Of a snapshot from before there were tools to call."""


@dataclass(frozen=True, slots=True)
class QueryPolicy:
    """When a turn leans on what came before, what is searched includes what came before.

    Words of a turn's own are those in none of the four lists. A turn without any leans. One of at
    most `leaning_words` words leans when it holds one of `leaning`, or, having fewer than
    `topic_words` of its own, one of `faint` or an `opening`; one of at most `short_words` words
    leans when it has one of its own. `back` is how many turns are looked at for one with a topic.
    """

    short_words: int
    leaning_words: int
    leaning: tuple[str, ...]
    faint: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    topic_words: int = 0
    back: int = 1


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything declared that decides a prompt, prompts' texts included.

    `token_ratio` is the least ratio of a model's tokens to the declared tokenizer's that is
    believed, in basis points.
    """

    layers: tuple[str, ...]
    use_cases: tuple[UseCase, ...]
    blocks: tuple[BlockPolicy, ...]
    breakpoints: tuple[str, ...]
    window: WindowPolicy
    query: QueryPolicy
    tools: ToolsPolicy
    token_ratio: int
    prompts: tuple[tuple[str, str], ...]

    def use_case(self, name: str) -> UseCase | None:
        """The row of that name, or None."""
        return next((row for row in self.use_cases if row.name == name), None)

    def block(self, name: str) -> BlockPolicy:
        """The block of that name; the parser has made sure there is one."""
        return next(block for block in self.blocks if block.name == name)

    def prompt(self, name: str) -> str:
        """The text of a prompt; an empty name is no text."""
        return dict(self.prompts)[name] if name else ""


def snapshot(policy: Policy) -> str:
    """Canonical JSON: the same policy gives the same bytes."""
    return json.dumps(asdict(policy), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=16)
def policy_hash(policy: Policy) -> str:
    """SHA-256 of the snapshot, hexadecimal; remembered, because it costs a millisecond a turn."""
    return hashlib.sha256(snapshot(policy).encode()).hexdigest()


def from_snapshot(text: str) -> Policy:
    """The policy a snapshot was made from."""
    data = cast("Mapping[str, Any]", json.loads(text))
    return Policy(
        layers=tuple(data["layers"]),
        use_cases=tuple(_use_case(row) for row in data["use_cases"]),
        blocks=tuple(_block(block) for block in data["blocks"]),
        breakpoints=tuple(data["breakpoints"]),
        window=WindowPolicy(**data["window"]),
        query=_query(data["query"]),
        tools=ToolsPolicy(**data["tools"]) if "tools" in data else FORMER_TOOLS,
        token_ratio=data["token_ratio"],
        prompts=tuple((name, body) for name, body in data["prompts"]),
    )


def _block(row: Mapping[str, Any]) -> BlockPolicy:
    values = dict(row)
    values["lifetime"] = Lifetime(row["lifetime"])
    return BlockPolicy(**values)


def _query(row: Mapping[str, Any]) -> QueryPolicy:
    values = dict(row)
    for name in ("leaning", "faint", "opening", "empty"):
        values[name] = tuple(row.get(name, ()))
    return QueryPolicy(**values)


def _use_case(row: Mapping[str, Any]) -> UseCase:
    values = dict(row)
    values["tools"] = tuple(row["tools"])
    values["layers"] = tuple(LayerPolicy(**layer) for layer in row["layers"])
    return UseCase(**values)

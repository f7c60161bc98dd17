"""Builders for specifications, the counters they are tried with, and tables of their own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from lila_app.context import (
    Counter,
    Deadline,
    Item,
    LayerAnswer,
    ModelLimits,
    Placement,
    Policy,
    Source,
    Specification,
    Variant,
    exchange,
    parse_policy,
    recalled,
)
from lila_app.context.policy import LAYERS
from lila_app.embedding.tokens import load_counter

HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def cl100k() -> Counter:
    """The declared tokenizer."""
    return load_counter()


def quarters(text: str) -> int:
    """Additive only by accident, and 0 for short texts."""
    return len(text) // 4


def nasty(text: str) -> int:
    """Anything but additive: wholes cost more than their parts by a jump every 900 characters."""
    return len(text) // 3 + 40 * (len(text) // 900) + text.count("é")


COUNTERS: dict[str, Callable[[], Counter]] = {
    "cl100k": cl100k,
    "characters": lambda: len,
    "quarters": lambda: quarters,
    "nasty": lambda: nasty,
}


def table(name: str) -> Source:
    """The tests' own table: what they compute with stays when the shipped one is retuned."""
    return Source(f"{name}.toml", (HERE / "tables" / f"{name}.toml").read_text("utf-8"))


PROMPTS = {
    "identity": "You are LILA, the assistant of one person. Answer plainly and briefly, in their "
    "language. If you do not know, say so.\n",
    "closing": "Answer from the material above where it helps, and name your source. If it does "
    "not answer, say so.\n",
    "briefing": "You are LILA and write a morning briefing from the material given.\n",
    "voice": "You are LILA, a spoken assistant. You hear only this sentence.\n",
}


@lru_cache(maxsize=32)
def policy(allocation: str = "", blocks: str = "") -> Policy:
    """The tests' policy with a person's tables laid over it."""
    return parse_policy(
        [table("allocation"), Source("mine/allocation.toml", allocation)],
        [table("blocks"), Source("mine/blocks.toml", blocks)],
        PROMPTS,
    )


def ceilings(factor: int) -> str:
    """The table of blocks with other ceilings: characters are about four a token."""
    text = table("blocks").text
    return re.sub(
        r"ceiling = ([\d_]+)", lambda m: f"ceiling = {factor * int(m[1].replace('_', ''))}", text
    )


def clock_in_l1() -> str:
    """The layout with the clock above everything it makes uncacheable."""
    text = table("blocks").text
    clock = '[[block]]\nname = "clock"\nlifetime = "L4"\nceiling = 40\nowner = "the assembler"\n\n'
    assert clock in text
    identity = '[[block]]\nname = "identity"'
    return text.replace(clock, "").replace(identity, clock.replace("L4", "L1") + identity)


def sized(tokens: int, name: str, count: Counter) -> str:
    """A text that starts with `name`, of about so many tokens."""
    words = name
    while count(words + "\n") < tokens:
        words += " word" * max(1, (tokens - count(words + "\n")) // 2)
    return words


def item(
    id: str,
    layer: str,
    text: str | Sequence[str] = "",
    *,
    count: Counter = len,
    placement: Placement = Placement.RECALLED,
    score: int = 9_000,
    pinned: bool = False,
    **more: Any,
) -> Item:
    """A candidate; several texts are its variants, longest first."""
    texts = [text or f"fact {id}"] if isinstance(text, str) else text
    names = ("full", "half", "quarter", "stub")
    forms = tuple(recalled(name, form, count) for name, form in zip(names, texts, strict=False))
    return Item(
        id=id,
        layer=layer,
        placement=placement,
        variants=forms,
        score=score,
        source=f"source of {id}",
        digest=hashlib.sha256(id.encode()).hexdigest(),
        pinned=pinned,
        **more,
    )


def turn(number: int, user: str = "", reply: str = "", *, count: Counter = len) -> Item:
    """A turn of this session; `number` is its sequence."""
    form: Variant = exchange(
        "full", user or f"question {number}", reply or f"answer {number}", count
    )
    return Item(
        id=f"t{number}",
        layer="conversation",
        placement=Placement.TURN,
        variants=(form,),
        score=10_000,
        source="this session",
        digest=f"digest of {number}",
        sequence=number,
    )


def answers(*items: Item, missed: Sequence[str] = ()) -> tuple[LayerAnswer, ...]:
    """The items as the five layers would offer them."""
    return tuple(
        LayerAnswer(
            layer,
            f"query for {layer}",
            tuple(item for item in items if item.layer == layer),
            ms=3,
            answered=layer not in missed,
            source=f"table of {layer}",
        )
        for layer in LAYERS
    )


def specification(*items: Item, **changes: Any) -> Specification:
    """A chat turn over the tests' policy with these candidates."""
    plain = Specification(
        record_id="c1",
        session_id="s1",
        profile="default",
        use_case="chat",
        epoch=1,
        now="2026-11-30T12:58:33+01:00",
        zone="Europe/Berlin",
        turn="What did we decide about the garden?",
        policy=policy(),
        limits=ModelLimits(window=128_000, context_budget=128_000),
        answers=answers(*items),
        summary=None,
        deadline=Deadline(None, LAYERS, ()),
        tokenizer="characters",
        code_version="0.1.0",
    )
    return replace(plain, **changes)

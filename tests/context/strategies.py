"""Arbitrary candidates and limits for property tests."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from lila_app.context import Counter, Item, ModelLimits, Placement, Specification, exchange
from lila_app.context.items import Variant, recalled
from tests.context.support import answers, ceilings, policy, specification

GENEROUS = """
[wide]
budget = 200_000
reply_reserve = 100
deadline_ms = 400
tools = []
identity = "identity"
closing = "closing"
session = { ratio = 1_000, cap = 30_000, floor = 0 }
conversation = { ratio = 3_000, cap = 60_000, floor = 0 }
memory = { ratio = 2_500, cap = 50_000, floor = 2_000 }
graph = { ratio = 1_500, cap = 30_000, floor = 0 }
rag = { ratio = 2_000, cap = 60_000, floor = 0 }
"""
USE_CASES = ("chat", "briefing", "voice", "voice_continuity", "wide")

KINDS = {
    "goal": ("session", Placement.GOAL, "g"),
    "note": ("session", Placement.RECALLED, "n"),
    "turn": ("conversation", Placement.TURN, "t"),
    "core": ("memory", Placement.PROFILE, "m"),
    "memory": ("memory", Placement.RECALLED, "m"),
    "relation": ("graph", Placement.RECALLED, "r"),
    "chunk": ("rag", Placement.RECALLED, "d1."),
}

# Every code point, lone surrogates and line ends among them.
units = st.one_of(
    st.text(min_size=1, max_size=8),
    st.sampled_from(
        ["plain words ", "\n", " \n\n", "\r\n\t", "日本語の", "👩‍👩‍👧 ", "e\u0301", "<|user|>\n"]
    ),
)


def _candidate(random: Random, unit: str, count: Counter, number: int) -> Item:
    kind = random.choice(sorted(KINDS))
    layer, placement, letter = KINDS[kind]
    pinned = kind == "goal" or (kind != "turn" and random.random() < 0.05)
    # What is pinned is mostly short, or hardly anything would ever fit.
    times = random.choice((4, 12, 40, 120, 400)) if not pinned else random.choice((2, 4, 30))
    times = random.randint(1, times if random.random() < 0.95 else 5_000)
    variants = tuple(
        _variant(placement, name, unit * size, unit, count)
        for name, size in (("full", times), ("half", times // 2), ("quarter", times // 4))[
            : random.randint(1, 3)
        ]
        if size
    )
    return Item(
        id=f"{letter}{number}",
        layer=layer,
        placement=placement,
        variants=variants,
        score=random.randint(0, 10_000),
        source=kind,
        digest=f"{number:064x}",
        sequence=number,
        external_ids=("x", "y")[: random.choice((0, 0, 1, 2))],
        pinned=pinned,
        superseded=random.random() < 0.03,
        private=random.random() < 0.03,
    )


def _variant(placement: Placement, name: str, text: str, unit: str, count: Counter) -> Variant:
    if placement is Placement.TURN:
        return exchange(name, text, unit, count)
    return recalled(name, text, count)


@st.composite
def specifications(draw: st.DrawFn, count: Counter, most: int = 40) -> Specification:
    """Sizes come from a seed: drawn one by one they would nearly always be small."""
    random = Random(draw(st.integers(0, 2**32)))
    words = draw(st.lists(units, min_size=1, max_size=5))
    offered = [
        _candidate(random, random.choice(words), count, number + 1)
        for number in range(random.randint(0, most))
    ]
    limits = ModelLimits(
        window=random.choice((300_000, 300_000, 300_000, 16_000, 4_000, 800)),
        context_budget=random.choice((300_000, 300_000, 8_000, 2_000)),
        token_ratio=random.randint(9_000, 16_000),
    )
    return specification(
        use_case=random.choice(("chat", "wide", "chat", "wide", "briefing", *USE_CASES)),
        policy=policy(GENEROUS, ceilings(6)),
        answers=answers(
            *offered, missed=random.choice(((), (), (), ("rag",), ("memory", "graph")))
        ),
        limits=limits,
        budget=random.choice(
            (None, None, random.randint(64, 3_000), random.randint(64, 200_000), 200_000)
        ),
        turn=draw(units) * random.randint(1, 60),
    )

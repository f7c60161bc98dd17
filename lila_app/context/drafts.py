"""What was fixed, what stands and what was recalled, as contents of blocks in declared order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lila_app.context.blocks import Draft, Part, role_of
from lila_app.context.fixed import LAYER_BLOCKS, Fixed, is_material
from lila_app.context.policy import BlockPolicy, Policy
from lila_app.context.recall import Chosen, edges
from lila_app.context.standing import Standing
from lila_app.context.window import Framed


def drafts(
    policy: Policy, fixed: Fixed, closing: str, standing: Standing, chosen: Sequence[Chosen]
) -> list[Draft]:
    """Every block of the policy, those without content without parts.

    `closing` is the instruction that follows recalled material; empty where there is none.
    """
    contents: dict[str, tuple[tuple[Part, ...], int]] = {
        name: (parts, fixed.tokens[name]) for name, parts in fixed.parts.items()
    }
    held = standing.held
    lines: dict[str, tuple[list[str], int]] = {
        "profile": ([item.variants[0].text for item in standing.profile], held["memory"]),
        "goals": ([item.variants[0].text for item in standing.goals], held["session"]),
        "summary": ([standing.summary] if standing.summary else [], standing.summary_tokens),
    }
    for layer, block in LAYER_BLOCKS:
        mine = [choice for choice in chosen if choice.item.layer == layer]
        tokens = sum(choice.variant.tokens for choice in mine)
        lines[block] = ([choice.variant.text for choice in edges(mine)], tokens)
    for block, (texts, tokens) in lines.items():
        if texts:
            part = _headed(policy.block(block), texts)
            contents[block] = ((part,), tokens + fixed.openings[block])
    contents["conversation"] = (_turns(standing.window.kept), standing.window.tokens)
    if closing and any(is_material(choice.item.layer) for choice in chosen):
        contents["closing"] = (
            (Part(role_of(policy.block("closing")), closing),),
            fixed.openings["closing"],
        )
    return [
        Draft(block.name, block.lifetime, *contents.get(block.name, ((), 0)))
        for block in policy.blocks
    ]


def _headed(block: BlockPolicy, lines: Iterable[str]) -> Part:
    return Part(role_of(block), "\n".join([block.heading, *lines] if block.heading else lines))


def _turns(kept: Sequence[Framed]) -> tuple[Part, ...]:
    return tuple(
        part
        for framed in kept
        for part in (
            Part("user", framed.variant.text),
            Part("assistant", framed.variant.reply or ""),
        )
    )

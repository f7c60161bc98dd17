"""The assembler: a pure function from a specification to the exact prompt and its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lila_app.context import blocks as layout
from lila_app.context.blocks import Block, Breakpoint, Draft, Part, PromptMessage, sha256
from lila_app.context.fixed import LAYER_BLOCKS, Fixed, fix
from lila_app.context.items import Counter, Item
from lila_app.context.policy import TOTAL_RATIO, UseCase
from lila_app.context.recall import Chosen, Recall, edges, recall
from lila_app.context.record import Outcome, make_record
from lila_app.context.screen import Dropped, Reason, Screened, screen
from lila_app.context.specification import Specification
from lila_app.context.standing import Cut, Standing, share, squeeze, stand
from lila_app.errors import FixedPartsError, UsageError


@dataclass(frozen=True, slots=True)
class Context:
    """What the model gets to see, and the account of it.

    `text` is the prompt to the byte, `blocks` its parts in order, `record` the context record
    (JSON values; see assets/schemas/context-record.json), `cut` the cut this assembly had to make
    (the caller makes it durable), `reply_reserve` the tokens kept free for the reply.
    """

    text: str
    blocks: tuple[Block, ...]
    breakpoints: tuple[Breakpoint, ...]
    record: dict[str, Any]
    bytes_sha256: str
    cut: Cut | None
    reply_reserve: int

    @property
    def messages(self) -> tuple[PromptMessage, ...]:
        """The prompt as messages for a provider; tool definitions are not among them."""
        return layout.messages([block for block in self.blocks if block.name != "tools"])

    @property
    def stable_messages(self) -> tuple[PromptMessage, ...]:
        """The part a cache can hold between requests: every block above the last breakpoint."""
        end, stable = 0, list[Block]()
        last = self.breakpoints[-1].end if self.breakpoints else 0
        for block in self.blocks:
            end += len(block.text)
            if end <= last and block.name != "tools":
                stable.append(block)
        return layout.messages(stable)


def token_limit(specification: Specification, row: UseCase) -> int:
    """min(budget, the model's context budget, ⌊(window − reply reserve) / token ratio⌋), tokens.

    The ratio is never below the policy's own: a mean would overflow on the texts above it.
    """
    limits = specification.limits
    ratio = max(limits.token_ratio, specification.policy.token_ratio)
    window = max(0, limits.window - row.reply_reserve) * TOTAL_RATIO // ratio
    budget = row.budget if specification.budget is None else specification.budget
    return min(budget, limits.context_budget, window)


def assemble(specification: Specification, count: Counter) -> Context:
    """Assemble one prompt.

    Same specification, same counter, same bytes. Raises UsageError for an unknown use case,
    FixedPartsError when what comes off the top does not fit, PinnedOverflowError when pinned
    items do not, BudgetError when a block exceeds its ceiling.
    """
    row = specification.policy.use_case(specification.use_case)
    if row is None:
        known = ", ".join(use_case.name for use_case in specification.policy.use_cases)
        raise UsageError(
            f"there is no use case {specification.use_case!r}", hint=f"use one of: {known}"
        )
    limit = token_limit(specification, row)
    screened, refused = screen(specification.answers, row)
    fixed = fix(specification, row, screened, count)
    if fixed.total > limit:
        raise FixedPartsError(
            limit=limit, parts=(*fixed.tokens.items(), *fixed.conditional.items())
        )
    standing = stand(screened, specification.summary, specification.policy, row, limit, count)
    return _Assembly(specification, row, limit, screened, refused, fixed, count).settle(standing)


@dataclass(frozen=True, slots=True)
class _Assembly:
    """One assembly under way: what is settled, while standing and recalled parts are fitted."""

    specification: Specification
    row: UseCase
    limit: int
    screened: tuple[Screened, ...]
    refused: tuple[Dropped, ...]
    fixed: Fixed
    count: Counter

    def settle(self, standing: Standing) -> Context:
        held = self.held(standing)
        excess = self.fixed.total + sum(held.values()) - self.limit
        if excess > 0:
            standing = self.give_back(standing, excess)
            held = self.held(standing)
        pool = self.limit - self.fixed.total - sum(held.values())
        if pool < 0:
            parts = (*self.fixed.tokens.items(), *((k, v) for k, v in held.items() if v))
            raise FixedPartsError(limit=self.limit, parts=parts)
        chosen = recall(self.screened, self.row, held, pool)
        return self.recount(standing, chosen)

    def recount(self, standing: Standing, chosen: Recall) -> Context:
        """Count the final bytes; while they overflow, the last recalled item admitted goes."""
        while True:
            blocks = layout.lay(self.drafts(standing, chosen), self.count)
            text = "".join(block.text for block in blocks)
            used = self.count(text)
            if used <= self.limit:
                return self.finish(standing, chosen, blocks, text, used)
            last = next((c for c in reversed(chosen.chosen) if not c.item.pinned), None)
            if last is None:
                return self.settle(self.give_back(standing, used - self.limit, strict=True))
            chosen = replace(
                chosen,
                chosen=tuple(c for c in chosen.chosen if c is not last),
                dropped=(*chosen.dropped, Dropped(last.item, Reason.RECOUNT)),
            )

    def give_back(self, standing: Standing, excess: int, *, strict: bool = False) -> Standing:
        room = share(self.row, "conversation", self.limit)
        smaller = squeeze(standing, excess, room, self.specification.policy, self.count)
        if strict and not (standing.window.kept or standing.profile):
            tokens = (*self.fixed.tokens.items(), ("over by", excess))
            raise FixedPartsError(limit=self.limit, parts=tokens)
        return smaller

    def held(self, standing: Standing) -> dict[str, int]:
        held = dict.fromkeys((share.name for share in self.row.layers), 0)
        held["session"] = _tokens(standing.goals)
        held["memory"] = _tokens(standing.profile)
        summary = self.count(standing.summary + "\n") if standing.summary else 0
        held["conversation"] = standing.window.tokens + summary
        return held

    def drafts(self, standing: Standing, chosen: Recall) -> list[Draft]:
        policy = self.specification.policy
        recalled = {
            block: [c for c in chosen.chosen if c.item.layer == layer]
            for layer, block in LAYER_BLOCKS
        }
        contents: dict[str, tuple[Part, ...]] = dict(self.fixed.parts)
        sizes = {name: self.fixed.tokens[name] for name in self.fixed.parts}
        headed = {
            "profile": [item.variants[0].text for item in standing.profile],
            "goals": [item.variants[0].text for item in standing.goals],
            "summary": [standing.summary] if standing.summary else [],
        }
        headed |= {
            block: [c.variant.text for c in edges(choice)] for block, choice in recalled.items()
        }
        for name, lines in headed.items():
            if lines:
                declared = policy.block(name)
                role = "user" if declared.lifetime == "L4" else "system"
                content = "\n".join([declared.heading, *lines] if declared.heading else lines)
                contents[name] = (Part(role, content),)
        held = self.held(standing)
        sizes["profile"], sizes["goals"] = held["memory"], held["session"]
        sizes["summary"] = held["conversation"] - standing.window.tokens
        for block, choice in recalled.items():
            sizes[block] = sum(c.variant.tokens for c in choice)
        for name in headed:
            sizes[name] += self.fixed.conditional.get(name, 0) if name in contents else 0
        contents["conversation"] = tuple(
            part
            for framed in standing.window.kept
            for part in (
                Part("user", framed.variant.text),
                Part("assistant", framed.variant.reply or ""),
            )
        )
        sizes["conversation"] = standing.window.tokens
        if "closing" in self.fixed.conditional and self.material(chosen):
            contents["closing"] = (Part("user", policy.prompt(self.row.closing).strip()),)
            sizes["closing"] = self.fixed.conditional["closing"]
        return [
            Draft(
                block.name, block.lifetime, contents.get(block.name, ()), sizes.get(block.name, 0)
            )
            for block in policy.blocks
        ]

    def material(self, chosen: Recall) -> bool:
        return any(c.item.layer != "session" for c in chosen.chosen)

    def finish(
        self,
        standing: Standing,
        chosen: Recall,
        blocks: tuple[Block, ...],
        text: str,
        used: int,
    ) -> Context:
        policy = self.specification.policy
        points = layout.breakpoints(
            blocks, policy.breakpoints, [block.name for block in policy.blocks]
        )
        outcome = Outcome(
            limit=self.limit,
            available=self.limit - self.fixed.total,
            used=used,
            blocks=blocks,
            breakpoints=points,
            bytes_sha256=sha256(text),
            dropped=(*self.refused, *standing.dropped, *chosen.dropped),
            included=_included(standing, chosen.chosen),
            held=self.held(standing),
            granted=dict(
                zip((share.name for share in self.row.layers), chosen.granted, strict=True)
            ),
        )
        return Context(
            text=text,
            blocks=blocks,
            breakpoints=points,
            record=make_record(self.specification, self.row, outcome),
            bytes_sha256=outcome.bytes_sha256,
            cut=standing.cut,
            reply_reserve=self.row.reply_reserve,
        )


def _tokens(items: Sequence[Item]) -> int:
    return sum(item.variants[0].tokens for item in items)


def _included(standing: Standing, chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    standing_items = [
        Chosen(item, item.variants[0]) for item in (*standing.goals, *standing.profile)
    ]
    turns = [Chosen(framed.item, framed.variant) for framed in standing.window.kept]
    return (*standing_items, *turns, *chosen)

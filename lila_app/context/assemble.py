"""The assembler: a pure function from a specification to the exact prompt and its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lila_app.context import blocks as layout
from lila_app.context.blocks import Block, Breakpoint, Draft, PromptMessage, sha256
from lila_app.context.drafts import drafts
from lila_app.context.fixed import LAYER_BLOCKS, Fixed, fix
from lila_app.context.items import Counter, ModelLimits, tokens_of
from lila_app.context.policy import TOTAL_RATIO, Policy, UseCase
from lila_app.context.recall import Chosen, Recall, pins_of, recall, yielded
from lila_app.context.record import Outcome, make_record
from lila_app.context.screen import Dropped, Screened, screen
from lila_app.context.specification import Specification
from lila_app.context.standing import Cut, Rooms, Standing, rooms_under, squeeze, stand
from lila_app.errors import BudgetError, FixedPartsError, PinnedOverflowError, UsageError


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


def token_limit(
    policy: Policy, row: UseCase, limits: ModelLimits, budget: int | None = None
) -> int:
    """min(budget, the model's context budget, ⌊(window − reply reserve) / token ratio⌋), tokens.

    The ratio is never below the policy's own: a mean would overflow on the texts above it.
    `budget` replaces the use case's.
    """
    ratio = max(limits.token_ratio, policy.token_ratio)
    window = max(0, limits.window - row.reply_reserve) * TOTAL_RATIO // ratio
    return min(row.budget if budget is None else budget, limits.context_budget, window)


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
    limit = token_limit(specification.policy, row, specification.limits, specification.budget)
    screened, refused = screen(specification.answers, row)
    fixed = fix(specification, row, limit, count)
    if fixed.total > limit:
        raise FixedPartsError(limit=limit, parts=fixed.listed())
    policy = specification.policy
    rooms = rooms_under(policy, row, limit, count)
    standing = stand(screened, specification.summary, rooms, row, policy.window, count)
    work = _Assembly(specification, row, limit, screened, refused, fixed, rooms, count)
    return work.settle(standing)


@dataclass(frozen=True, slots=True)
class _Assembly:
    """One assembly under way: what is settled, while standing and recalled parts are fitted."""

    specification: Specification
    row: UseCase
    limit: int
    screened: tuple[Screened, ...]
    refused: tuple[Dropped, ...]
    fixed: Fixed
    rooms: Rooms
    count: Counter

    def settle(self, standing: Standing) -> Context:
        """Fit everything and count the final bytes; while they overflow, what was recalled last
        yields first, then the standing parts. Each round leaves less, so there is a last one.
        """
        standing = self.make_room(standing, self.overflow(standing))
        while True:
            chosen: Recall | None = self.recall(standing)
            over = 0
            while chosen is not None:
                blocks = layout.lay(self.draft(standing, chosen), self.count)
                text = "".join(block.text for block in blocks)
                used = self.count(text)
                if used <= self.limit:
                    return self.finish(standing, chosen, blocks, text, used)
                over = used - self.limit
                chosen = yielded(chosen, over)
            standing = self.make_room(standing, over)

    def overflow(self, standing: Standing) -> int:
        """Tokens by which the parts that may not yield to a cut exceed the limit beside it."""
        pins = {layer.layer: tokens_of(pins_of(layer)) for layer in self.screened}
        opening = self.fixed.opening([layer for layer, tokens in pins.items() if tokens])
        return self.top(standing) + opening + sum(pins.values()) - self.limit

    def top(self, standing: Standing) -> int:
        """Tokens of the fixed and the standing parts with their headings."""
        headings = sum(self.fixed.openings[block] for block in standing.blocks)
        return self.fixed.total + headings + sum(standing.held.values())

    def make_room(self, standing: Standing, excess: int) -> Standing:
        """Standing parts that give back `excess` tokens, and more while headings ask for it."""
        while excess > 0:
            grid = self.specification.policy.window
            smaller = squeeze(standing, excess, self.rooms, grid, self.count)
            if smaller == standing:
                raise self.too_small(standing, excess)
            standing = smaller
            excess = self.overflow(standing)
        return standing

    def too_small(self, standing: Standing, excess: int) -> BudgetError:
        """The error for what is left once everything that may yield has yielded."""
        pins = {layer.layer: pins_of(layer) for layer in self.screened if pins_of(layer)}
        room = self.limit - self.top(standing) - self.fixed.opening(pins)
        tokens = sum(map(tokens_of, pins.values()))
        if 0 <= room < tokens:
            return PinnedOverflowError(
                layer=" and ".join(pins),
                cap=room,
                tokens=tokens,
                items=tuple(item.id for items in pins.values() for item in items),
            )
        headings = sum(self.fixed.openings[block] for block in standing.blocks)
        parts = [*self.fixed.listed(), ("headings", headings)]
        parts += [(f"{name} (standing)", size) for name, size in standing.held.items()]
        if (short := self.limit - sum(size for _, size in parts)) >= 0:
            # Each fits beside the others and yet the whole does not: tokens are not additive.
            parts.append(("pinned items and joints", short + excess))
        return FixedPartsError(
            limit=self.limit, parts=tuple((name, size) for name, size in parts if size)
        )

    def recall(self, standing: Standing) -> Recall:
        pool = self.available(standing) - sum(standing.held.values())
        return recall(self.screened, self.row, self.held(standing), self.recalled_rooms, pool)

    def available(self, standing: Standing) -> int:
        """Tokens the layers share: what is left once the blocks of all that compete are opened.

        Where that leaves less than the pinned items need, only their blocks are.
        """
        competing = [layer.layer for layer in self.screened if layer.recalled]
        held = sum(standing.held.values())
        left = self.limit - self.top(standing) + held - self.fixed.opening(competing)
        return max(left, held + sum(tokens_of(pins_of(layer)) for layer in self.screened))

    def draft(self, standing: Standing, chosen: Recall) -> list[Draft]:
        policy = self.specification.policy
        closing = policy.prompt(self.row.closing).strip()
        return drafts(policy, self.fixed, closing, standing, chosen.chosen)

    @property
    def recalled_rooms(self) -> dict[str, int]:
        policy = self.specification.policy
        rooms = {
            layer: layout.content_room(policy.block(block), self.count)
            for layer, block in LAYER_BLOCKS
        }
        return {share.name: rooms.get(share.name, 0) for share in self.row.layers}

    def held(self, standing: Standing) -> dict[str, int]:
        return {share.name: standing.held.get(share.name, 0) for share in self.row.layers}

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
            available=self.available(standing),
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


def _included(standing: Standing, chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    standing_items = [
        Chosen(item, item.variants[0]) for item in (*standing.goals, *standing.profile)
    ]
    turns = [Chosen(framed.item, framed.variant) for framed in standing.window.kept]
    return (*standing_items, *turns, *chosen)

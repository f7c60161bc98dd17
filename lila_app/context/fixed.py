"""What comes off the top: tools, identity, clock, closing, the person's words, headings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lila_app.context.blocks import UNBOUNDED, Part, heading_tokens, role_of
from lila_app.context.items import ROLE_LINE, Counter
from lila_app.context.policy import BlockPolicy, UseCase
from lila_app.context.specification import Specification, ToolExchange
from lila_app.errors import BudgetError

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
LAYER_BLOCKS = (
    ("session", "state"),
    ("memory", "memory"),
    ("graph", "graph"),
    ("rag", "documents"),
)
"""Which L4 block the recalled items of a layer are rendered in; conversation recalls nothing."""
STANDING_BLOCKS = ("profile", "goals", "summary")
"""The blocks above the conversation that have a heading of their own."""
RESULTS_SHARE = 3
"""Results may take a third of the limit before more of them are cleared: a model with lower limits
that steps in within a turn is to get the last ones beside all that comes off the top."""
CLEARED = "(cleared)"
"""What is left of a tool's result that is older than the last few."""
_MATERIAL = ("memory", "graph", "rag")


@dataclass(frozen=True, slots=True)
class Fixed:
    """Fixed contents by block and their tokens, and what the blocks of layers cost to open.

    `tokens` are of the contents, `role_lines` of the lines that open their messages. `openings`
    are the headings by block, and `closing`, which is due with the first recalled material: they
    are spent only where a layer gets something in.
    """

    parts: dict[str, tuple[Part, ...]]
    tokens: dict[str, int]
    role_lines: int
    openings: dict[str, int]

    @property
    def total(self) -> int:
        """Tokens that come off the top whatever the layers offer."""
        return sum(self.tokens.values()) + self.role_lines

    def opening(self, layers: Collection[str]) -> int:
        """Tokens it takes to open the L4 blocks of these layers."""
        blocks = [block for layer, block in LAYER_BLOCKS if layer in layers]
        closing = self.openings["closing"] if any(map(is_material, layers)) else 0
        return sum(self.openings[block] for block in blocks) + closing

    def listed(self) -> tuple[tuple[str, int], ...]:
        """Every part with its tokens, for an error."""
        return (*self.tokens.items(), ("role lines", self.role_lines))


def is_material(layer: str) -> bool:
    """Whether what the layer recalls is something to answer from, and to name as a source."""
    return layer in _MATERIAL


def clock_line(now: str, zone: str) -> str:
    """The clock in words that no locale can change."""
    at = datetime.fromisoformat(now)
    return f"Now: {day_in_words(at)}, {at.hour:02}:{at.minute:02} ({zone})"


def day_in_words(at: datetime) -> str:
    """A day as "Monday 30 November 2026", by hand, since `strftime` would follow the locale."""
    return f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year}"


def fix(specification: Specification, row: UseCase, limit: int, count: Counter) -> Fixed:
    """Render the fixed parts and count them. Raises BudgetError when one exceeds its ceiling.

    `limit` is what the whole prompt may have, in tokens.
    """
    policy = specification.policy
    # A persona says who speaks; the rules hold whoever does.
    speaker = (specification.persona or policy.prompt(row.identity)).strip()
    identity = "\n".join(part for part in (speaker, policy.prompt(row.rules).strip()) if part)
    parts: dict[str, tuple[Part, ...]] = {}
    if specification.tools:
        parts["tools"] = (Part("tools", "\n".join(specification.tools)),)
    opening = f"{identity}\n" if identity else ""
    parts["identity"] = (Part("system", f"{opening}Profile: {specification.profile}"),)
    parts["clock"] = (_request_part(specification, "clock"),)
    parts["turn"] = (_request_part(specification, "turn"),)
    if specification.exchanges:
        room = min(policy.block("results").ceiling or UNBOUNDED, limit // RESULTS_SHARE)
        parts["results"] = _results(
            specification.exchanges, policy.window.keep_results, room, count
        )
    tokens = {name: _tokens(content, count) for name, content in parts.items()}
    openings = {
        block: heading_tokens(policy.block(block), count)
        for block in (*STANDING_BLOCKS, *(block for _, block in LAYER_BLOCKS))
    }
    closing = policy.prompt(row.closing).strip()
    openings["closing"] = count(closing + "\n") if closing else 0
    for name, size in (*tokens.items(), ("closing", openings["closing"])):
        _check_ceiling(policy.block(name), size, parts.get(name, ()), count)
    return Fixed(parts, tokens, _role_lines(parts, count), openings)


def _check_ceiling(block: BlockPolicy, size: int, parts: Sequence[Part], count: Counter) -> None:
    # Its role lines are the block's too: one that may open it, or one a call and one a result.
    lines = [part.role for part in parts] if block.name == "results" else [role_of(block)]
    size += sum(count(ROLE_LINE.format(role=role)) for role in lines) if size else 0
    if block.ceiling and size > block.ceiling:
        raise BudgetError(
            f"block {block.name} is {size} tokens and its ceiling is {block.ceiling}",
            hint=f"shorten it ({block.owner}) or raise its ceiling in blocks.toml",
        )


def _request_part(specification: Specification, block: str) -> Part:
    declared = specification.policy.block(block)
    content = (
        clock_line(specification.now, specification.zone)
        if block == "clock"
        else specification.turn
    )
    return Part(
        role_of(declared), f"{declared.heading}\n{content}" if declared.heading else content
    )


def _results(
    exchanges: Sequence[ToolExchange], keep: int, room: int, count: Counter
) -> tuple[Part, ...]:
    """Calls and results in order, the last `keep` in full, or fewer where they exceed `room`."""
    while True:
        parts: list[Part] = []
        for place, exchange in enumerate(exchanges):
            result = exchange.result if place >= len(exchanges) - keep else CLEARED
            call = f"[{exchange.id}] {exchange.name} {exchange.arguments}"
            call = f"{exchange.said}\n{call}" if exchange.said else call
            parts += [Part("assistant", call), Part("tool", result)]
        if keep <= 1 or _framed_tokens(parts, count) <= room:
            return tuple(parts)
        keep -= 1


def _framed_tokens(parts: Sequence[Part], count: Counter) -> int:
    lines = sum(count(ROLE_LINE.format(role=part.role)) for part in parts)
    return _tokens(parts, count) + lines


def _tokens(parts: Sequence[Part], count: Counter) -> int:
    return sum(count(part.content + "\n") for part in parts)


def _role_lines(parts: Mapping[str, Sequence[Part]], count: Counter) -> int:
    roles = ["system", "user", *(part.role for part in parts.get("results", ()))]
    roles += ["tools"] if "tools" in parts else []
    return sum(count(ROLE_LINE.format(role=role)) for role in roles)

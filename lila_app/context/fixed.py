"""What comes off the top: tools, identity, clock, closing, the person's words, headings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lila_app.context.blocks import Part
from lila_app.context.items import ROLE_LINE, Counter
from lila_app.context.policy import UseCase
from lila_app.context.screen import Screened
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
_MATERIAL = ("memory", "graph", "rag")


@dataclass(frozen=True, slots=True)
class Fixed:
    """Fixed contents by block, and tokens by part in the order they are rendered.

    `conditional` are parts that are reserved but rendered only if their layer got something in.
    """

    parts: dict[str, tuple[Part, ...]]
    tokens: dict[str, int]
    conditional: dict[str, int]

    @property
    def total(self) -> int:
        """Tokens to take off the top."""
        return sum(self.tokens.values()) + sum(self.conditional.values())


def clock_line(now: str, zone: str) -> str:
    """The clock in words that no locale can change."""
    at = datetime.fromisoformat(now)
    day = f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year}"
    return f"Now: {day}, {at.hour:02}:{at.minute:02} ({zone})"


def fix(
    specification: Specification, row: UseCase, screened: Sequence[Screened], count: Counter
) -> Fixed:
    """Render the fixed parts and count them. Raises BudgetError when one exceeds its ceiling."""
    policy = specification.policy
    identity = (specification.persona or policy.prompt(row.identity)).strip()
    parts: dict[str, tuple[Part, ...]] = {
        "identity": (Part("system", f"{identity}\nProfile: {specification.profile}"),),
        "clock": (_request_part(specification, "clock"),),
        "turn": (_request_part(specification, "turn"),),
    }
    if specification.tools:
        parts["tools"] = (Part("tools", "\n".join(specification.tools)),)
    if specification.exchanges:
        parts["results"] = _results(specification.exchanges, policy.window.keep_results)
    tokens = {name: _tokens(content, count) for name, content in parts.items()}
    for name, size in tokens.items():
        ceiling = policy.block(name).ceiling
        if ceiling and size > ceiling:
            raise BudgetError(
                f"block {name} is {size} tokens and its ceiling is {ceiling}",
                hint=f"shorten it ({policy.block(name).owner}) or raise its ceiling in blocks.toml",
            )
    tokens["role lines"] = _role_lines(parts, count)
    conditional = _conditional(specification, row, screened, count)
    return Fixed(parts, tokens, conditional)


def _request_part(specification: Specification, block: str) -> Part:
    declared = specification.policy.block(block)
    content = (
        clock_line(specification.now, specification.zone)
        if block == "clock"
        else specification.turn
    )
    role = "user" if declared.lifetime == "L4" else "system"
    return Part(role, f"{declared.heading}\n{content}" if declared.heading else content)


def _results(exchanges: Sequence[ToolExchange], keep: int) -> tuple[Part, ...]:
    parts: list[Part] = []
    for age, exchange in enumerate(reversed(exchanges)):
        result = exchange.result if age < keep else "(cleared)"
        call = f"{exchange.name} {exchange.arguments}"
        parts[:0] = [Part("assistant", f"[{exchange.id}] {call}"), Part("tool", result)]
    return tuple(parts)


def _tokens(parts: Sequence[Part], count: Counter) -> int:
    return sum(count(part.content + "\n") for part in parts)


def _role_lines(parts: dict[str, tuple[Part, ...]], count: Counter) -> int:
    roles = ["system", "user"]
    roles += ["tools"] if "tools" in parts else []
    roles += [part.role for part in parts.get("results", ())]
    return sum(count(ROLE_LINE.format(role=role)) for role in roles)


def _conditional(
    specification: Specification, row: UseCase, screened: Sequence[Screened], count: Counter
) -> dict[str, int]:
    policy = specification.policy
    layers = {entry.layer: entry for entry in screened}
    wanted = {block for layer, block in LAYER_BLOCKS if layers[layer].recalled}
    if layers["session"].goals:
        wanted.add("goals")
    if layers["memory"].profile:
        wanted.add("profile")
    if layers["conversation"].turns or specification.summary:
        wanted.add("summary")
    reserved = {
        name: count(policy.block(name).heading + "\n")
        for name in sorted(wanted)
        if policy.block(name).heading
    }
    if row.closing and any(layers[layer].recalled for layer in _MATERIAL):
        reserved["closing"] = count(policy.prompt(row.closing).strip() + "\n")
    return reserved

"""The assembler: what the model gets to see on a turn, from a declared table. Pure.

No I/O, no clock, no randomness: everything that varies is an argument, so the same arguments give
the same bytes.

    policy, parse        the declared table, and how it is read
    items, specification what layers offer, and every other input
    allocate             the arithmetic
    screen               which candidates may compete
    standing, window, fold   what stands above the breakpoints, its grid and its summary
    fixed, recall        what comes off the top, and what fills the rest
    drafts, blocks       the contents of blocks, their bytes and breakpoints
    assemble, record     the order of events, and the account of them
    query                what the layers are asked
"""

from __future__ import annotations

from lila_app.context.allocate import Admission, allocate_tokens, fill_items
from lila_app.context.assemble import Context, assemble, token_limit
from lila_app.context.blocks import Block, Breakpoint, PromptMessage
from lila_app.context.items import (
    Counter,
    Item,
    LayerAnswer,
    ModelLimits,
    Placement,
    Variant,
    exchange,
    recalled,
)
from lila_app.context.parse import Source, concerns, parse_policy
from lila_app.context.policy import Policy, from_snapshot, policy_hash, snapshot
from lila_app.context.query import layer_query, topic
from lila_app.context.screen import Reason
from lila_app.context.specification import (
    Deadline,
    Specification,
    Summary,
    ToolExchange,
    from_inputs,
    to_inputs,
)
from lila_app.context.standing import Cut, Rooms, due_cut, rooms_under

__all__ = [
    "Admission",
    "Block",
    "Breakpoint",
    "Context",
    "Counter",
    "Cut",
    "Deadline",
    "Item",
    "LayerAnswer",
    "ModelLimits",
    "Placement",
    "Policy",
    "PromptMessage",
    "Reason",
    "Rooms",
    "Source",
    "Specification",
    "Summary",
    "ToolExchange",
    "Variant",
    "allocate_tokens",
    "assemble",
    "concerns",
    "due_cut",
    "exchange",
    "fill_items",
    "from_inputs",
    "from_snapshot",
    "layer_query",
    "parse_policy",
    "policy_hash",
    "recalled",
    "rooms_under",
    "snapshot",
    "to_inputs",
    "token_limit",
    "topic",
]

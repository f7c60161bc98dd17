"""From an assembled context to the request a provider gets: the blocks with their breakpoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from lila_app.context import Context
from lila_app.context.blocks import Part
from lila_app.errors import LilaError
from lila_app.gateway.port import CachePlan, Message, Prefix, Request, Slot, Step, Tool

Role = Literal["system", "user", "assistant"]

_BESIDE = ("tools", "results")
"""Blocks that are no messages: tools and what they returned go in forms of their own."""


def as_request(
    context: Context,
    use_case: str,
    *,
    max_tokens: int | None = None,
    steps: tuple[Step, ...] = (),
) -> Request:
    """The request for a context; voice has a slot of its own.

    Tools, and results of `steps`, are sent as they stand in the prompt on record: what the
    assembler cleared is cleared on the wire. A model that is offered no tools and steps in within
    a turn reads the steps as text.
    """
    meta = context.record["meta"]
    slot: Slot = "voice" if use_case.startswith("voice") else "chat"
    tools, messages = offered(context), pieces(context)
    if not tools:
        messages, steps = (*messages, *_as_text(context)), ()
    return Request(
        messages=messages,
        max_tokens=context.reply_reserve if max_tokens is None else max_tokens,
        slot=slot,
        tools=tools,
        steps=as_shown(context, steps),
        tokens=context.record["token_budget"]["used"],
        cache=CachePlan(
            profile=meta["profile"],
            session=meta["session_id"] or "",
            epoch=meta["epoch"],
            use_case=use_case,
            prefixes=prefixes(context),
        ),
    )


def offered(context: Context) -> tuple[Tool, ...]:
    """The tools whose definitions stand in the prompt."""
    return tuple(
        Tool(**json.loads(line))
        for part in _parts(context, "tools")
        for line in part.content.split("\n")
    )


def as_shown(context: Context, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps with each result as the prompt shows it: in full, or cleared."""
    texts = iter([part.content for part in _parts(context, "results") if part.role == "tool"])
    return tuple(
        replace(step, results=tuple(replace(result, text=next(texts)) for result in step.results))
        for step in steps
    )


def _as_text(context: Context) -> tuple[Message, ...]:
    return tuple(
        Message("user" if part.role == "tool" else _role(part.role), part.content)
        for part in _parts(context, "results")
    )


def _parts(context: Context, block: str) -> tuple[Part, ...]:
    return next((found.parts for found in context.blocks if found.name == block), ())


def stable(request: Request) -> Request:
    """The part of a request that stands between turns, to be warmed; perhaps without messages."""
    ends = [place for place, piece in enumerate(request.messages, 1) if piece.breakpoint]
    return replace(request, messages=request.messages[: max(ends, default=0)], max_tokens=0)


def pieces(context: Context) -> tuple[Message, ...]:
    """The prompt as messages, cut also where a cached prefix may end."""
    ends = {point.end for point in context.breakpoints}
    found: list[Message] = []
    end = 0
    for block in context.blocks:
        end += len(block.text)
        if block.name in _BESIDE:
            continue
        for part in block.parts:
            role = _role(part.role)
            if found and found[-1].role == role and not found[-1].breakpoint:
                found[-1] = Message(role, f"{found[-1].content}\n{part.content}")
            else:
                found.append(Message(role, part.content))
        if found and end in ends:
            found[-1] = replace(found[-1], breakpoint=True)
    return tuple(found)


def prefixes(context: Context) -> tuple[Prefix, ...]:
    """The prefixes that end at the breakpoints, with the sum of their blocks' tokens."""
    found: list[Prefix] = []
    for point in context.breakpoints:
        end = tokens = 0
        for block in context.blocks:
            end += len(block.text)
            tokens += block.tokens if end <= point.end else 0
        found.append(Prefix(point.after, point.prefix_sha256, tokens))
    return tuple(found)


def _role(role: str) -> Role:
    match role:
        case "system" | "assistant" | "user":
            return role
        case _:
            raise LilaError(f"a message of role {role!r} cannot be sent")

"""Which prefixes of a request an explicit cache may hold, and the key of each.

A cached content holds tools, the whole system instruction and then contents, and a request that
names it may send neither tools nor a system instruction of its own. So the shortest prefix is
tools and *all* system text (identity, profile, goals, summary: L0 to L3), although profile is the
first breakpoint: a cut or another goal changes the summary or the goals and with them every cache.
The longer prefixes end after each reply of the conversation, up to the last breakpoint. The
conversation only grows between cuts, so a cache made at one turn remains a prefix of the turns
after it, which send what came since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.context.items import ModelLimits
from lila_app.gateway.port import Message, Request, Tool

RATIO = 10_000


@dataclass(frozen=True, slots=True)
class Span:
    """A prefix a cache may hold: how many of the request's messages are in it, and its key.

    `tokens` are the provider's, estimated: the declared ones of the last breakpoint times the
    largest ratio seen, shared out by characters.
    """

    messages: int
    tokens: int
    key: str


def cacheable(request: Request, limits: ModelLimits, whose: Sequence[str]) -> tuple[Span, ...]:
    """The prefixes of a request, the shortest first; none when nothing in it stands still.

    `whose` is what else keeps two caches apart: model, address, credential.
    """
    system = system_end(request.messages)
    stable = stable_end(request.messages)
    if not stable or system > stable or not request.cache.prefixes:
        return ()
    digest = hashlib.sha256(
        json.dumps(
            [*whose, request.cache.profile, [declared(tool) for tool in by_name(request.tools)]],
            sort_keys=True,
        ).encode()
    )
    lengths = [len(tool.name) + len(json.dumps(declared(tool))) for tool in request.tools]
    characters = sum(lengths)
    ends: list[tuple[int, int, str]] = []
    for place, message in enumerate(request.messages[:stable], 1):
        digest.update(json.dumps([message.role, message.content]).encode())
        characters += len(message.content)
        if place == system or (place > system and message.role == "assistant"):
            ends.append((place, characters, digest.copy().hexdigest()))
    declared_tokens = request.cache.prefixes[-1].tokens
    tokens = declared_tokens * max(limits.token_ratio, RATIO) // RATIO
    return tuple(Span(place, tokens * upto // max(characters, 1), key) for place, upto, key in ends)


def system_end(messages: Sequence[Message]) -> int:
    """How many messages stand in the system instruction: all that lead in that role."""
    return next((at for at, one in enumerate(messages) if one.role != "system"), len(messages))


def stable_end(messages: Sequence[Message]) -> int:
    """How many messages stand above the last breakpoint."""
    return max((at for at, one in enumerate(messages, 1) if one.breakpoint), default=0)


def by_name(tools: Sequence[Tool]) -> list[Tool]:
    """Tools in one order, however they were declared."""
    return sorted(tools, key=lambda tool: tool.name)


def declared(tool: Tool) -> dict[str, object]:
    """A tool as a function declaration, its schema's keys in one order."""
    schema: object = json.loads(json.dumps(tool.parameters, sort_keys=True))
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters_json_schema": schema,
    }

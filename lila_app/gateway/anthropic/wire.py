"""A request as the Messages API takes it, with the marks its prompt cache needs; pure.

**How the cache matches** (gateway.md of the research, 2026-11-30; anthropic SDK 2.14.0). The prompt
is tools, system, messages. An entry is written at each marked block and holds everything up to it.
On a request each mark looks for an entry at its own block, then at the nineteen before it; what is
read is the longest found. So the mark that rolls on with the last whole turn reads what the turn
before it wrote, as a turn adds two blocks. At most four marks, those of an hour before those of
five minutes.

**The marks.** Those of the assembler's breakpoints: after the identity and the profile, after the
goals and the summary, after the last whole turn. What is left of the four:

1. In a tool loop, the last result. The loop's next call repeats everything up to it, and a model
   that called a tool calls another more often than the 28 % from which on writing pays (0.25 more
   for the write, 0.9 less for the read). Loops take seconds, so it is of the short kind.
2. Otherwise the lookback: the place where this model last left an entry in this session, if that is
   known and out of the rolling mark's sight, as after turns that another model answered. Then, as
   far as marks are left, every eighteenth block before the rolling one, so that entries up to 37
   blocks back are found also by a process that knows nothing of the last one. Eighteen and not
   twenty: whether a mark's own block counts among the twenty is not said alike everywhere. Places
   on a fixed grid were weighed: with one mark left they reach less far than one that rolls along,
   and a mark on what is read anyway costs nothing.

A prefix below the model's minimum is marked too: the provider ignores the mark at no cost, and the
minimum is known less surely than that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.port import Call, Message, Request, Result, Step, Tool, Ttl

Json = dict[str, object]

MOST_MARKS = 4
LOOKBACK = 20
SPACING = LOOKBACK - 2

LIFETIMES: Mapping[Ttl, str] = {"short": "5m", "long": "1h"}

THINKING_TOKENS = {"low": 2_048, "medium": 8_192, "high": 25_000}
"""Room for thinking above the reply, as the API counts both against one limit: without it a short
limit is thought through and nothing is said. Chosen (2026-11-30); unused room costs nothing."""

_THINKS_UNASKED = re.compile(r"claude-[a-z]+-5\b")
"""Models that think when not told otherwise: the fifth generation (its thinking guide, 2026-11)."""

_TOOL_ID = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class _Part:
    """A content block on its way; `ttl` is its mark's."""

    role: Literal["user", "assistant"]
    block: Json
    ttl: Ttl | None = None

    def sent(self) -> Json:
        if self.ttl is None:
            return self.block
        return {**self.block, "cache_control": {"type": "ephemeral", "ttl": LIFETIMES[self.ttl]}}


@dataclass(slots=True)
class _Layout:
    """The prompt in the order of the wire, and the blocks its breakpoints end at."""

    system: list[_Part] = field(default_factory=list[_Part])
    said: list[_Part] = field(default_factory=list[_Part])
    steps: list[_Part] = field(default_factory=list[_Part])
    ends: list[tuple[_Part, Ttl | None]] = field(default_factory=list[tuple[_Part, "Ttl | None"]])


def body(request: Request, name: str, contract: CacheContract, reached: int | None = None) -> Json:
    """The request's JSON for the model `name` (`provider/model`), streaming.

    `reached` is what `rolling` gave for this model's last call of the session, if it is known.
    """
    layout = _laid(request, name)
    if contract.kind == "anthropic":
        _mark(layout, reached)
    made: Json = {
        "model": name.partition("/")[2],
        "max_tokens": _max_tokens(request, name),
        "messages": _messages([*layout.said, *layout.steps]),
        "diagnostics": {"previous_message_id": request.cache.previous},
        "stream": True,
    }
    if layout.system:
        made["system"] = [part.sent() for part in layout.system]
    if request.tools:
        made["tools"] = [_tool(tool) for tool in sorted(request.tools, key=lambda tool: tool.name)]
    if request.effort is not None or request.schema is not None:
        made["output_config"] = _output_config(request)
    return made


def rolling(request: Request) -> int | None:
    """Which block of the conversation the last breakpoint ends at; None if it ends above it."""
    layout = _laid(request, "")
    return _place(layout.said, layout.ends[-1][0]) if layout.ends else None


def _laid(request: Request, name: str) -> _Layout:
    layout = _Layout()
    ttls = request.cache.ttls
    number = 0
    last: _Part | None = None
    for piece in request.messages:
        if piece.content.strip():  # the API refuses blocks without a visible character
            last = _placed(layout, piece)
        if piece.breakpoint:
            ttl: Ttl | None = ttls[number] if number < len(ttls) else "short"
            number += 1
            if last is not None and not (layout.ends and layout.ends[-1][0] is last):
                layout.ends.append((last, ttl))
    for step in request.steps:
        layout.steps += _step(step, name)
    return layout


def _placed(layout: _Layout, piece: Message) -> _Part:
    role = "assistant" if piece.role == "assistant" else "user"
    part = _Part(role, {"type": "text", "text": _clean(piece.content)})
    leading = piece.role == "system" and not layout.said
    (layout.system if leading else layout.said).append(part)
    return part


def _mark(layout: _Layout, reached: int | None) -> None:
    """Give at most four blocks a lifetime, none longer than one before it."""
    wanted = [(part, ttl) for part, ttl in layout.ends if ttl is not None]
    if not wanted:
        return
    room = MOST_MARKS - bool(layout.steps)
    if len(wanted) > room:  # the first holds longest, the last hold most
        wanted = [wanted[0], *wanted[len(wanted) - room + 1 :]]
    lifetime: Ttl = "long"
    for part, ttl in wanted:
        lifetime = "short" if ttl == "short" else lifetime
        part.ttl = lifetime
    if layout.steps:
        layout.steps[-1].ttl = "short"
        return
    for part in _looking_back(layout.said, wanted[-1][0], reached, room - len(wanted)):
        part.ttl = lifetime


def _looking_back(said: Sequence[_Part], end: _Part, reached: int | None, most: int) -> list[_Part]:
    """Blocks to mark before the rolling mark, which itself sees the last twenty."""
    last = _place(said, end)
    if last is None or last < LOOKBACK:
        return []
    places = [reached] if reached is not None and reached <= last - LOOKBACK else []
    places += range(last - SPACING, 0, -SPACING)
    unmarked = [said[place] for place in dict.fromkeys(places) if said[place].ttl is None]
    return unmarked[:most]


def _place(said: Sequence[_Part], part: _Part) -> int | None:
    return next((place for place, each in enumerate(said) if each is part), None)


def _messages(parts: Sequence[_Part]) -> list[Json]:
    made: list[Json] = []
    role = None
    content: list[Json] = []
    for part in parts:
        if part.role != role:
            role, content = part.role, []
            made.append({"role": role, "content": content})
        content.append(part.sent())
    return made


def _step(step: Step, name: str) -> Iterator[_Part]:
    """What the model did within this turn, as it said it or as anybody would have."""
    content = _own_content(step, name)
    ids = [call_id(result.call, at) for at, result in enumerate(step.results)]
    if content is None:
        content = [_tool_use(result, id) for result, id in zip(step.results, ids, strict=True)]
        if step.text.strip():
            content.insert(0, {"type": "text", "text": _clean(step.text)})
    for block in content:
        yield _Part("assistant", block)
    for result, id in zip(step.results, ids, strict=True):
        yield _Part("user", _tool_result(result, id))


def _own_content(step: Step, name: str) -> list[Json] | None:
    """The model's whole content with its thinking, if it is this model's own."""
    for carried in step.carried:
        if carried.model == name:
            content = cast("list[Json]", json.loads(carried.payload))
            calls = [block.get("id") for block in content if block.get("type") == "tool_use"]
            if calls == [result.call.id for result in step.results]:
                return content
    return None


def _tool_use(result: Result, id: str) -> Json:
    return {"type": "tool_use", "id": id, "name": result.call.name, "input": _input(result.call)}


def _tool_result(result: Result, id: str) -> Json:
    made: Json = {"type": "tool_result", "tool_use_id": id}
    if result.text.strip():
        made["content"] = _clean(result.text)
    if result.failed:
        made["is_error"] = True
    return made


def call_id(call: Call, at: int) -> str:
    """A call's id as the API takes it, whoever made it; `at` is its place in the step."""
    return _TOOL_ID.sub("_", call.id) or f"call_{at}"


def _input(call: Call) -> Json:
    try:
        made: object = json.loads(call.arguments)
    except ValueError:
        made = None
    return cast(Json, made) if isinstance(made, dict) else {"unreadable": _clean(call.arguments)}


def _tool(tool: Tool) -> Json:
    return {
        "name": tool.name,
        "description": _clean(tool.description),
        "input_schema": _canonical(tool.parameters),
        "strict": True,
    }


def _output_config(request: Request) -> Json:
    made: Json = {}
    if request.effort is not None:
        made["effort"] = request.effort
    if request.schema is not None:
        made["format"] = {"type": "json_schema", "schema": _canonical(request.schema)}
    return made


def _max_tokens(request: Request, name: str) -> int:
    """The reply's limit with room for thinking, for models that think at their default effort."""
    if request.effort is not None:
        return request.max_tokens + THINKING_TOKENS[request.effort]
    unasked = _THINKS_UNASKED.search(name)
    return max(1, request.max_tokens) + (THINKING_TOKENS["medium"] if unasked else 0)


def _canonical(schema: Mapping[str, object]) -> Json:
    """A schema with its keys in one order, as its bytes are part of the cached prefix."""
    return cast(Json, json.loads(json.dumps(schema, sort_keys=True)))


def _clean(text: str) -> str:
    """Text that UTF-8 can carry: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")

"""A request as the Responses API takes it, with what its prompt cache needs; pure.

Two forms, by the model's contract. GPT-5.6 and later (`breakpoints`) match only at marked ends of
content parts; earlier ones (`key`) match by themselves and are only routed by a key. Both get the
same messages: the system pieces as developer messages (`instructions` is a plain string that can
carry no mark), the turns as they come.

**Where the mark after the last whole turn goes.** That turn ends with the assistant's message, and
only input parts may carry a mark (`prompt_cache_breakpoint` exists on input_text, input_image and
input_file in the SDK, 3.57.0; an assistant's message takes output_text and refusal alone, and the
API answers 400 to input_text in it). A mark on the person's part before it would leave the latest
reply out of every read. So each user message opens with a part of its own that is always the same,
`OPENING`, and the mark stands on that of the message *after* the turn: the prefix then ends behind
the whole turn, and as the next user message opens with the same part, whatever it holds, the
prefix is there again on the next turn. It costs two tokens a message.

**Why older openings are marked too.** A match needs a mark at the same place in both requests.
The new end is marked to be written, the end before it to be read. At most four are written, the
latest four; so there are never more than four, and those of the system pieces keep their places.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.chat.wire import canonical
from lila_app.gateway.port import Carried, Message, Request, Step, Tool, Ttl

Json = dict[str, object]

OPENING = "---\n"
"""What every user message begins with, so that a cached prefix can end before it."""

MOST_MARKS = 4
"""Breakpoints a request may write (`PromptCacheOptions` in the SDK, 3.57.0)."""

LIFETIMES: Mapping[Ttl, str] = {"short": "30m", "long": "12h"}

FEWEST_OUTPUT_TOKENS = 16
"""The API refuses less (400 `integer_below_min_value`, seen 2025-12 to 2026-09)."""

THINKING_TOKENS = {"low": 2_048, "medium": 8_192, "high": 25_000}
"""Room for thinking above the reply, as the API counts both against one limit: without it a short
limit is thought through and nothing is said. Chosen (2026-11-30); unused room costs nothing."""

_REASONING = re.compile(r"/(gpt-5|o\d)")
"""Models before 5.6 that think unless told otherwise, and count it so."""


def body(request: Request, name: str, contract: CacheContract) -> Json:
    """The request's JSON for the model `name` (`provider/model`), streaming and not stored."""
    marked = contract.kind == "breakpoints"
    made: Json = {
        "model": name.partition("/")[2],
        "input": [*_messages(request, marked=marked), *_steps(request.steps, name)],
        "store": False,
        "stream": True,
    }
    if not (marked and request.max_tokens == 0):
        made["max_output_tokens"] = _output_tokens(request, name, contract)
    if request.tools:
        made["tools"] = [_tool(tool) for tool in sorted(request.tools, key=lambda tool: tool.name)]
    if request.schema is not None:
        made["text"] = {"format": _format(request.schema)}
    if request.effort is not None:
        made["reasoning"] = {"effort": request.effort}
    if marked or request.effort is not None:
        # Models that do not reason refuse to be asked for it; from 5.6 on all do.
        made["include"] = ["reasoning.encrypted_content"]
    if contract.kind in ("breakpoints", "key"):
        made["prompt_cache_key"] = cache_key(request, name)
    if marked:
        made["prompt_cache_options"] = _options(request)
    return made


def cache_key(request: Request, name: str) -> str:
    """What routes requests with the same stable layers to the same cache: 32 hexadecimal digits.

    From the model, the hash of the first prefix and the profile, so that two profiles never share
    one. Sessions of a profile do: their stable layers are the same.
    """
    prefixes = request.cache.prefixes
    stable = prefixes[0].sha256 if prefixes else _digest(_stable(request.messages))
    return _digest(json.dumps([name, stable, request.cache.profile]))[:32]


def _stable(messages: Sequence[Message]) -> str:
    return "\n".join(piece.content for piece in messages if piece.role == "system")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _options(request: Request) -> Json:
    made: Json = {"mode": "explicit"}
    if request.cache.previous is not None:
        made["comparison_response_id"] = request.cache.previous
    if request.max_tokens == 0:
        made["prewarm"] = True
    return made


def _output_tokens(request: Request, name: str, contract: CacheContract) -> int:
    reasons = contract.kind == "breakpoints" or _REASONING.search(name) is not None
    thinking = THINKING_TOKENS[request.effort or "medium"] if reasons or request.effort else 0
    return max(FEWEST_OUTPUT_TOKENS, request.max_tokens + thinking)


class _Place(NamedTuple):
    """A content part: of which piece, and whether it is the opening before its text."""

    piece: int
    opening: bool


def _messages(request: Request, *, marked: bool) -> list[Json]:
    pieces = list(request.messages)
    if pieces and pieces[-1].role == "assistant" and pieces[-1].breakpoint:
        pieces.append(Message("user", ""))  # a prefix to be warmed ends with the next opening
    marks = _marks(pieces, request.cache.ttls) if marked else {}
    made: list[Json] = []
    for at, piece in enumerate(pieces):
        text = _clean(piece.content)
        if piece.role == "assistant":
            if text:  # else nobody answered that turn
                made.append(_message("assistant", text))
            continue
        parts = [_part(OPENING, marks.get(_Place(at, True)))] if piece.role == "user" else []
        if text:
            parts.append(_part(text, marks.get(_Place(at, False))))
        made.append(_message("developer" if piece.role == "system" else "user", parts))
    return made


def _marks(pieces: Sequence[Message], ttls: Sequence[Ttl | None]) -> dict[_Place, Ttl]:
    """Where marks stand and for how long: the breakpoints, then the ends of turns before them.

    A breakpoint whose lifetime is None is not worth its write and gets no mark.
    """
    declared: list[tuple[_Place, Ttl]] = []
    earlier: list[tuple[_Place, Ttl]] = []
    for number, at in enumerate(at for at, piece in enumerate(pieces) if piece.breakpoint):
        ttl: Ttl | None = ttls[number] if number < len(ttls) else "short"
        if ttl is None:
            continue
        if pieces[at].role != "assistant":
            declared.append((_Place(at, False), ttl))
        elif at + 1 < len(pieces) and pieces[at + 1].role == "user":
            declared.append((_Place(at + 1, True), ttl))
    if not declared:
        return {}
    last, ttl = declared[-1]
    for at in range(last.piece - 1, 0, -1):
        if pieces[at].role == "user" and pieces[at - 1].role == "assistant":
            earlier.append((_Place(at, True), ttl))
    kept = declared[-(MOST_MARKS - min(1, len(earlier))) :]
    return dict([*kept, *earlier[: MOST_MARKS - len(kept)]])


def _message(role: str, content: object) -> Json:
    return {"type": "message", "role": role, "content": content}


def _part(text: str, ttl: Ttl | None) -> Json:
    made: Json = {"type": "input_text", "text": text}
    if ttl is not None:
        made["prompt_cache_breakpoint"] = {"mode": "explicit", "ttl": LIFETIMES[ttl]}
    return made


def _steps(steps: Sequence[Step], name: str) -> list[Json]:
    """What the model did within this turn: as it said it, or as anybody would have."""
    made: list[Json] = []
    for step in steps:
        made += _own_output(step, name) or _told_again(step)
        for result in step.results:
            text = f"failed: {result.text}" if result.failed else result.text
            output: Json = {"type": "function_call_output", "call_id": result.call.id}
            made.append({**output, "output": _clean(text)})
    return made


def _own_output(step: Step, name: str) -> list[Json]:
    """The model's whole output, if it is this model's and its calls are those that were made."""
    items = [item for carried in step.carried for item in _items(carried, name)]
    calls = {item.get("call_id") for item in items if item.get("type") == "function_call"}
    return items if calls == {result.call.id for result in step.results} else []


def _items(carried: Carried, name: str) -> list[Json]:
    return cast(list[Json], json.loads(carried.payload)) if carried.model == name else []


def _told_again(step: Step) -> list[Json]:
    text = _clean(step.text)
    made: list[Json] = []
    if text:
        made.append(_message("assistant", text))
    for result in step.results:
        call: Json = {"type": "function_call", "call_id": result.call.id, "name": result.call.name}
        made.append({**call, "arguments": _clean(result.call.arguments)})
    return made


def _tool(tool: Tool) -> Json:
    return {
        "type": "function",
        "name": tool.name,
        "description": _clean(tool.description),
        "parameters": canonical(tool.parameters),
        "strict": True,
    }


def _format(schema: Mapping[str, object]) -> Json:
    """The reply's form; its keys stay in their order, as a model writes them in that order."""
    return {"type": "json_schema", "name": "reply", "schema": dict(schema), "strict": True}


def _clean(text: str) -> str:
    """Text that UTF-8 can carry: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")

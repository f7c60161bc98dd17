"""A request as Chat Completions servers take it; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from lila_app.gateway.chat.neutral import Neutraliser
from lila_app.gateway.port import Message, Request, Step, Tool

Json = dict[str, object]


def body(request: Request, model: str, neutral: Neutraliser) -> Json:
    """The request's JSON, streaming with usage; nothing a plain server would not know."""
    made: Json = {
        "model": model,
        "messages": [*neutral.messages(request.messages), *_steps(request.steps, neutral)],
        "max_tokens": request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        made["tools"] = [_tool(tool) for tool in sorted(request.tools, key=lambda tool: tool.name)]
    if request.schema is not None:
        made["response_format"] = response_format(request.schema)
    return made


def response_format(schema: Mapping[str, object]) -> Json:
    """What asks for a reply of this JSON Schema.

    Its keys stay in their order, as a model writes them in that order: what it thinks first.
    """
    named = {"name": "reply", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": named}


def told(steps: Sequence[Step]) -> tuple[Message, ...]:
    """Steps as plain messages, for a model that knows no tools: what was said and what was found.

    A turn that falls to such a model in the middle of its tool loop keeps what it has found.
    """
    made: list[Message] = []
    for step in steps:
        if step.text:
            made.append(Message("assistant", step.text))
        for result in step.results:
            came = "failed" if result.failed else "found"
            made.append(Message("user", f"{result.call.name} {came}: {result.text}"))
    return tuple(made)


def _steps(steps: Sequence[Step], neutral: Neutraliser) -> list[Json]:
    made: list[Json] = []
    for step in steps:
        calls = [
            {
                "id": result.call.id,
                "type": "function",
                "function": {
                    "name": result.call.name,
                    "arguments": neutral.text(result.call.arguments),
                },
            }
            for result in step.results
        ]
        # An empty text and not null: some chat templates write null out as a word.
        made.append({"role": "assistant", "content": neutral.text(step.text), "tool_calls": calls})
        for result in step.results:
            text = f"failed: {result.text}" if result.failed else result.text
            answer: Json = {"role": "tool", "tool_call_id": result.call.id}
            made.append({**answer, "content": neutral.text(text)})
    return made


def _tool(tool: Tool) -> Json:
    parameters = canonical(tool.parameters)
    function: Json = {"name": tool.name, "description": tool.description}
    return {"type": "function", "function": {**function, "parameters": parameters, "strict": True}}


def canonical(schema: Mapping[str, object]) -> Json:
    """A schema with its keys in one order, so that equal tools are equal bytes."""
    return cast(Json, json.loads(json.dumps(schema, sort_keys=True)))

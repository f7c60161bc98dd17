"""A request as the SDK's own types.

With a cache the request carries only what lies beyond it: the API refuses (400) a request that
names a cached content and sets system instruction, tools or tool_config too, and the SDK does not
see to that.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from lila_app.gateway.gemini.prefix import Span, by_name, declared, system_end
from lila_app.gateway.gemini.reader import INVENTED
from lila_app.gateway.port import Call, Message, Request, Step, Tool, merged

if TYPE_CHECKING:
    from google.genai.types import (
        Content,
        CreateCachedContentConfig,
        GenerateContentConfig,
        Part,
        ThinkingConfig,
    )
    from google.genai.types import Tool as WireTool

_UNSIGNED = "skip_thought_signature_validator"
"""What Google has stand for the thought signature of a call that another model made; without one
Gemini 3 refuses the request (ai.google.dev, thought signatures, 2026-07)."""

THOUGHTS = {"low": 1_024, "medium": 8_192, "high": 24_576}
"""Tokens of thinking for each effort, which count towards the limit of the output: what Google's
own Chat Completions endpoint makes of the three (ai.google.dev, OpenAI compatibility, 2026-07)."""

_GENERATION = re.compile(r"gemini-(\d+(?:\.\d+)?)")


def configured(request: Request, model: str, *, cached: str | None = None) -> GenerateContentConfig:
    """Everything beside the contents. `cached` is the name of the cache that holds the rest."""
    from google.genai.types import AutomaticFunctionCallingConfig, GenerateContentConfig

    return GenerateContentConfig(
        system_instruction=None if cached else _system(request.messages),
        tools=None if cached else _tools(request.tools),  # pyright: ignore[reportArgumentType]
        cached_content=cached,
        max_output_tokens=max(request.max_tokens, 1) + _room(request, model),
        response_mime_type="application/json" if request.schema is not None else None,
        response_json_schema=_plain(request.schema),
        thinking_config=_thinking(request, model),
        # Each further request is the gateway's to make and to account for.
        automatic_continuation=False,
        automatic_function_calling=AutomaticFunctionCallingConfig(disable=True),
    )


def contents(request: Request, name: str, *, beyond: int = 0) -> list[Content]:
    """The conversation from the message at `beyond` on, then this turn's steps.

    `name` is the model that is asked: what another one wanted back is not shown to it.
    """
    first = max(beyond, system_end(request.messages))
    said = _said(request.messages[first:])
    return said + [content for step in request.steps for content in _step(step, name)]


def held(request: Request, span: Span, life: int) -> CreateCachedContentConfig:
    """The cache that holds a span, to live `life` seconds."""
    from google.genai.types import CreateCachedContentConfig

    start = system_end(request.messages)
    said = _said(request.messages[start : span.messages])
    return CreateCachedContentConfig(
        ttl=f"{life}s",
        system_instruction=_system(request.messages),
        tools=_tools(request.tools),
        contents=said or None,  # pyright: ignore[reportArgumentType]
    )


def _system(messages: Sequence[Message]) -> Content | None:
    from google.genai.types import Content

    leading = merged(messages[: system_end(messages)])
    return Content(parts=[_text(one.content) for one in leading]) if leading else None


def _tools(tools: Sequence[Tool]) -> list[WireTool] | None:
    from google.genai.types import FunctionDeclaration
    from google.genai.types import Tool as WireTool

    if not tools:
        return None
    functions = [FunctionDeclaration.model_validate(declared(tool)) for tool in by_name(tools)]
    return [WireTool(function_declarations=functions)]


def _said(messages: Sequence[Message]) -> list[Content]:
    from google.genai.types import Content

    # Gemini knows a system instruction, but no system message among the contents.
    spoken = [
        Message("user" if one.role == "system" else one.role, one.content) for one in messages
    ]
    return [
        Content(role="model" if one.role == "assistant" else "user", parts=[_text(one.content)])
        for one in merged(spoken)
    ]


def _text(text: str) -> Part:
    from google.genai.types import Part

    # Half a surrogate pair cannot be sent.
    return Part(text=text.encode("utf-8", "replace").decode("utf-8"))


def _step(step: Step, name: str) -> list[Content]:
    from google.genai.types import Content, FunctionResponse, Part

    results = [
        Part(
            function_response=FunctionResponse(
                id=_id(result.call),
                name=result.call.name,
                response={"error" if result.failed else "output": result.text},
            )
        )
        for result in step.results
    ]
    return [_carried(step, name) or _retold(step, name), Content(role="user", parts=results)]


def _carried(step: Step, name: str) -> Content | None:
    """The model's own answer, as it wants it back."""
    from google.genai.types import Content

    own = next((one.payload for one in step.carried if one.model == name), None)
    return None if own is None else Content.model_validate_json(own)


def _retold(step: Step, name: str) -> Content:
    """An answer that is not the model's own, or that it left unsigned."""
    from google.genai.types import Content, FunctionCall, Part

    signature = base64.urlsafe_b64decode(_UNSIGNED) if _generation(name) >= 3 else None
    text = [_text(step.text)] if step.text else []
    calls = [
        Part(
            function_call=FunctionCall(
                id=_id(result.call), name=result.call.name, args=_arguments(result.call)
            ),
            thought_signature=signature,
        )
        for result in step.results
    ]
    return Content(role="model", parts=text + calls)


def _id(call: Call) -> str | None:
    """The call's id, if it was the API that gave it."""
    return None if call.id.startswith(INVENTED) else call.id


def _arguments(call: Call) -> dict[str, object]:
    try:
        value: object = json.loads(call.arguments)
    except ValueError:
        value = call.arguments
    return cast("dict[str, object]", value) if isinstance(value, dict) else {"arguments": value}


def _thinking(request: Request, model: str) -> ThinkingConfig | None:
    """What the model is told of thinking: levels from 3 on, a budget before, nothing before 2.5."""
    from google.genai.types import ThinkingConfig, ThinkingLevel

    generation, effort = _generation(model), request.effort
    if generation < 2.5:
        return None
    levels = generation >= 3
    return ThinkingConfig(
        include_thoughts=True,
        thinking_level=ThinkingLevel(effort.upper()) if effort and levels else None,
        thinking_budget=THOUGHTS[effort] if effort and not levels else None,
    )


def _room(request: Request, model: str) -> int:
    """Tokens for thinking beside the reply, so that thinking does not leave it without words."""
    return THOUGHTS[request.effort or "medium"] if _generation(model) >= 2.5 else 0


def _generation(model: str) -> float:
    found = _GENERATION.search(model)
    return float(found[1]) if found else 0.0


def _plain(schema: object) -> object:
    """A schema as plain JSON; its keys keep their order, in which the model writes them."""
    return None if schema is None else json.loads(json.dumps(schema))

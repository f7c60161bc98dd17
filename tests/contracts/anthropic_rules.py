"""Rules of the Messages API that its types cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def broken_rule(body: dict[str, Any], signed: Mapping[str, str]) -> str | None:
    """The sentence about the first rule a body breaks.

    `signed` has the model of every signature that was given out.
    """
    return (
        _prewarming(body)
        or _order(body)
        or _empty_text(body)
        or _tools(body)
        or _results(body["messages"])
        or _signatures(body, signed)
    )


def _prewarming(body: dict[str, Any]) -> str | None:
    if body["max_tokens"] != 0:
        return None
    forced = (body.get("tool_choice") or {}).get("type") in ("any", "tool")
    thinking = (body.get("thinking") or {}).get("type") == "enabled"
    formatted = (body.get("output_config") or {}).get("format") is not None
    if body.get("stream") or forced or thinking or formatted:
        return "max_tokens: 0 cannot be combined with stream, thinking, a format or a forced tool"
    return None


def _order(body: dict[str, Any]) -> str | None:
    roles = [message["role"] for message in body["messages"]]
    if not roles:
        return "messages: at least one message is required"
    if roles[0] != "user":
        return "messages: first message must use the user role"
    if roles[-1] == "assistant":
        return "messages: this model does not support assistant message prefill"
    return None


def _empty_text(body: dict[str, Any]) -> str | None:
    blocks = [*_listed(body.get("system", []))]
    for message in body["messages"]:
        blocks += _listed(message["content"])
    if any(block.get("type") == "text" and not block["text"].strip() for block in blocks):
        return "text content blocks must contain non-whitespace text"
    return None


def _tools(body: dict[str, Any]) -> str | None:
    names = [tool["name"] for tool in body.get("tools", [])]
    if len(names) != len(set(names)):
        return "tools: tool names must be unique"
    for tool in body.get("tools", []):
        if tool.get("strict") and tool["input_schema"].get("additionalProperties") is not False:
            return "tools: strict tools need additionalProperties: false"
    return None


def _results(messages: list[dict[str, Any]]) -> str | None:
    """Each call is answered in the very next message, and nothing else is."""
    waiting: list[str] = []
    for message in messages:
        blocks = _listed(message["content"])
        given = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if sorted(given) != sorted(waiting):
            return f"tool_use ids {waiting} were followed by results for {given}"
        waiting = [block["id"] for block in blocks if block.get("type") == "tool_use"]
    return f"tool_use ids {waiting} were found without tool_result" if waiting else None


def _signatures(body: dict[str, Any], signed: Mapping[str, str]) -> str | None:
    for message in body["messages"]:
        for block in _listed(message["content"]):
            if block.get("type") in ("thinking", "redacted_thinking"):
                said = block.get("signature", block.get("data", ""))
                words = block.get("thinking")
                genuine = words is None or said == f"signed:{words}"
                if signed.get(said) != body["model"] or not genuine:
                    return "Invalid `signature` in `thinking` block"
    return None


def _listed(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)

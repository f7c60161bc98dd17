"""A loopback server that speaks all four wires and gives away every key it is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from tests.contracts.serving import Exchange, Server, listening

Mood = Literal["well", "refusing", "asking to wait", "page", "garbage", "in the stream"]
Family = Literal["anthropic", "openai", "gemini", "local"]

REPLY = "Good evening."


@dataclass
class Echoing(Server):
    """Whatever it answers but a good reply, the key that came is in it."""

    mood: Mood = "well"

    def answer(self, exchange: Exchange) -> None:
        key = sent(exchange)
        said = f"your key {key} is {self.mood}"
        match self.mood:
            case "refusing":
                exchange.json(401, _error(said, key), www_authenticate=f'Bearer error="{key}"')
            case "asking to wait":
                exchange.json(429, _error(said, key), retry_after="99", x_key=key)
            case "page":
                exchange.text(200, f"<html><body>{said}</body></html>")
            case "garbage":
                exchange.begin(x_key=key)
                exchange.data(f'{{"broken": "{key}')
                exchange.end()
            case "in the stream":
                exchange.begin()
                exchange.event("error", {"type": "error", **_error(said, key), "message": said})
                exchange.end()
            case "well":
                self._well(exchange)

    def _well(self, exchange: Exchange) -> None:
        if exchange.method == "GET":
            models = [{"id": "m", "name": "models/m", "owned_by": sent(exchange)}]
            exchange.json(200, {"data": models, "models": models})
            return
        exchange.begin(request_id=sent(exchange))
        for name, event in _replies(exchange.path, str(exchange.body.get("model", "m"))):
            if name:
                exchange.event(name, event)
            else:
                exchange.data(json.dumps(event) if event else "[DONE]")
        exchange.end()


def sent(exchange: Exchange) -> str:
    """The key as it came, in whichever header."""
    bearer = exchange.headers.get("authorization", "").removeprefix("Bearer ")
    return bearer or exchange.headers.get("x-goog-api-key", "") or "none"


@contextmanager
def echoing() -> Iterator[Echoing]:
    with listening(Echoing()) as server:
        yield server


def _error(said: str, key: str) -> dict[str, object]:
    inner = {"message": said, "type": key, "code": key, "status": key, "details": [{"key": key}]}
    return {"error": inner, "request_id": key}


def _replies(path: str, model: str) -> list[tuple[str, dict[str, object]]]:
    if path.endswith("/messages"):
        return _anthropic(model)
    if path.endswith("/responses"):
        return _openai(model)
    if "GenerateContent" in path:
        return _gemini()
    choice = {"index": 0, "delta": {"content": REPLY}, "finish_reason": "stop"}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": model}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return [
        ("", {**chunk, "choices": [choice]}),
        ("", {**chunk, "choices": [], "usage": usage}),
        ("", {}),
    ]


def _anthropic(model: str) -> list[tuple[str, dict[str, object]]]:
    usage = {"input_tokens": 9, "output_tokens": 1}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    text = {"type": "text_delta", "text": REPLY}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": text},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    return [(str(event["type"]), event) for event in events]


def _openai(model: str) -> list[tuple[str, dict[str, object]]]:
    response: dict[str, object] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    part = {"type": "output_text", "text": REPLY, "annotations": []}
    item = {
        "id": "item_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    usage = {
        "input_tokens": 9,
        "output_tokens": 3,
        "total_tokens": 12,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    place = {"item_id": "item_1", "output_index": 0, "content_index": 0}
    events: list[dict[str, object]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_text.delta", **place, "delta": REPLY, "logprobs": []},
        {"type": "response.output_text.done", **place, "text": REPLY, "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    return [
        (str(event["type"]), {**event, "sequence_number": number})
        for number, event in enumerate(events)
    ]


def _gemini() -> list[tuple[str, dict[str, object]]]:
    content = {"role": "model", "parts": [{"text": REPLY}]}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    return [("", {"candidates": [candidate], "usageMetadata": usage, "responseId": "r1"})]

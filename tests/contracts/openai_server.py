"""A loopback server that speaks OpenAI's Responses API and keeps its contract.

Bodies are held to the SDK's own types and to what the API is known to refuse beyond them; streams
have every event the real ones have. `tests.contracts.openai_cache` is its prompt cache.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

from lila_app.testing import FakeClock
from tests.contracts.counted import Counted, Sum, summed
from tests.contracts.openai_cache import PromptCache, marks_work, rendered
from tests.contracts.serving import Exchange, Fault, Server, listening
from tests.contracts.strict import complaint

KEY = "sk-proj-the-right-one"
Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What the model answers: thinking first, then words, then calls of (name, arguments).

    `ends` is a response's status, or `error` for an event of that name; `why` its reason or code.
    """

    pieces: tuple[str, ...] = ("Hel", "lo")
    calls: tuple[tuple[str, str], ...] = ()
    thinks: str = ""
    sealed: bool = True
    refuses: bool = False
    ends: str = "completed"
    why: str = ""
    output_tokens: int = 7
    lingers: bool = False
    """Whether the connection stays open after the last event."""


@dataclass
class OpenAIServer(Server):
    """`counted` has what each answered call read, wrote, and could have."""

    clock: Callable[[], datetime] = field(default_factory=FakeClock)
    script: deque[Said] = field(default_factory=deque[Said])
    reply: Callable[[Json], Said] = field(default=lambda body: Said())
    counted: list[Counted] = field(default_factory=list[Counted])
    window: int = 400_000
    asked: threading.Event = field(default_factory=threading.Event)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.cache = PromptCache(self.clock)

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    @property
    def ideal(self) -> Sum:
        """All answered calls, beside the ideal client's."""
        return summed(self.counted)

    def say(self, text: str) -> None:
        """Reply so to the next request."""
        half = len(text) // 2
        self.script.append(Said((text[:half], text[half:])))

    def take(self, exchange: Exchange) -> None:
        self.asked.set()
        super().take(exchange)

    def answer(self, exchange: Exchange) -> None:
        body: Json = exchange.body
        refused = self._refused(exchange, body)
        if refused is not None:
            status, code, message, param = refused
            exchange.json(status, _error(message, code, param), x_request_id="req_refused")
            return
        prompt = rendered(body)
        counted = self.cache.serve(prompt)
        self.counted.append(counted)
        response_id = f"resp_{next(self._numbers)}"
        self.cache.keep(response_id, prompt)
        response = _response(response_id, body)
        compared = body.get("prompt_cache_options", {}).get("comparison_response_id")
        if compared is not None:
            diagnosis = self.cache.diagnose(compared, prompt, counted)
            response["prompt_cache_diagnostics"] = diagnosis
        warming = body.get("prompt_cache_options", {}).get("prewarm", False)
        if warming:
            said = Said(pieces=(), output_tokens=0)
        else:
            said = self.script.popleft() if self.script else self.reply(body)
        _Stream(exchange, response, said, counted).run()

    def error(self, exchange: Exchange, fault: Fault) -> None:
        code, kind = ("rate_limit_exceeded", "requests")
        message = "Rate limit reached for gpt-5.6 in organization org-1 on requests per min."
        if fault.status != 429:
            code, kind, message = "server_error", "server_error", "The server had an error."
        headers = {"x_request_id": "req_fault"}
        if fault.retry_after is not None:
            headers["retry_after"] = fault.retry_after
        exchange.json(fault.status, _error(message, code, None, kind), **headers)

    def broken_stream(self, exchange: Exchange) -> None:
        error = {"code": "server_error", "message": "The server had an error.", "param": None}
        exchange.event("error", {"type": "error", "sequence_number": 99, **error})

    def _refused(self, exchange: Exchange, body: Json) -> tuple[int, str, str, str | None] | None:
        if exchange.method != "POST" or exchange.path != "/v1/responses":
            return 404, "unknown_url", f"Unknown request URL: {exchange.path}", None
        key = exchange.headers.get("authorization", "").removeprefix("Bearer ")
        if key != KEY:
            return 401, "invalid_api_key", f"Incorrect API key provided: {key}.", None
        if not str(body.get("model", "")).startswith("gpt-"):
            message = f"The model `{body.get('model')}` does not exist."
            return 404, "model_not_found", message, "model"
        wrong = complaint(ResponseCreateParamsStreaming, body) or _beyond_the_types(body)
        if wrong is not None:
            return 400, "invalid_value", wrong, None
        if rendered(body).total > self.window:
            message = "Your input exceeds the context window of this model."
            return 400, "context_length_exceeded", message, "input"
        return None


@contextmanager
def openai_server(clock: Callable[[], datetime] | None = None) -> Iterator[OpenAIServer]:
    """A server, listening; without a clock time stands still."""
    with listening(OpenAIServer(clock=clock or FakeClock())) as server:
        yield server


def _error(message: str, code: str, param: str | None, kind: str = "invalid_request_error") -> Json:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _beyond_the_types(body: Json) -> str | None:
    """What the API refuses although the SDK's types let it pass."""
    if body.get("max_output_tokens", 16) < 16:
        return "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."
    if "prompt_cache_retention" in body:
        return "prompt_cache_retention is deprecated."
    if not marks_work(body["model"]):
        if "prompt_cache_options" in body or "prompt_cache_breakpoint" in str(body["input"]):
            return "Prompt cache breakpoints are not supported with this model."
        if body.get("include") and not body.get("reasoning"):
            return "Encrypted content is not supported with this model."
    schemas = [tool["parameters"] for tool in body.get("tools", [])]
    form = body.get("text", {}).get("format", {})
    schemas += [form["schema"]] if "schema" in form else []
    for schema in schemas:
        if wrong := _not_strict(schema):
            return wrong
    return _input(body["input"])


def _not_strict(schema: Any) -> str | None:
    if isinstance(schema, list):
        return next((wrong for each in schema if (wrong := _not_strict(each))), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "Invalid schema: 'additionalProperties' is required to be supplied and false."
        if sorted(schema.get("required", [])) != sorted(schema.get("properties", {})):
            return "Invalid schema: 'required' is required to include every key in properties."
    return next((wrong for each in schema.values() if (wrong := _not_strict(each))), None)


def _input(items: Any) -> str | None:
    if isinstance(items, str):
        return None
    return _parts(items) or _thinking(items) or _calls(items)


def _parts(items: list[Json]) -> str | None:
    """An assistant's message holds what a model says, never an input part."""
    said = [item["content"] for item in items if item.get("role") == "assistant"]
    for part in (part for content in said if isinstance(content, list) for part in content):
        if part["type"] not in ("output_text", "refusal"):
            return f"Invalid value: '{part['type']}'. Supported: 'output_text' and 'refusal'."
    return None


def _thinking(items: list[Json]) -> str | None:
    """Reasoning is kept nowhere, so it has to come sealed, before what it led to."""
    for item, after in zip(items, [*items[1:], {}], strict=True):
        if item.get("type") != "reasoning":
            continue
        if not str(item.get("encrypted_content")).startswith("sealed:"):
            return f"Item '{item['id']}' not found: `store` is set to false."
        if after.get("type") != "function_call" and after.get("role") != "assistant":
            return f"Item '{item['id']}' was provided without its required following item."
    return None


def _calls(items: list[Json]) -> str | None:
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    for call in sorted(called ^ answered):
        return f"No tool call and output found together for {call}."
    return None


def _response(response_id: str, body: Json) -> Json:
    """The response as it begins, with what was asked for said again."""
    options = body.get("prompt_cache_options", {})
    return {
        "id": response_id,
        "object": "response",
        "created_at": 1_796_000_000,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": body.get("max_output_tokens"),
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": body.get("prompt_cache_key"),
        "prompt_cache_options": {
            "mode": options.get("mode", "implicit"),
            "ttl": options.get("ttl", "30m"),
        },
        "reasoning": {"effort": body.get("reasoning", {}).get("effort"), "summary": None},
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": body.get("text", {"format": {"type": "text"}}),
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


class _Stream:
    """One response, event by event."""

    def __init__(self, exchange: Exchange, response: Json, said: Said, counted: Counted) -> None:
        self._exchange = exchange
        self._response = response
        self._said = said
        self._counted = counted
        self._sequence = itertools.count()
        self._output: list[Json] = []

    def run(self) -> None:
        said, exchange = self._said, self._exchange
        exchange.begin(x_request_id=f"req_{self._response['id']}")
        self._send("response.created", response=self._response)
        self._send("response.in_progress", response=self._response)
        if said.thinks:
            self._reasoning()
        if said.pieces:
            self._message()
        for name, arguments in said.calls:
            self._call(name, arguments)
        if said.ends == "error":
            detail = {"code": said.why, "message": f"It broke: {said.why}.", "param": None}
            self._send("error", **detail)
        elif said.ends:
            self._send(f"response.{said.ends}", response=self._ended())
        if said.lingers:
            exchange.stall()
        exchange.end()

    def _send(self, kind: str, **more: object) -> None:
        body = {"type": kind, "sequence_number": next(self._sequence), **more}
        self._exchange.event(kind, body)

    def _reasoning(self) -> None:
        at, item_id = len(self._output), f"rs_{self._response['id']}"
        part = {"type": "summary_text", "text": self._said.thinks}
        item: Json = {"id": item_id, "type": "reasoning", "summary": []}
        self._send("response.output_item.added", output_index=at, item=item)
        where = {"item_id": item_id, "output_index": at, "summary_index": 0}
        empty = {"type": "summary_text", "text": ""}
        self._send("response.reasoning_summary_part.added", **where, part=empty)
        self._send("response.reasoning_summary_text.delta", **where, delta=self._said.thinks)
        self._send("response.reasoning_summary_text.done", **where, text=self._said.thinks)
        self._send("response.reasoning_summary_part.done", **where, part=part)
        sealed = {"encrypted_content": f"sealed:{item_id}"} if self._said.sealed else {}
        self._done({**item, "summary": [part], **sealed})

    def _message(self) -> None:
        at, item_id = len(self._output), f"msg_{self._response['id']}"
        item: Json = {"id": item_id, "type": "message", "role": "assistant", "content": []}
        began = {**item, "status": "in_progress"}
        self._send("response.output_item.added", output_index=at, item=began)
        where = {"item_id": item_id, "output_index": at, "content_index": 0}
        refuses = self._said.refuses
        name, event = ("refusal", "refusal") if refuses else ("text", "output_text")
        more: Json = {} if refuses else {"annotations": [], "logprobs": []}
        self._send("response.content_part.added", **where, part={"type": event, name: "", **more})
        more = {} if refuses else {"logprobs": []}
        for piece in self._said.pieces:
            self._exchange.speak()
            self._send(f"response.{event}.delta", **where, delta=piece, **more)
        text = "".join(self._said.pieces)
        self._send(f"response.{event}.done", **where, **{name: text}, **more)
        part: Json = {"type": event, name: text} | ({} if refuses else {"annotations": []})
        self._send("response.content_part.done", **where, part=part)
        status = "incomplete" if self._said.ends == "incomplete" else "completed"
        self._done({**item, "status": status, "content": [part]})

    def _call(self, name: str, arguments: str) -> None:
        at = len(self._output)
        item_id = f"fc_{self._response['id']}_{at}"
        call_id = f"call_{self._response['id']}_{at}"
        item: Json = {"id": item_id, "type": "function_call", "call_id": call_id, "name": name}
        began = {**item, "arguments": "", "status": "in_progress"}
        self._send("response.output_item.added", output_index=at, item=began)
        where = {"item_id": item_id, "output_index": at}
        for start in range(0, len(arguments), 5):
            self._exchange.speak()
            delta = arguments[start : start + 5]
            self._send("response.function_call_arguments.delta", **where, delta=delta)
        last = self._said.calls[-1] == (name, arguments)
        status = "incomplete" if self._said.ends == "incomplete" and last else "completed"
        if status == "completed":
            kind = "response.function_call_arguments.done"
            self._send(kind, **where, name=name, arguments=arguments)
        self._done({**item, "arguments": arguments, "status": status})

    def _done(self, item: Json) -> None:
        self._send("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)

    def _ended(self) -> Json:
        said, counted = self._said, self._counted
        details: Json = {"cached_tokens": counted.read}
        if marks_work(self._response["model"]):
            details["cache_write_tokens"] = counted.written
            details["cache_write_tokens_details"] = {
                "ttl_30m_tokens": counted.written - counted.written_long,
                "ttl_12h_tokens": counted.written_long,
            }
        usage = {
            "input_tokens": counted.total,
            "input_tokens_details": details,
            "output_tokens": said.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 5 if said.thinks else 0},
            "total_tokens": counted.total + said.output_tokens,
        }
        ended = {**self._response, "status": said.ends, "output": self._output, "usage": usage}
        if said.ends == "incomplete":
            ended["incomplete_details"] = {"reason": said.why}
        if said.ends == "failed":
            ended["error"] = {"code": said.why, "message": f"It broke: {said.why}."}
        return ended

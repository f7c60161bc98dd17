"""A server that speaks the Messages API and keeps its caching contract.

Bodies are held to the SDK's own types and to the rules the types cannot say. Replies come from
`script`, or are a greeting.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)

from lila_app.testing import FakeClock
from tests.contracts.anthropic_cache import Prompt, PromptCache, Refused, Use, prompt_of
from tests.contracts.anthropic_rules import broken_rule
from tests.contracts.counted import Counted, Sum, summed
from tests.contracts.serving import Exchange, Fault, Server, listening
from tests.contracts.strict import complaint

VERSION = "2026-10-21"

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class ToolUse:
    """A call the model makes; `pieces` are its arguments as they are streamed."""

    id: str
    name: str
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """What the model says: thinking, then text, then calls.

    `late` is added to the counts of what was written and read in the last usage, as happens.
    """

    pieces: tuple[str, ...] = ("Hel", "lo")
    thinking: tuple[str, ...] = ()
    redacted: str = ""
    calls: tuple[ToolUse, ...] = ()
    stop_reason: str | None = None
    explanation: str | None = None
    output: int = 7
    late: int = 0
    pending: bool = False
    """The diagnosis was not ready when the message began."""

    @property
    def stop(self) -> str:
        return self.stop_reason or ("tool_use" if self.calls else "end_turn")


@dataclass
class AnthropicServer(Server):
    """The server. `counted` has what each answered call read, wrote, and could have."""

    clock: Callable[[], datetime] = field(default_factory=FakeClock)
    minimum: int = 512
    script: deque[Reply] = field(default_factory=deque[Reply])
    reply: Callable[[dict[str, Any]], Reply] = field(default=lambda _: Reply())
    counted: list[Counted] = field(default_factory=list[Counted])
    uses: list[Use] = field(default_factory=list[Use])

    def __post_init__(self) -> None:
        self.cache = PromptCache(self.clock, self.minimum)
        self._prompts: dict[str, tuple[Prompt, Use]] = {}
        self._signed: dict[str, str] = {}
        self._ids = itertools.count(1)

    @property
    def ideal(self) -> Sum:
        """All answered calls, beside the ideal client's."""
        return summed(self.counted)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What was asked, oldest first."""
        return [exchange.body for exchange in self.seen]

    def say(self, text: str) -> None:
        """Reply so to the next request."""
        half = len(text) // 2
        self.script.append(Reply((text[:half], text[half:])))

    def answer(self, exchange: Exchange) -> None:
        if (exchange.method, exchange.path) != ("POST", "/v1/messages"):
            return self.refuse(exchange, 404, "there is nothing here")
        credential = exchange.headers.get("authorization", "")
        if not credential.startswith("Bearer "):
            return self.refuse(exchange, 401, "invalid bearer token")
        if exchange.headers.get("anthropic-version") != VERSION:
            return self.refuse(exchange, 400, "anthropic-version: unknown")
        body: dict[str, Any] = exchange.body
        streaming = body.get("stream") is True
        kind = MessageCreateParamsStreaming if streaming else MessageCreateParamsNonStreaming
        wrong = complaint(kind, body) or broken_rule(body, self._signed)
        if wrong:
            return self.refuse(exchange, 400, wrong)
        try:
            prompt = prompt_of(body, credential, self.count)
        except Refused as error:
            return self.refuse(exchange, 400, str(error))
        return self._respond(exchange, prompt)

    def error(self, exchange: Exchange, fault: Fault) -> None:
        headers = {} if fault.retry_after is None else {"retry_after": fault.retry_after}
        self.refuse(exchange, fault.status, f"status {fault.status}", **headers)

    def broken_stream(self, exchange: Exchange) -> None:
        error = {"type": "overloaded_error", "message": "Overloaded", "details": None}
        exchange.event("error", {"type": "error", "error": error, "request_id": "req_0"})

    def refuse(
        self, exchange: Exchange, status: int, said: str, code: str = "", **headers: str
    ) -> None:
        """An error as the API words it; `code` is its `details.error_code`."""
        details = {"error_code": code} if code else None
        error = {"type": TYPES[status], "message": said, "details": details}
        request = f"req_{next(self._ids)}"
        made = {"type": "error", "error": error, "request_id": request}
        exchange.json(status, made, request_id=request, **headers)

    @staticmethod
    def count(text: str) -> int:
        """Tokens of a text: a quarter of its bytes."""
        return math.ceil(len(text.encode()) / 4)

    def _respond(self, exchange: Exchange, prompt: Prompt) -> None:
        body: dict[str, Any] = exchange.body
        reply = self.script.popleft() if self.script else self.reply(body)
        use = self.cache.use(prompt)
        id = f"msg_{next(self._ids)}"
        message = {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "usage": usage(use, 1),
            "diagnostics": self._diagnostics(body, prompt, use, reply),
        }
        self.uses.append(use)
        self.counted.append(self.cache.begin(use))
        self._prompts[id] = (prompt, use)
        for thinking in ("".join(reply.thinking), reply.redacted):
            self._signed[f"signed:{thinking}"] = body["model"]
        if body.get("stream"):
            self._stream(exchange, message, reply, use)
        else:
            content = [] if body["max_tokens"] == 0 else _content(reply)
            stop = "max_tokens" if body["max_tokens"] == 0 else reply.stop
            made = {**message, "content": content, "stop_reason": stop}
            exchange.json(200, {**made, "usage": usage(use, reply.output)}, request_id="req_1")

    def _stream(self, exchange: Exchange, message: dict[str, Any], reply: Reply, use: Use) -> None:
        exchange.begin(request_id="req_1")
        exchange.event("message_start", {"type": "message_start", "message": message})
        exchange.event("ping", {"type": "ping"})
        for index, (start, deltas) in enumerate(_streamed(reply)):
            at = {"index": index}
            begun = {"type": "content_block_start", **at, "content_block": start}
            exchange.event("content_block_start", begun)
            for delta in deltas:
                if delta["type"] == "text_delta":
                    exchange.speak()
                made = {"type": "content_block_delta", **at, "delta": delta}
                exchange.event("content_block_delta", made)
            exchange.event("content_block_stop", {"type": "content_block_stop", **at})
        details = None
        if reply.stop == "refusal":
            details = {"type": "refusal", "category": None, "explanation": reply.explanation}
        delta = {"stop_reason": reply.stop, "stop_sequence": None, "stop_details": details}
        last = {
            "input_tokens": use.uncached,
            "cache_creation_input_tokens": use.creation + reply.late,
            "cache_read_input_tokens": use.read + reply.late,
            "output_tokens": reply.output,
        }
        exchange.event("message_delta", {"type": "message_delta", "delta": delta, "usage": last})
        exchange.event("message_stop", {"type": "message_stop"})
        exchange.end()

    def _diagnostics(
        self, body: dict[str, Any], prompt: Prompt, use: Use, reply: Reply
    ) -> dict[str, Any] | None:
        """Why the prefix of the request named could not be read; None if it was, or none is named.

        What is compared is the part that was cached: what stands after the last mark comes to
        differ on every request of a client that keeps it out of the cache.
        """
        previous = (body.get("diagnostics") or {}).get("previous_message_id")
        if previous is None:
            return None
        if reply.pending:
            return {"cache_miss_reason": None}
        before = self._prompts.get(previous)
        if before is None or before[0].credential != prompt.credential:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        reason = _divergence(before[0], prompt)
        if reason is None:
            return None
        if reason == "unavailable":
            return {"cache_miss_reason": {"type": reason}}
        missed = before[0].tokens(max(before[0].marks(), default=-1)) - use.read
        return {"cache_miss_reason": {"type": reason, "cache_missed_input_tokens": missed}}


def _divergence(before: Prompt, now: Prompt) -> str | None:
    if before.model != now.model:
        return "model_changed"
    if before.section("tools") != now.section("tools"):
        return "tools_changed"
    if before.section("system") != now.section("system"):
        return "system_changed"
    if before.settings != now.settings:
        return "unavailable"
    last = max(before.marks(), default=-1)
    same = before.hashes[: last + 1] == now.hashes[: last + 1]
    return None if same else "messages_changed"


def usage(use: Use, output: int) -> dict[str, Any]:
    """The usage of a message that begins."""
    return {
        "input_tokens": use.uncached,
        "cache_creation_input_tokens": use.creation,
        "cache_read_input_tokens": use.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": use.written["5m"],
            "ephemeral_1h_input_tokens": use.written["1h"],
        },
        "output_tokens": output,
        "service_tier": "standard",
    }


def _streamed(reply: Reply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each content block as it starts, and the deltas that follow."""
    if reply.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in reply.thinking]
        signature = {"type": "signature_delta", "signature": f"signed:{''.join(reply.thinking)}"}
        yield {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signature]
    if reply.redacted:
        yield {"type": "redacted_thinking", "data": f"signed:{reply.redacted}"}, []
    if reply.pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in reply.pieces]
        yield {"type": "text", "text": ""}, deltas
    for call in reply.calls:
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in call.pieces]
        yield start, pieces


def _content(reply: Reply) -> list[dict[str, Any]]:
    return [{"type": "text", "text": "".join(reply.pieces)}] if reply.pieces else []


@contextmanager
def anthropic_server(
    clock: Callable[[], datetime] | None = None, minimum: int = 512
) -> Iterator[AnthropicServer]:
    """The server, listening; its cache's clock stands until it is moved."""
    with listening(AnthropicServer(clock=clock or FakeClock(), minimum=minimum)) as server:
        yield server

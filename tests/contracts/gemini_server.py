"""Gemini's API on loopback: generateContent, its stream, and cachedContents, with their contract.

Bodies are held to the SDK's own models, which forbid extra fields and take both spellings of a
name, as JSON of protocol buffers does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from lila_app.testing import FakeClock
from tests.contracts.counted import Counted, Sum
from tests.contracts.gemini_cache import Caches, Content, Refused, Served, row, tokens
from tests.contracts.serving import Exchange, Fault, Server, listening

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
    529: "UNAVAILABLE",
}

_PATH = re.compile(
    r"/(?P<version>v1|v1beta)/(?:(?P<model>models/[^:/?]+):(?P<verb>\w+)"
    r"|cachedContents(?:/(?P<cache>[^/?]+))?)(?:\?(?P<query>.*))?"
)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class GenerateBody(_Body):
    """What models.generateContent of v1beta takes from this API's users."""

    contents: list[types.Content]
    system_instruction: types.Content | None = None
    tools: list[types.Tool] | None = None
    tool_config: types.ToolConfig | None = None
    safety_settings: list[types.SafetySetting] | None = None
    generation_config: types.GenerationConfig | None = None
    cached_content: str | None = None
    service_tier: str | None = None
    continuation_token: str | None = None


class CreateBody(_Body):
    """What cachedContents.create takes."""

    model: str
    contents: list[types.Content] | None = None
    system_instruction: types.Content | None = None
    tools: list[types.Tool] | None = None
    tool_config: types.ToolConfig | None = None
    ttl: str | None = None
    expire_time: datetime | None = None
    display_name: str | None = None


class PatchBody(_Body):
    """What cachedContents.patch takes: nothing but the life can be changed."""

    ttl: str | None = None
    expire_time: datetime | None = None


@dataclass
class Reply:
    """What is answered: thinking, visible pieces, calls, and why it ends."""

    pieces: tuple[str, ...] = ("Hel", "lo")
    thinking: tuple[str, ...] = ()
    calls: tuple[dict[str, object], ...] = ()
    signature: str | None = None
    finish: str | None = "STOP"
    thoughts: int | None = None


Answer = Callable[["GeminiServer", Exchange, Served], None]


@dataclass
class GeminiServer(Server):
    """`reply` is what it says, `answer` how; `caches` what it keeps. Any key is good but `bad`."""

    clock: FakeClock = field(default_factory=FakeClock)
    caches: Caches = field(init=False)
    reply: Reply = field(default_factory=Reply)
    speaks: Answer | None = None
    bad: str = "bad"
    refuses: set[str] = field(default_factory=set[str])
    """Methods of cachedContents that fail on the server's side."""
    counted: list[Counted] = field(default_factory=list[Counted])

    def __post_init__(self) -> None:
        self.caches = Caches(self.clock)

    @property
    def ideal(self) -> Sum:
        """What was counted, beside the client that holds the same rows and knows what comes."""
        caches = self.caches
        return Sum(
            calls=len(caches.served),
            total=sum(one.total for one in caches.served),
            read=caches.read,
            written=caches.written,
            ideal_read=caches.ideal_read,
            ideal_written=caches.ideal_written,
        )

    def say(self, text: str) -> None:
        """What the next replies are."""
        self.reply = Reply(pieces=(text[: len(text) // 2], text[len(text) // 2 :]))

    @property
    def generated(self) -> list[Exchange]:
        """The requests for a reply."""
        return [one for one in self.seen if "Content" in one.path and ":" in one.path]

    def asked(self, method: str) -> list[Exchange]:
        """The requests for cachedContents of one method."""
        return [one for one in self.seen if "/cachedContents" in one.path and one.method == method]

    def answer(self, exchange: Exchange) -> None:
        try:
            self._answer(exchange)
        except Refused as refused:
            exchange.json(refused.code, problem(refused.code, refused.message, refused.status))

    def error(self, exchange: Exchange, fault: Fault) -> None:
        details: list[object] = []
        if fault.retry_after is not None:
            delay = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
            details.append(delay | {"retryDelay": f"{fault.retry_after}s"})
        exchange.json(fault.status, problem(fault.status, f"status {fault.status}", "", details))

    def broken_stream(self, exchange: Exchange) -> None:
        exchange.data(json.dumps(problem(503, "The model is overloaded.")))

    def _answer(self, exchange: Exchange) -> None:
        key = exchange.headers.get("x-goog-api-key", "")
        if not key or key == self.bad:
            exchange.json(400, bad_key())
            return
        found = _PATH.fullmatch(exchange.path)
        if found is None:
            raise Refused(404, "NOT_FOUND", "Not Found")
        if found["model"] is None:
            if found["version"] != "v1beta":
                raise Refused(404, "NOT_FOUND", "Method not found.")
            if exchange.method in self.refuses:
                raise Refused(500, "INTERNAL", "An internal error has occurred.")
            self._cached(exchange, key, found["cache"])
            return
        match found["verb"], found["query"]:
            case "generateContent", None:
                self._generate(exchange, key, found["model"], found["version"])
            case "streamGenerateContent", "alt=sse":
                self._generate(exchange, key, found["model"], found["version"], stream=True)
            case _:
                raise Refused(404, "NOT_FOUND", "Method not found.")

    def _generate(
        self, exchange: Exchange, key: str, model: str, version: str, *, stream: bool = False
    ) -> None:
        body = _checked(GenerateBody, exchange.body)
        beta = {"systemInstruction", "tools", "toolConfig", "cachedContent"} & body.keys()
        if version == "v1" and beta:
            raise Refused(400, "INVALID_ARGUMENT", f"Unknown name {sorted(beta)[0]!r}")
        name = body.pop("cachedContent", None)
        if name is not None and {"systemInstruction", "tools", "toolConfig"} & body.keys():
            raise Refused(
                400,
                "INVALID_ARGUMENT",
                "CachedContent can not be used with GenerateContent request setting "
                "system_instruction, tools or tool_config.",
            )
        _check_contents(body.get("contents", []), model)
        caches = self.caches
        served = caches.serve(key, model, row(body), name)
        before = self.counted
        written = caches.written - sum(call.written for call in before)
        self.counted.append(
            Counted(
                served.total,
                served.read,
                written,
                caches.ideal_read - sum(call.ideal_read for call in before),
                caches.ideal_written - sum(call.ideal_written for call in before),
            )
        )
        if self.speaks is not None:
            self.speaks(self, exchange, served)
        elif stream:
            self.stream(exchange, served)
        else:
            exchange.json(200, chunk(self._parts(), served, self.reply.finish))

    def stream(self, exchange: Exchange, served: Served) -> None:
        """The reply in chunks, usage in each, the end in the last."""
        reply = self.reply
        exchange.begin()
        for piece in reply.thinking:
            exchange.data(json.dumps(chunk([{"text": piece, "thought": True}], served)))
        for piece in reply.pieces:
            exchange.speak()
            exchange.data(json.dumps(chunk([{"text": piece}], served)))
        for at, call in enumerate(reply.calls):
            signed = {"thoughtSignature": reply.signature} if reply.signature and at == 0 else {}
            exchange.data(json.dumps(chunk([{"functionCall": call, **signed}], served)))
        if reply.finish is not None:
            spoken = tokens(reply.pieces) + tokens([json.dumps(call) for call in reply.calls])
            last = chunk([], served, reply.finish, spoken=spoken, thoughts=reply.thoughts)
            exchange.data(json.dumps(last))
        exchange.end()

    def _parts(self) -> list[dict[str, object]]:
        calls: list[dict[str, object]] = [{"functionCall": call} for call in self.reply.calls]
        return [{"text": "".join(self.reply.pieces)}, *calls]

    def _cached(self, exchange: Exchange, key: str, cache: str | None) -> None:
        match exchange.method, cache:
            case "POST", None:
                exchange.json(200, self._create(exchange, key).wire())
            case "GET", None:
                alive = [
                    content.wire()
                    for content in self.caches.contents
                    if content.key == key and content.alive(self.clock())
                ]
                exchange.json(200, {"cachedContents": alive})
            case "GET", str():
                exchange.json(200, self.caches.find(key, f"cachedContents/{cache}").wire())
            case "PATCH", str():
                life = self._life(_checked(PatchBody, exchange.body))
                content = self.caches.find(key, f"cachedContents/{cache}")
                self.caches.extend(content, life)
                exchange.json(200, content.wire())
            case "DELETE", str():
                self.caches.delete(self.caches.find(key, f"cachedContents/{cache}"))
                exchange.json(200, {})
            case _:
                raise Refused(404, "NOT_FOUND", "Method not found.")

    def _create(self, exchange: Exchange, key: str) -> Content:
        body = _checked(CreateBody, exchange.body)
        _check_contents(body.get("contents", []), body["model"], whole=False)
        return self.caches.create(key, body["model"], row(body), self._life(body))

    def _life(self, body: Mapping[str, Any]) -> timedelta:
        """From ttl ("300s") or expireTime, of which only one may be set; an hour without."""
        if "ttl" in body and "expireTime" in body:
            raise Refused(400, "INVALID_ARGUMENT", "Only one of expireTime and ttl can be set.")
        if "expireTime" in body:
            return datetime.fromisoformat(body["expireTime"]) - self.clock()
        said = re.fullmatch(r"(\d+)(?:\.\d+)?s", body.get("ttl", "3600s"))
        if said is None or said[1] == "0":
            raise Refused(400, "INVALID_ARGUMENT", "Invalid value at 'ttl'")
        return timedelta(seconds=int(said[1]))


def _checked(kind: type[_Body], body: dict[str, object]) -> dict[str, Any]:
    """The body under its camelCase names. Raises what Google says of an unknown field."""
    try:
        kind.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise Refused(
            400, "INVALID_ARGUMENT", f"Invalid JSON payload received. {place}: {first['msg']}"
        ) from error
    return {to_camel(name): value for name, value in body.items()}


def _check_contents(contents: list[Any], model: str, *, whole: bool = True) -> None:
    """The rules of turns: who speaks, answers to every call, signatures from Gemini 3 on."""
    if whole and not contents:
        raise Refused(400, "INVALID_ARGUMENT", "* GenerateContentRequest.contents: not specified")
    calls = 0
    for content in contents:
        parts = content.get("parts") or []
        if content.get("role") not in ("user", "model") or not parts:
            raise Refused(400, "INVALID_ARGUMENT", "Please use a valid role: user, model.")
        if not all(part.get("text") or part.keys() - {"text"} for part in parts):
            raise Refused(400, "INVALID_ARGUMENT", "Unable to submit request: empty text part.")
        answers = sum("functionResponse" in part for part in parts)
        if answers != calls:
            raise Refused(
                400,
                "INVALID_ARGUMENT",
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn.",
            )
        called = [part for part in parts if "functionCall" in part]
        calls = len(called)
        if called and "thoughtSignature" not in called[0] and re.search(r"gemini-[3-9]", model):
            raise Refused(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature.")


def chunk(
    parts: list[dict[str, object]],
    served: Served,
    finish: str | None = None,
    *,
    spoken: int | None = None,
    thoughts: int | None = None,
) -> dict[str, object]:
    """One GenerateContentResponse; as JSON of protocol buffers, what is zero is left out."""
    usage: dict[str, int | None] = {
        "promptTokenCount": served.total,
        "cachedContentTokenCount": served.read or None,
        "candidatesTokenCount": spoken,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": served.total + (spoken or 0) + (thoughts or 0),
    }
    candidate: dict[str, object] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": {name: count for name, count in usage.items() if count is not None},
        "modelVersion": served.model.removeprefix("models/"),
        "responseId": "r-1",
    }


def problem(
    code: int, message: str, status: str = "", details: list[object] | None = None
) -> dict[str, object]:
    """An error as Google words it."""
    error = {"code": code, "message": message, "status": status or _STATUS.get(code, "UNKNOWN")}
    return {"error": error | ({"details": details} if details else {})}


def bad_key() -> dict[str, object]:
    """A key that is none is a 400 here."""
    info: dict[str, object] = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
    }
    return problem(400, "API key not valid. Please pass a valid API key.", "", [info])


@contextmanager
def gemini(clock: FakeClock | None = None) -> Iterator[GeminiServer]:
    """A server that listens, on its own clock or a given one."""
    with listening(GeminiServer(clock=clock or FakeClock())) as server:
        yield server

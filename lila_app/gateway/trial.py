"""`lila models test`: a model tried stage by stage, so that a failure says where it is."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from lila_app.errors import LilaError, RequestRefusedError, WeightsError
from lila_app.gateway.port import (
    Finished,
    Message,
    Provider,
    ProviderEvent,
    Request,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from lila_app.views import Stage

_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "green", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
_PREFIX = (
    "You are being tried out. Answer in one short sentence. What follows is filling, so that there "
    "is a prefix worth keeping. " + "A clock ticks, a kettle sings, a cat sleeps on the sill. " * 24
)
_REPLY_TOKENS = 24
_SCHEMA_TOKENS = 60


async def trial(provider: Provider) -> AsyncGenerator[Stage, None]:
    """Try reach, stream, schema and cache in turn; stops after a stage nothing can follow.

    Runs in the background slot, so a chat's cached prefix survives it. Costs four short calls.
    """
    first = _Call(provider, _request("Say hello."))
    reached = await first.run()
    yield first.reached() if reached else Stage("reach", False, first.problem)
    if not reached:
        return
    yield first.streamed()
    yield await _schema(provider)
    yield await _cache(provider)


class _Call:
    """One call and what was seen of it."""

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self._request = request
        self.text = ""
        self.pieces = 0
        self.usage: Usage | None = None
        self.first_ms = 0
        self.total_ms = 0
        self.ended = ""
        self.error: LilaError | None = None

    @property
    def problem(self) -> str:
        """What went wrong and what to do, in one line."""
        if self.error is None:
            return ""
        hint = f" ({self.error.hint})" if self.error.hint else ""
        return f"{self.error.message}{hint}"

    async def run(self) -> bool:
        """Make the call; True when anything came back."""
        started = time.monotonic()
        try:
            async with aclosing(_generator(self._provider, self._request)) as events:
                async for event in events:
                    now = round((time.monotonic() - started) * 1000)
                    self.first_ms = self.first_ms or max(1, now)
                    self._see(event)
        except WeightsError:
            raise  # the file is at fault, and no stage of a call
        except LilaError as error:
            self.error = error
        self.total_ms = round((time.monotonic() - started) * 1000)
        return self.first_ms > 0

    def _see(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta(text):
                self.text += text
                self.pieces += 1
            case ThinkingDelta():
                self.pieces += 1
            case Usage():
                self.usage = event
            case Finished(reason):
                self.ended = reason
            case _:
                pass

    def reached(self) -> Stage:
        return Stage("reach", True, f"{self._provider.name}: first word after {self.first_ms} ms")

    def streamed(self) -> Stage:
        if self.error is not None:
            return Stage("stream", False, self.problem)
        counted = "token counts reported" if self.usage else "no token counts reported"
        detail = f"{self.pieces} pieces in {self.total_ms} ms, ended with {self.ended}; {counted}"
        return Stage("stream", self.pieces > 0, detail)


async def _schema(provider: Provider) -> Stage:
    request = Request(
        (Message("user", "Which colour is grass? Answer as JSON."),),
        _SCHEMA_TOKENS,
        "background",
        _SCHEMA,
    )
    call = _Call(provider, request)
    await call.run()
    if isinstance(call.error, RequestRefusedError):
        return Stage("schema", True, "not supported by this server; LILA does without")
    if call.error is not None:
        return Stage("schema", False, call.problem)
    try:
        reply: object = json.loads(call.text)
    except ValueError:
        return Stage("schema", False, "the reply is not JSON, although a schema was asked for")
    fits = reply in [{"colour": colour} for colour in ("red", "green", "blue")]
    detail = "the reply keeps to a JSON Schema" if fits else "JSON, but not what the schema asks"
    return Stage("schema", fits, detail)


async def _cache(provider: Provider) -> Stage:
    first, second = (_Call(provider, _request(said)) for said in ("Hello.", "Good night."))
    await first.run()
    await second.run()
    for call in (first, second):
        if call.error is not None:
            return Stage("cache on call 2", False, call.problem)
    usage = second.usage
    if usage is None or usage.read is None:
        return Stage("cache on call 2", True, "the server does not say; unknown is not zero")
    detail = f"{usage.read} of {usage.total} prompt tokens read from the cache"
    return Stage("cache on call 2", usage.read > 0, detail)


def _request(said: str) -> Request:
    return Request((Message("system", _PREFIX), Message("user", said)), _REPLY_TOKENS, "background")


async def _generator(provider: Provider, request: Request) -> AsyncGenerator[ProviderEvent, None]:
    async for event in provider.stream(request):
        yield event

"""The embedded provider: a small model in a process of LILA's own, spoken to over loopback HTTP.

HTTP, although the library has a callback interface: closing a stream frees the model within one
batch, while a stop through the callback took 7.8 s (measured 2026-11-30).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import Cancelled, TruncatedReplyError, UnavailableError
from lila_app.gateway import loose
from lila_app.gateway.chat.reader import StreamReader, error_text, refusal
from lila_app.gateway.chat.wire import response_format, told
from lila_app.gateway.embedded.circles import Circles
from lila_app.gateway.embedded.precedence import Hold, Precedence, Rank
from lila_app.gateway.embedded.server import SLOTS, EmbeddedServer, Served
from lila_app.gateway.embedded.weights import Weights, verify
from lila_app.gateway.port import Finished, ProviderEvent, Request, TextDelta, Usage

if TYPE_CHECKING:
    import httpx2

_RANKS = {"chat": Rank.CHAT, "voice": Rank.VOICE, "background": Rank.BACKGROUND}

_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 120.0
"""The server reports progress after each batch, so a silence this long is a hang."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn; None leaves it to the server and what the GGUF file says."""

    temperature: float | None = None
    top_p: float | None = None
    repeat_penalty: float | None = None
    longest: int | None = None
    """Tokens a reply may have, whatever was asked for."""
    stop: tuple[str, ...] = ()
    """Texts that end a reply and are not part of it."""
    ends_circles: bool = False
    """Whether a reply ends when it says the same sentence for the third time."""

    def parameters(self) -> dict[str, object]:
        """As the server takes them."""
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "repeat_penalty": self.repeat_penalty,
            "stop": list(self.stop) or None,
        }
        return {name: value for name, value in named.items() if value is not None}


class EmbeddedProvider:
    """A GGUF model served by llama.cpp on this machine; see `port.Provider`.

    Tools are not offered to it: the shipped model's template has no place for them, and its server
    would drop them without a word. What a turn's tools found before it fell to this model is told
    in plain messages.

    Voice takes the model from chat, and both take it from background work and warming: who loses
    it gets `Cancelled` (a warming just ends). Warming the slot of voice takes it from background
    work too: somebody speaks, and will want an answer. May be used from several threads and event
    loops.
    """

    def __init__(self, weights: Weights, limits: ModelLimits, sampling: Sampling) -> None:
        self._name = weights.name
        self._limits = limits
        self._sampling = sampling
        self._precedence = Precedence()
        self._server = EmbeddedServer(
            weights.path,
            alias=weights.name,
            window=limits.window,
            check=lambda: verify(weights),
        )

    @property
    def name(self) -> str:
        """`embedded/<model>`."""
        return self._name

    def limits(self) -> ModelLimits:
        """The window of one slot and what LILA chooses to spend; no file is read."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply; see `port.Provider`.

        Raises `WeightsError` (the file), `UnavailableError` (the process), `ContextTooLarge`,
        `TruncatedReplyError`, and `Cancelled` when a spoken question took the model.
        """
        async with (
            self._precedence.hold(_RANKS[request.slot]) as hold,
            aclosing(_interruptible(self._ask(request, {}), hold)) as events,
        ):
            async for event in events:
                yield event

    async def warm(self, request: Request) -> None:
        """Evaluate the request's messages so that the next call in its slot reads them.

        Ends early, without an error, when somebody wants the model; what was evaluated by then
        stays in the cache. Raises what `stream` raises for the file and the process.
        """
        if not request.messages:
            return
        # Without the opening of a reply, the prefix ends exactly where the next call goes on.
        prefix_only = {"add_generation_prompt": False}
        rank = Rank.LISTENING if request.slot == "voice" else Rank.WARMING
        with contextlib.suppress(Cancelled):
            async with (
                self._precedence.hold(rank) as hold,
                aclosing(_interruptible(self._ask(request, prefix_only), hold)) as events,
            ):
                async for _ in events:
                    pass

    async def close(self) -> None:
        """Stop what is running and end the process."""
        self._precedence.close()
        await asyncio.to_thread(self._server.stop)

    async def _ask(
        self, request: Request, extra: Mapping[str, object]
    ) -> AsyncGenerator[ProviderEvent, None]:
        """One call over HTTP, in the order the port promises."""
        import httpx2

        served = await asyncio.to_thread(self._server.ensure)
        body = {**self._body(request, served), **extra}
        timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        # A client a call, because calls come from different event loops; without certificates it
        # costs half a millisecond. No environment: a proxy has no business on loopback.
        async with httpx2.AsyncClient(
            base_url=served.address, timeout=timeout, trust_env=False, verify=False
        ) as client:
            headers = {"Authorization": f"Bearer {served.key}"}
            try:
                async with client.stream(
                    "POST", "/v1/chat/completions", json=body, headers=headers
                ) as response:
                    if response.status_code >= 400:
                        await response.aread()
                        raise refusal(response.status_code, _said(response.text), who=self._name)
                    async with aclosing(self._events(response)) as events:
                        async for event in events:
                            yield event
            except httpx2.TransportError as error:
                # Dead, dying or hung: whichever, the next call gets a new one.
                await asyncio.to_thread(self._server.discard, served)
                raise UnavailableError(
                    f"the embedded model stopped answering ({type(error).__name__})",
                    hint="ask again: it is started anew",
                ) from error

    async def _events(self, response: httpx2.Response) -> AsyncGenerator[ProviderEvent, None]:
        """The events of a server-sent stream that ends as it should, or in circles."""
        reader, circles, done = StreamReader(), Circles(), False
        async for line in response.aiter_lines():
            if not line.startswith("data:"):
                continue  # a comment that keeps the connection open, or the line between events
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                done = True
                break
            chunk = _chunk(data, self._name)
            if "error" in chunk:
                raise refusal(_status(chunk["error"]), error_text(chunk), who=self._name)
            if "prompt_progress" in chunk:
                yield _counted(loose.table(chunk["prompt_progress"]))
            for event in reader.read(chunk):
                yield event
                text = event.text if isinstance(event, TextDelta) else ""
                if self._sampling.ends_circles and circles.closed_by(text):
                    yield Finished("length")
                    return
        if not done or reader.finished is None:
            raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        for event in reader.end():
            yield event

    def _body(self, request: Request, served: Served) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self._name,
            "messages": served.neutral.messages((*request.messages, *told(request.steps))),
            "max_tokens": min(request.max_tokens, self._sampling.longest or request.max_tokens),
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
            "cache_prompt": True,
            "id_slot": SLOTS[request.slot],
            **self._sampling.parameters(),
        }
        if request.schema is not None:
            body["response_format"] = response_format(request.schema)
        return body


async def _interruptible(
    events: AsyncGenerator[ProviderEvent, None], hold: Hold
) -> AsyncGenerator[ProviderEvent, None]:
    """The events, until the model is taken away: then `Cancelled`, even in the middle of a wait.

    A task of its own reads the stream, because the consumer's task must not be cancelled by
    somebody else, and is elsewhere half of the time.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[ProviderEvent | None] = asyncio.Queue()

    async def read() -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    queue.put_nowait(event)
        finally:
            queue.put_nowait(None)

    reading = asyncio.create_task(read())
    hold.when_taken(lambda: _call_in(loop, reading.cancel))
    try:
        while (event := await queue.get()) is not None:
            yield event
        await asyncio.wait({reading})
        if reading.cancelled():
            raise Cancelled(
                "the reply gave way to something more urgent", hint="ask again when it is done"
            )
        reading.result()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _call_in(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed, and its tasks with it
        loop.call_soon_threadsafe(callback)


def _counted(progress: Mapping[str, object]) -> Usage:
    """What is known of the prompt before the first word, and all that is if the reply is ended."""
    return Usage(loose.count(progress.get("total")), loose.count(progress.get("cache")))


def _chunk(data: str, who: str) -> Mapping[str, object]:
    try:
        chunk: object = json.loads(data)
    except ValueError as error:
        raise UnavailableError(f"{who} sent something unreadable", hint="ask again") from error
    if not isinstance(chunk, dict):
        raise UnavailableError(f"{who} sent something unreadable", hint="ask again")
    return cast(Mapping[str, object], chunk)


def _status(error: object) -> int:
    code = cast(Mapping[str, object], error).get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) else 500


def _said(body: str) -> str:
    try:
        return error_text(json.loads(body))
    except ValueError:
        return body

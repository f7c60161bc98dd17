"""Chat Completions through the OpenAI SDK: Ollama, llama-server, LM Studio, vLLM by base URL."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import TruncatedReplyError
from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback
from lila_app.gateway.chat import wire as chat_wire
from lila_app.gateway.chat.neutral import Neutraliser
from lila_app.gateway.chat.reader import StreamReader
from lila_app.gateway.openai.connection import Connection, listening
from lila_app.gateway.openai.errors import Explainer
from lila_app.gateway.port import ProviderEvent, Request

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that speaks Chat Completions: its base URL with version path, and a key if any."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)


class OpenAICompatibleProvider:
    """One model of one server; see `port.Provider`. Holds no connection between calls.

    Nothing about caching is sent: many servers refuse keys they do not know. Nor is `effort`.
    """

    def __init__(self, name: str, endpoint: Endpoint, limits: ModelLimits) -> None:
        self._name = name
        self._limits = limits
        self._neutral = Neutraliser()
        self._base_url = endpoint.base_url
        access = Access(endpoint.base_url, endpoint.api_key or "")
        self._connection = Connection(access)
        self._explainer = Explainer(
            name,
            access,
            "Chat Completions",
            missing=_pull(name),
            unreachable="start the server, or choose another model with --model",
        )

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """What the tables and the person's settings say; nothing is asked."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply; see `port.Provider`.

        Raises `AuthenticationError`, `RateLimitedError`, `SpendLimitError`, `RequestRefusedError`,
        `ContextTooLarge`, `TruncatedReplyError` or `UnavailableError`.
        """
        reader, began = StreamReader(), False
        async with self._answering(request) as chunks:
            async for chunk in chunks:
                began = True
                for event in reader.read(chunk.to_dict(mode="json", warnings=False)):
                    yield event
        if not began:
            raise self._explainer.not_ours("not a stream")
        if reader.finished is None:
            raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        for event in reader.end():
            yield event

    async def warm(self, request: Request) -> None:
        """Let a server on this machine read the messages ahead; others are not asked, or paid."""
        if not request.messages or not is_loopback(self._base_url):
            return
        one = replace(request, max_tokens=1)
        async with aclosing(self.stream(one)) as events:
            async for _ in events:
                pass

    async def close(self) -> None:
        """Nothing is held."""

    @asynccontextmanager
    async def _answering(
        self, request: Request
    ) -> AsyncGenerator[AsyncIterator[ChatCompletionChunk]]:
        """The open stream; leaving closes its connection, which stops the server."""
        client = await self._connection.client()
        import httpx2
        import openai

        body = chat_wire.body(request, self._name.partition("/")[2], self._neutral)
        asked = cast("CompletionCreateParamsStreaming", body)
        async with client:
            try:
                async with listening(await client.chat.completions.create(**asked)) as chunks:
                    yield chunks
            except (openai.OpenAIError, httpx2.TransportError, ValueError) as error:
                raise self._explainer.explained(error) from None  # the SDK's may quote the key


def _pull(name: str) -> str:
    provider, _, model = name.partition("/")
    if provider != "ollama":
        return ""
    return f"`ollama pull {model}` fetches it; `lila models list` shows what is there"

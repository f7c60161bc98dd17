"""Chat Completions through the OpenAI SDK: Ollama, llama-server, LM Studio, vLLM by base URL."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import (
    GatewayError,
    RateLimitedError,
    TruncatedReplyError,
    UnavailableError,
)
from lila_app.gateway.addresses import is_loopback
from lila_app.gateway.completions import StreamReader, error_text, quote, refusal
from lila_app.gateway.neutral import Neutraliser
from lila_app.gateway.port import ProviderEvent, Request

if TYPE_CHECKING:
    import httpx2
    import openai
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import (
        ChatCompletionChunk,
        ChatCompletionMessageParam,
        completion_create_params,
    )

_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 300.0
"""A large model on a slow machine may read a long prompt for minutes before its first word."""

_SENT = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection"}
)
"""Headers that go to the server. The SDK would add the machine's make and whatever stands in
OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS, which are meant for somebody else."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that speaks Chat Completions: its base URL with version path, and a key if any."""

    base_url: str
    api_key: str | None = None


class OpenAICompatibleProvider:
    """One model of one server; see `port.Provider`. Holds no connection between calls."""

    def __init__(self, name: str, endpoint: Endpoint, limits: ModelLimits) -> None:
        self._name = name
        self._model = name.partition("/")[2]
        self._endpoint = endpoint
        self._limits = limits
        self._neutral = Neutraliser()

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """What the tables and the person's settings say; nothing is asked."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply; see `port.Provider`.

        Raises `AuthenticationError`, `RateLimitedError`, `RequestRefusedError`,
        `ContextTooLarge`, `TruncatedReplyError` or `UnavailableError`.
        """
        reader, began = StreamReader(), False
        async with self._answering(request) as chunks:
            async for chunk in chunks:
                began = True
                for event in reader.read(chunk.to_dict(mode="json", warnings=False)):
                    yield event
        if not began:
            raise self._not_ours("not a stream")
        if reader.finished is None:
            raise TruncatedReplyError(f"the reply of {self._name} broke off", hint="ask again")
        if reader.usage is not None:
            yield reader.usage
        yield reader.finished

    async def warm(self, request: Request) -> None:
        """Let a server on this machine read the messages ahead; others are not asked, or paid."""
        if not request.messages or not is_loopback(self._endpoint.base_url):
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
    ) -> AsyncGenerator[AsyncStream[ChatCompletionChunk]]:
        """The open stream; leaving closes its connection, which stops the server."""
        import httpx2
        import openai

        stream: AsyncStream[ChatCompletionChunk] | None = None
        async with self._client() as client:
            try:
                stream = await self._ask(client, request)
                yield stream
            except (openai.OpenAIError, httpx2.TransportError, ValueError) as error:
                raise self._explained(error) from error
            finally:
                if stream is not None:
                    await stream.close()

    async def _ask(self, client: AsyncOpenAI, request: Request) -> AsyncStream[ChatCompletionChunk]:
        from openai import omit

        return await client.chat.completions.create(
            model=self._model,
            messages=cast(
                "list[ChatCompletionMessageParam]", self._neutral.messages(request.messages)
            ),
            max_tokens=request.max_tokens,
            stream=True,
            stream_options={"include_usage": True},
            response_format=_response_format(request) or omit,
        )

    def _client(self) -> AsyncOpenAI:
        """A client for one call: calls come from different event loops. The gateway retries."""
        import httpx2
        import openai

        local = is_loopback(self._endpoint.base_url)
        timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        http = httpx2.AsyncClient(
            timeout=timeout,
            trust_env=not local,  # a proxy has no business on loopback
            verify=not self._endpoint.base_url.startswith("http://"),  # loading them takes 50 ms
            event_hooks={"request": [self._clean_headers]},
        )
        return openai.AsyncOpenAI(
            api_key=self._endpoint.api_key or "none",
            base_url=self._endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )

    async def _clean_headers(self, request: httpx2.Request) -> None:
        for header in list(request.headers):
            if header.lower() not in _SENT:
                del request.headers[header]
        request.headers["user-agent"] = "lila"
        if self._endpoint.api_key is not None:
            request.headers["authorization"] = f"Bearer {self._endpoint.api_key}"

    def _explained(self, error: Exception) -> GatewayError:
        """The SDK's error as one of ours."""
        import openai

        match error:
            case openai.RateLimitError():
                return self._rate_limited(error)
            case openai.APIStatusError():
                return self._refused(error.status_code, _said(error))
            case openai.APITimeoutError():
                return UnavailableError(
                    f"{self._name} did not answer in time", hint="try again, or another model"
                )
            case openai.APIConnectionError():
                return UnavailableError(
                    f"nothing answered for {self._name} at {self._endpoint.base_url}",
                    hint="start the server, or choose another model with --model",
                )
            case openai.APIError():  # said inside a stream that had begun well
                return self._refused(_code(error), _said(error))
            case _:
                return self._not_ours(type(error).__name__)

    def _not_ours(self, why: str) -> UnavailableError:
        return UnavailableError(
            f"{self._name} sent something that is not Chat Completions ({why})",
            hint=f"check that {self._endpoint.base_url} is the right address",
        )

    def _refused(self, status: int, said: str) -> GatewayError:
        hint = ""
        if status == 404 and self._name.startswith("ollama/"):
            hint = f"`ollama pull {self._model}` fetches it; `lila models list` shows what is there"
        return refusal(status, self._without_key(said), who=self._name, hint=hint)

    def _rate_limited(self, error: openai.RateLimitError) -> RateLimitedError:
        wait = _retry_after(error.response.headers.get("retry-after"))
        said = quote(self._without_key(_said(error)))
        return RateLimitedError(
            f"{self._name} asks to wait{f': {said}' if said else ''}",
            hint=f"try again in {wait:.0f} s" if wait is not None else "try again in a minute",
            retry_after=wait,
        )

    def _without_key(self, said: str) -> str:
        key = self._endpoint.api_key
        return said.replace(key, "(key)") if key else said


def _response_format(request: Request) -> completion_create_params.ResponseFormat | None:
    if request.schema is None:
        return None
    schema = cast("dict[str, object]", json.loads(json.dumps(request.schema)))
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": schema},
    }


def _said(error: openai.APIError) -> str:
    return error_text(error.body) or error.message


def _code(error: openai.APIError) -> int:
    code = str(error.code or "")
    return int(code) if code.isdigit() else 500


def _retry_after(header: str | None) -> float | None:
    """Seconds from a Retry-After header, which says seconds or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())

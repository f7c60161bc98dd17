"""The port every model provider implements, and the plain data that crosses it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from lila_app.context.items import ModelLimits


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next visible piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next piece of the model's thinking; never part of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them.

    `total` is the whole prompt, `read` the part served from a cache and `written` the part put
    into one: None when the provider does not report it, which is not zero. `output` is the reply.
    """

    total: int | None = None
    read: int | None = None
    written: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The terminal marker came: the reply is whole (`stop`) or hit its token limit (`length`)."""

    reason: Literal["stop", "length"]


ProviderEvent = TextDelta | ThinkingDelta | Usage | Finished


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message on its way to a provider."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One call: the messages in order, and what bounds the reply.

    `slot` keeps the prefix caches of different use cases apart ("chat", "voice", "background").
    `max_tokens` bounds the reply; 0 asks only to warm the prefix. `schema` is a JSON Schema the
    reply must satisfy, where the provider supports it.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    slot: Literal["chat", "voice", "background"] = "chat"
    schema: Mapping[str, object] | None = None


class Provider(Protocol):
    """A model that can answer. Implementations raise only `LilaError` subclasses.

    `stream` yields deltas, then one `Usage` where known, then `Finished`. A stream that ends
    without the provider's terminal marker raises `TruncatedReplyError`. Closing the iterator
    (`aclose`, or cancelling the task) stops generation within half a second. Nothing blocks the
    event loop.
    """

    @property
    def name(self) -> str:
        """`provider/model`."""
        ...

    def limits(self) -> ModelLimits:
        """What this model can take; cheap, no network."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask for a reply."""
        ...

    async def warm(self, request: Request) -> None:
        """Evaluate the request's prefix in the background so that the next call reads it."""
        ...

    async def close(self) -> None:
        """Release what was taken; safe to call twice."""
        ...

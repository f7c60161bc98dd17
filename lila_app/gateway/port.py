"""The port every model provider implements, and the plain data that crosses it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from lila_app.context.items import ModelLimits

Slot = Literal["chat", "voice", "background"]
Ttl = Literal["short", "long"]
"""How long a cached prefix is to live: what each of the two means is the provider's contract
(policies/caching.toml)."""

Job = Literal["reply", "summary", "extraction", "title"]
"""What a model is needed for."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next visible piece of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next piece of the model's thinking; never part of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """The model asks for a tool; whole, never a piece. `arguments` is the JSON text it wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Carried:
    """Something a provider wants back unchanged with the next request of the same turn.

    Signed thinking, reasoning items, thought signatures. `model` is the `provider/model` it
    belongs to: it is never shown to another. `payload` is that provider's own JSON.
    """

    model: str
    payload: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the provider said of the call itself: its id, and its own reason for a cache miss.

    `miss` is None when nothing was missed or nothing was said; `missed` is in its tokens.
    """

    response_id: str
    miss: str | None = None
    missed: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them.

    `total` is the whole prompt, `read` the part served from a cache and `written` the part put
    into one, of which `written_long` for the long lifetime: None when the provider does not report
    it, which is not zero. `output` is the reply with its thinking.
    """

    total: int | None = None
    read: int | None = None
    written: int | None = None
    output: int | None = None
    written_long: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The terminal marker came.

    The reply is whole (`stop`), hit its token limit (`length`), or waits for the results of the
    calls before it (`tools`).
    """

    reason: Literal["stop", "length", "tools"]


ProviderEvent = TextDelta | ThinkingDelta | Call | Carried | Receipt | Usage | Finished


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of the prompt on its way to a provider; neighbours of one role are one message.

    After a piece with `breakpoint` a cached prefix may end.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    breakpoint: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the model may call; `parameters` is a JSON Schema that strict modes accept."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Result:
    """What a call of this turn returned; `failed` says that the tool did not do what was asked."""

    call: Call
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model within this turn that asked for tools, and what they returned."""

    text: str
    results: tuple[Result, ...]
    carried: tuple[Carried, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix that ends at a breakpoint: after which block, its hash, its declared tokens."""

    after: str
    sha256: str
    tokens: int


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What an adapter needs to know to use a provider's cache.

    `prefixes` stand in the order of the breakpoints among the messages, `ttls` beside them (long
    before short, None where nothing is to be cached). `profile` keeps the caches of two profiles
    apart. `previous` is the id of the response before this one in the same session and epoch, if
    the same model gave it.
    """

    profile: str = ""
    session: str = ""
    epoch: int = 0
    use_case: str = ""
    prefixes: tuple[Prefix, ...] = ()
    ttls: tuple[Ttl | None, ...] = ()
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One call: the prompt in pieces, and what bounds the reply.

    `slot` keeps the prefix caches of different uses apart. `max_tokens` bounds the reply; 0 asks
    only to warm the prefix. `schema` is a JSON Schema the reply must satisfy, where the provider
    supports it. `tokens` are the prompt's in the declared tokenizer, 0 when not counted. `steps`
    follow the messages. Tools, effort and schema are frozen within an epoch.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    slot: Slot = "chat"
    schema: Mapping[str, object] | None = None
    tools: tuple[Tool, ...] = ()
    steps: tuple[Step, ...] = ()
    effort: Literal["low", "medium", "high"] | None = None
    job: Job = "reply"
    tokens: int = 0
    cache: CachePlan = field(default_factory=CachePlan)


def merged(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The pieces as whole messages, for a provider that takes no breakpoints."""
    whole: list[Message] = []
    for piece in messages:
        if whole and whole[-1].role == piece.role:
            whole[-1] = Message(piece.role, f"{whole[-1].content}\n{piece.content}")
        else:
            whole.append(Message(piece.role, piece.content))
    return tuple(whole)


def own(request: Request, model: str) -> Request:
    """The request without what other models want back: thinking is shown to nobody else."""
    steps = tuple(
        replace(step, carried=tuple(one for one in step.carried if one.model == model))
        for step in request.steps
    )
    return replace(request, steps=steps)


class Provider(Protocol):
    """A model that can answer. Implementations raise only `LilaError` subclasses.

    `stream` yields deltas, whole calls, what is to be carried, then `Receipt` and `Usage` where
    known, then `Finished`. Where they are known earlier they may come earlier too, so that a reply
    that is stopped is accounted for; the last of each counts. A stream that ends without the
    provider's terminal marker raises `TruncatedReplyError`. Closing the iterator (`aclose`, or
    cancelling the task) stops generation within half a second. Nothing blocks the event loop. No
    retries: those are the gateway's.
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

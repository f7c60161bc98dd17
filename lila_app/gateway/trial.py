"""`lila models test`: a model tried stage by stage, so that a failure says where it is."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from decimal import Decimal

from lila_app.errors import (
    AuthenticationError,
    LilaError,
    RequestRefusedError,
    UnavailableError,
    WeightsError,
)
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.ledger import Attempt
from lila_app.gateway.port import (
    CachePlan,
    Finished,
    Message,
    Prefix,
    Provider,
    ProviderEvent,
    Receipt,
    Request,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from lila_app.gateway.prices import Cost
from lila_app.views import Stage

_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "green", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
_OPENING = (
    "You are being tried out. Answer in one short sentence. What follows is filling, so that there "
    "is a prefix worth keeping. "
)
_FILLING = "A clock ticks, a kettle sings, a cat sleeps on the sill. "
_FILLING_TOKENS = 15
"""Of the declared tokenizer (cl100k_base)."""
_LEAST_FILLING = 24
_SPARE = 1.25
"""How far the prefix is above the provider's minimum; its tokenizer may make fewer of a text."""

_REPLY_TOKENS = 24
_SCHEMA_TOKENS = 60
_THINKING_TOKENS = 1_024
"""For models on the network, some of which think before they say a word; few tokens are used."""

_PROMISED = ("anthropic", "breakpoints", "prefix")
"""Kinds of cache from which the second call must read. The others do their best."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is known of a model before it is tried.

    `key` says which key is used, "" when none is, and `credential` is its digest. `remote` is
    whether calls cost money. `cost` is the price of a call's usage; `record` is told of every call.
    """

    key: str = ""
    credential: str = ""
    remote: bool = False
    contract: CacheContract = field(default_factory=lambda: CacheContract("prefix"))
    cost: Callable[[Usage], Cost] = lambda _: Cost(None, "no price is known")
    record: Callable[[Attempt], None] = lambda _: None
    now: Callable[[], str] = lambda: ""

    @property
    def prefix(self) -> str:
        """A prefix that is long enough for the provider's cache."""
        least = math.ceil(self.contract.minimum * _SPARE / _FILLING_TOKENS)
        return _OPENING + _FILLING * max(_LEAST_FILLING, least)

    @property
    def prefix_tokens(self) -> int:
        """About how many tokens that is."""
        return self.prefix.count(_FILLING) * _FILLING_TOKENS + 30

    @property
    def usage(self) -> Usage:
        """About what the trial will use, were nothing read from a cache."""
        return Usage(total=2 * self.prefix_tokens + 200, output=150)


async def trial(provider: Provider, terms: Terms | None = None) -> AsyncGenerator[Stage, None]:
    """Try reach, auth, stream, schema and cache in turn and say what it cost.

    Stops after a stage nothing can follow. Runs in the background slot, so a chat's cached prefix
    survives it. Costs three short calls.
    """
    terms = terms or Terms()
    calls = _Calls(provider, terms)
    first = await calls.prefixed("Say hello.")
    for stage in _opening(provider.name, first, terms):
        yield stage
    if first.first_ms:
        # Directly after the first: a server with one slot has no other place to keep it.
        second = await calls.prefixed("Say good night.")
        yield _schema(await calls.structured())
        yield _cache(second, terms.contract)
    if first.first_ms or first.usage is not None:
        yield calls.cost()


def _opening(name: str, first: _Call, terms: Terms) -> list[Stage]:
    """How far the first call came."""
    if isinstance(first.error, UnavailableError) and not first.first_ms:
        return [Stage("reach", False, first.problem)]
    stages = [Stage("reach", True, f"{name} answers")]
    if first.first_ms:
        stages = [Stage("reach", True, f"{name}: first word after {first.first_ms} ms")]
    if isinstance(first.error, AuthenticationError):
        return [*stages, Stage("auth", False, first.problem)]
    # Who asks to wait, or finds fault with the request, may not have looked at the key.
    looked = "accepted" if first.first_ms else "not refused"
    accepted = f"{looked}: {terms.key}" if terms.key else "no key is used"
    return [*stages, Stage("auth", True, accepted), first.streamed()]


class _Calls:
    """The calls of one trial, with what they used."""

    def __init__(self, provider: Provider, terms: Terms) -> None:
        self._provider = provider
        self._terms = terms
        self._made: list[_Call] = []

    async def prefixed(self, said: str) -> _Call:
        text = self._terms.prefix
        end = Prefix(
            "L1.persona", hashlib.sha256(text.encode()).hexdigest(), self._terms.prefix_tokens
        )
        return await self._run(
            Request(
                (Message("system", text, breakpoint=True), Message("user", said)),
                self._limit(_REPLY_TOKENS),
                "background",
                cache=CachePlan(profile="trial", use_case="trial", prefixes=(end,)),
            )
        )

    async def structured(self) -> _Call:
        question = Message("user", "Which colour is grass? Answer as JSON.")
        limit = self._limit(_SCHEMA_TOKENS)
        plan = CachePlan(profile="trial", use_case="trial")
        return await self._run(Request((question,), limit, "background", _SCHEMA, cache=plan))

    def _limit(self, local: int) -> int:
        return _THINKING_TOKENS if self._terms.remote else local

    async def _run(self, request: Request) -> _Call:
        at = self._terms.now()
        call = _Call(self._provider, request)
        self._made.append(call)
        await call.run()
        provider, _, model = self._provider.name.partition("/")
        self._terms.record(
            Attempt(
                at,
                provider,
                model,
                call.ended or type(call.error).__name__,
                call.usage or Usage(),
                self._terms.credential,
                slot="background",
                use_case="trial",
                first_token_ms=call.first_ms or None,
                total_ms=call.total_ms,
            )
        )
        return call

    def cost(self) -> Stage:
        """What all calls took together."""
        used = [call.usage for call in self._made if call.usage is not None]
        costs = [self._terms.cost(usage) for usage in used]
        tokens = f"{sum(usage.total or 0 for usage in used):,} tokens in"
        if read := sum(usage.read or 0 for usage in used):
            tokens += f" ({read:,} of them from the cache)"
        tokens += f", {sum(usage.output or 0 for usage in used):,} out"
        if not used:
            said = "nothing was counted" if self._terms.remote else "free: on your own machine"
            return Stage("cost", True, said)
        unknown = next((cost.note for cost in costs if cost.usd is None), "")
        if unknown:
            return Stage("cost", True, f"{unknown}; {tokens}")
        dollars = sum((cost.usd for cost in costs if cost.usd is not None), Decimal(0))
        if not dollars:
            return Stage("cost", True, f"free: {costs[0].note or 'no price'}; {tokens}")
        source = f", by {costs[0].prices}" if costs[0].prices else ""
        return Stage("cost", True, f"${dollars:.4f} for {len(used)} calls: {tokens}{source}")


class _Call:
    """One call and what was seen of it."""

    def __init__(self, provider: Provider, request: Request) -> None:
        self._provider = provider
        self.request = request
        self.text = ""
        self.pieces = 0
        self.usage: Usage | None = None
        self.miss: str | None = None
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

    async def run(self) -> None:
        """Make the call and keep what comes of it."""
        started = time.monotonic()
        try:
            async with aclosing(self._provider.stream(self.request)) as events:
                async for event in events:
                    if isinstance(event, TextDelta | ThinkingDelta | Finished):
                        now = round((time.monotonic() - started) * 1000)
                        self.first_ms = self.first_ms or max(1, now)
                    self._see(event)
        except WeightsError:
            raise  # the file is at fault, and no stage of a call
        except LilaError as error:
            self.error = error
        self.total_ms = round((time.monotonic() - started) * 1000)

    def _see(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta(text):
                self.text += text
                self.pieces += 1
            case ThinkingDelta():
                self.pieces += 1
            case Usage():
                self.usage = event
            case Receipt():
                self.miss = event.miss
            case Finished(reason):
                self.ended = reason
            case _:
                pass

    def streamed(self) -> Stage:
        if self.error is not None:
            return Stage("stream", False, self.problem)
        counted = "token counts reported" if self.usage else "no token counts reported"
        detail = f"{self.pieces} pieces in {self.total_ms} ms, ended with {self.ended}; {counted}"
        return Stage("stream", self.pieces > 0, detail)


def _schema(call: _Call) -> Stage:
    if isinstance(call.error, RequestRefusedError):
        # The provider's words are kept: it may have meant something else.
        return Stage("schema", True, f"not supported, LILA does without: {call.error.message}")
    if call.error is not None:
        return Stage("schema", False, call.problem)
    try:
        reply: object = json.loads(call.text)
    except ValueError:
        return Stage("schema", False, "the reply is not JSON, although a schema was asked for")
    fits = reply in [{"colour": colour} for colour in ("red", "green", "blue")]
    detail = "the reply keeps to a JSON Schema" if fits else "JSON, but not what the schema asks"
    return Stage("schema", fits, detail)


def _cache(second: _Call, contract: CacheContract) -> Stage:
    name = "cache on call 2"
    if second.error is not None:
        return Stage(name, False, second.problem)
    if contract.kind == "none":
        return Stage(name, True, "not supported by this provider, as far as LILA knows")
    usage = second.usage
    if usage is None or usage.read is None:
        return Stage(name, True, "not reported; unknown is not zero")
    detail = f"{usage.read:,} of {usage.total or 0:,} prompt tokens read from the cache"
    if usage.read > 0:
        return Stage(name, True, detail)
    if contract.kind not in _PROMISED:
        return Stage(name, True, f"{detail}; this provider promises nothing so soon")
    why = f"; the provider's reason: {second.miss}" if second.miss else ""
    return Stage(name, False, f"{detail}{why}")

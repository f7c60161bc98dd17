"""A provider that is not on the person's machine, told placeholders alone.

What it answers is restored before anybody sees it, so nothing else in LILA knows of this. The same
value has the same placeholder in every request, so what is cached at the provider stays readable
there. Only placeholders of the request itself are restored: a model cannot ask for a value by
guessing its number.

Left as they are: definitions of tools and schemas, which LILA ships, and what a provider wants
carried back (`Carried`), which came from there.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from lila_app.context.items import ModelLimits
from lila_app.errors import LilaError
from lila_app.gateway.port import (
    Call,
    Finished,
    Message,
    Provider,
    ProviderEvent,
    Request,
    Result,
    Step,
    TextDelta,
    ThinkingDelta,
)
from lila_app.privacy import placeholders
from lila_app.privacy.streaming import Restorer, escaped

_ASKED = 256
"""Calls whose arguments are remembered as the model wrote them; a turn has at most some dozens."""


class Screen(Protocol):
    """What turns texts into what may be sent."""

    def screened(self, texts: list[str]) -> tuple[list[str], Mapping[str, str]]:
        """The texts with placeholders, and what those stand for. Blocking. Raises LilaError."""
        ...


class Guard:
    """A provider behind a screen; see `port.Provider`."""

    def __init__(self, provider: Provider, screen: Screen) -> None:
        self._provider = provider
        self._screen = screen
        self._asked: OrderedDict[str, tuple[str, str]] = OrderedDict()
        """Of a call by its id: the arguments as they were restored, and as the model wrote them."""

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._provider.name

    def limits(self) -> ModelLimits:
        """The provider's; a placeholder has about as many tokens as what it stands for."""
        return self._provider.limits()

    def sent(self, request: Request) -> tuple[Request, Mapping[str, str]]:
        """The request as it goes out, and what its placeholders stand for. Blocking."""
        texts = _Texts()
        for message in request.messages:
            texts.add(message.content)
        for step in request.steps:
            texts.add(step.text)
            for result in step.results:
                texts.add(result.text)
                for text in self._arguments(result.call)[1]:
                    texts.add(text)
        screened, values = self._screen.screened(texts.all)
        made = dict(zip(texts.all, screened, strict=True))
        messages = tuple(replace(one, content=made[one.content]) for one in request.messages)
        steps = tuple(self._step(step, made) for step in request.steps)
        return replace(request, messages=messages, steps=steps), values

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask with placeholders, and restore what comes. Raises what the provider raises."""
        sent, values = await asyncio.to_thread(self.sent, request)
        said = _Said(values, within_json=request.schema is not None)
        async with aclosing(self._provider.stream(sent)) as events:
            try:
                async for event in events:
                    for made in said.take(event, self._remember):
                        yield made
            except LilaError:
                for made in said.end():
                    yield made
                raise
        for made in said.end():
            yield made

    async def warm(self, request: Request) -> None:
        """As the provider does, with placeholders."""
        sent, _ = await asyncio.to_thread(self.sent, request)
        await self._provider.warm(sent)

    async def close(self) -> None:
        """As the provider does."""
        await self._provider.close()

    def _remember(self, call: Call, restored: str) -> None:
        self._asked[call.id] = restored, call.arguments
        if len(self._asked) > _ASKED:
            self._asked.popitem(last=False)

    def _step(self, step: Step, made: Mapping[str, str]) -> Step:
        def result(one: Result) -> Result:
            write, _ = self._arguments(one.call)
            return replace(one, text=made[one.text], call=replace(one.call, arguments=write(made)))

        return replace(step, text=made[step.text], results=tuple(map(result, step.results)))

    def _arguments(self, call: Call) -> tuple[Callable[[Mapping[str, str]], str], tuple[str, ...]]:
        """How the arguments of a call are written again, and the texts in them to be screened."""
        asked = self._asked.get(call.id)
        if asked is not None and asked[0] == call.arguments:
            written = asked[1]
            return lambda _: written, ()
        try:
            value: object = json.loads(call.arguments)
        except ValueError:
            return lambda made: made[call.arguments], (call.arguments,)
        texts = tuple(dict.fromkeys(_strings(value)))
        return lambda made: _json(_mapped(value, made)), texts


@dataclass(slots=True)
class _Texts:
    """Texts, each once."""

    found: dict[str, None] = field(default_factory=dict[str, None])

    def add(self, text: str) -> None:
        self.found[text] = None

    @property
    def all(self) -> list[str]:
        return list(self.found)


class _Said:
    """What came of one reply: its visible text and its thinking are two streams."""

    def __init__(self, values: Mapping[str, str], *, within_json: bool) -> None:
        self._escaped = escaped(values)
        self._text = Restorer(values, within_json=within_json)
        self._thinking = Restorer(values)

    def take(
        self, event: ProviderEvent, remember: Callable[[Call, str], None]
    ) -> list[ProviderEvent]:
        match event:
            case TextDelta(text=text):
                return [*_thought(self._thinking.end()), *_told(self._text.take(text))]
            case ThinkingDelta(text=text):
                return [*_told(self._text.end()), *_thought(self._thinking.take(text))]
            case Call():
                restored = placeholders.restored(event.arguments, self._escaped.get)
                remember(event, restored)
                return [*self.end(), replace(event, arguments=restored)]
            case Finished():
                return [*self.end(), event]
            case _:  # counts may come between two pieces of a placeholder
                return [event]

    def end(self) -> list[ProviderEvent]:
        return [*_thought(self._thinking.end()), *_told(self._text.end())]


def _told(text: str) -> list[ProviderEvent]:
    return [TextDelta(text)] if text else []


def _thought(text: str) -> list[ProviderEvent]:
    return [ThinkingDelta(text)] if text else []


def _strings(value: object) -> list[str]:
    """The texts in a JSON value, keys left out: those are the schema's."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return [text for one in cast("list[object]", value) for text in _strings(one)]
    return []


def _mapped(value: object, made: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return made[value]
    if isinstance(value, dict):
        return {key: _mapped(one, made) for key, one in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_mapped(one, made) for one in cast("list[object]", value)]
    return value


def _json(value: object) -> str:
    """As the tool loop writes arguments, so that what holds nothing private stays as it was."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Revealing:
    """A provider on the person's own machine, while the store holds placeholders: told values."""

    def __init__(self, provider: Provider, restored: Callable[[str], str]) -> None:
        self._provider = provider
        self._restored = restored

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._provider.name

    def limits(self) -> ModelLimits:
        """The provider's."""
        return self._provider.limits()

    def sent(self, request: Request) -> Request:
        """The request as the model reads it. Blocking."""

        def message(one: Message) -> Message:
            return replace(one, content=self._restored(one.content))

        def result(one: Result) -> Result:
            return replace(one, text=self._restored(one.text))

        steps = tuple(
            replace(step, text=self._restored(step.text), results=tuple(map(result, step.results)))
            for step in request.steps
        )
        return replace(request, messages=tuple(map(message, request.messages)), steps=steps)

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Ask with values. Raises what the provider raises."""
        sent = await asyncio.to_thread(self.sent, request)
        async with aclosing(self._provider.stream(sent)) as events:
            async for event in events:
                yield event

    async def warm(self, request: Request) -> None:
        """As the provider does, with values."""
        await self._provider.warm(await asyncio.to_thread(self.sent, request))

    async def close(self) -> None:
        """As the provider does."""
        await self._provider.close()

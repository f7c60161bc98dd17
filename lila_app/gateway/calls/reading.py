"""One call to one model, read to its end under a watch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from lila_app.errors import GatewayError, LilaError, TimedOutError, TruncatedReplyError
from lila_app.gateway.calls.rules import Patience
from lila_app.gateway.port import (
    Finished,
    Provider,
    ProviderEvent,
    Receipt,
    Request,
    TextDelta,
    ThinkingDelta,
    Usage,
)


class Reading:
    """Reads one stream, keeps what is to be told of it, and raises where a provider falls silent.

    Text and thinking pass at once. Everything else is held until the terminal marker: nobody may
    act on a tool call whose answer then turns out to be broken. `timer` gives seconds.
    """

    def __init__(
        self,
        provider: Provider,
        request: Request,
        patience: Patience,
        timer: Callable[[], float],
    ) -> None:
        self._provider = provider
        self._request = request
        self._patience = patience
        self._timer = timer
        self._began = timer()
        self._held: list[ProviderEvent] = []
        self._alive = False
        self._error: Exception | None = None
        self._finished: Finished | None = None
        self.visible = False
        self.usage = Usage()
        self.receipt = Receipt("")
        self.first_token_ms: int | None = None

    @property
    def whole(self) -> bool:
        """Whether the terminal marker came."""
        return self._finished is not None

    @property
    def made(self) -> bool:
        """Whether a call was made; a missing key or file prevents one."""
        return isinstance(self._error, GatewayError) or not isinstance(self._error, LilaError)

    @property
    def outcome(self) -> str:
        """How it ended; "stopped" while it has not."""
        if self._finished is not None:
            return self._finished.reason
        return "stopped" if self._error is None else type(self._error).__name__

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since it began."""
        return round(1_000 * (self._timer() - self._began))

    async def events(self) -> AsyncGenerator[ProviderEvent, None]:
        """The stream's events. Raises what the provider raises, and for silence."""
        try:
            async with aclosing(self._provider.stream(self._request)) as stream:
                while self._finished is None:
                    event = await self._next(stream)
                    self._note(event)
                    if isinstance(event, TextDelta | ThinkingDelta):
                        yield event
                    else:
                        self._hold(event)
        except Exception as error:
            self._error = error
            raise
        for event in self._held:
            yield event

    def _hold(self, event: ProviderEvent) -> None:
        """Keep for the end; of receipts and counts only the last of each."""
        if isinstance(event, Receipt | Usage):
            self._held = [held for held in self._held if type(held) is not type(event)]
        self._held.append(event)

    async def _next(self, stream: AsyncGenerator[ProviderEvent, None]) -> ProviderEvent:
        seconds = self._patience.stall if self._alive else self._patience.first_token
        watch = asyncio.timeout(seconds)
        try:
            async with watch:
                return await anext(stream)
        except StopAsyncIteration:
            raise TruncatedReplyError(
                f"the reply of {self._provider.name} broke off", hint="ask again"
            ) from None
        except TimeoutError as error:
            if not watch.expired():
                raise
            what = "fell silent" if self._alive else "did not begin to answer"
            raise TimedOutError(
                f"{self._provider.name} {what} for {seconds:.3g} s",
                hint="ask again, or another model with --model",
            ) from error

    def _note(self, event: ProviderEvent) -> None:
        # What was counted of the prompt is said at once; the model may think in silence after it.
        self._alive = self._alive or not isinstance(event, Receipt | Usage)
        match event:
            case TextDelta():
                self.visible = True
                if self.first_token_ms is None:
                    self.first_token_ms = self.elapsed_ms
            case Usage():
                self.usage = event
            case Receipt():
                self.receipt = event
            case Finished():
                self._finished = event
            case _:
                pass

"""The tool loop of one turn: what a model asked for is checked, allowed, done, logged, returned.

Nothing a model writes is done as it stands. Arguments are held to the tool's schema; a tool that
changes something asks the person first, whoever put the idea into the model's head; and what a tool
returns is material for the model to answer from. Each call and each return is an event before the
next step is taken.

Where the person chose it (`memory.writes = "undoable"`), what can be taken back is done without
asking, and they are told how to take it back; but never in a turn in which the model has read what
others wrote (see `trust`): there it is asked for, or refused, as ever.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from lila_app import boundaries, moments, trust
from lila_app.context.fold import condense
from lila_app.context.items import Counter
from lila_app.context.policy import ToolsPolicy
from lila_app.context.specification import ToolExchange
from lila_app.errors import InvalidAnswerError, LilaError
from lila_app.events import Confirm, Confirmation, Notice, ToolCall, ToolResult
from lila_app.gateway.port import Call, Result, Step
from lila_app.gateway.structured import Json, Wrong, examine
from lila_app.privacy.placeholders import cut
from lila_app.replying import Reply
from lila_app.storage import calls as log
from lila_app.storage import erasure
from lila_app.storage.calls import Asked, Returned
from lila_app.storage.connection import Store
from lila_app.storage.erasure import OvertakenError
from lila_app.truths import Material

MOST_CALLS = 8
"""Of one step; models that ask for several things at once ask for two or three."""

MOST_ARGUMENTS = 1_000
"""Characters of a call's arguments: a sentence to remember has a hundred, a query fewer."""

AGAIN = 3
"""How often a search is done again because something was forgotten meanwhile."""

NOTHING = "{}"
"""What stands for arguments that could not be used; they are not repeated to the model."""


@dataclass(frozen=True, slots=True)
class Where:
    """The turn a tool works for; `room` is how many tokens it may return, by `count`."""

    session_id: str
    turn_id: str
    now: datetime
    room: int
    count: Counter


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool found or did; `items` are the ids of everything whose text it shows.

    `undo` says to the person what was done and how it is taken back; "" where nothing was done.
    """

    text: str
    items: tuple[str, ...] = ()
    undo: str = ""


@dataclass(frozen=True, slots=True)
class Handler:
    """What does a tool's work, in a thread of its own.

    Raises LilaError for what cannot be done; the model is told. With `asks` it changes something:
    the person is asked this question first, unless it is `undoable` and they chose not to be asked.
    """

    run: Callable[[Json, Where], Output]
    asks: Callable[[Json], str] | None = None
    undoable: bool = False


Toolbox = Mapping[str, Handler]

Writes = Literal["ask", "undoable"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What the loop of one turn works with; `writes` is what the person chose (settings.toml)."""

    store: Store
    toolbox: Toolbox
    policy: ToolsPolicy
    where: Where
    confirm: Confirm | None
    writes: Writes = "ask"


class ToolLoop:
    """The steps of one turn so far; `steps` is for the provider, `exchanges` for the record."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.steps: tuple[Step, ...] = ()
        self.exchanges: tuple[ToolExchange, ...] = ()
        self.items: dict[str, None] = {}
        self._invalid = 0
        self._logged: int | None = None
        self._undo = ""

    @property
    def over(self) -> bool:
        """Whether the model was told that there are no more calls and asks all the same."""
        return len(self.steps) > self._setting.policy.steps

    async def take(
        self,
        reply: Reply,
        *,
        offered: Sequence[str],
        record_id: str,
    ) -> AsyncGenerator[ToolCall | ToolResult | Notice, None]:
        """Do what one answer of the model asked for, one call after the other, as they stand.

        Raises InvalidAnswerError when arguments cannot be used for the second time in the turn.
        """
        store, where = self._setting.store, self._setting.where
        if self._logged is None:
            # Of a turn that is asked again the calls of the first time are in the log.
            self._logged = await asyncio.to_thread(log.count, store, where.turn_id)
        step = len(self.steps) + 1
        results: list[Result] = []
        exchanges: list[ToolExchange] = []
        for place, call in enumerate(map(_writable, reply.calls)):
            number = len(self.exchanges) + place + 1
            asked = Asked(
                where.turn_id,
                where.session_id,
                record_id,
                step,
                self._logged + number,
                call.name,
                call.arguments,
            )
            yield ToolCall(call.name, call.arguments)
            await asyncio.to_thread(log.called, store, asked, at=self._at)
            arguments, result = await self._result(asked, place, offered)
            self.items |= dict.fromkeys(result.items)
            yield ToolResult(call.name, result.text, result.failed)
            if self._undo:
                yield Notice(self._undo)
                self._undo = ""
            exchanges.append(
                ToolExchange(
                    id=str(number),
                    name=call.name,
                    arguments=arguments,
                    result=result.text,
                    step=step,
                    said=reply.said.strip() if place == 0 else "",
                    failed=result.failed,
                )
            )
            results.append(Result(replace(call, arguments=arguments), result.text, result.failed))
        self.exchanges += tuple(exchanges)
        self.steps += (Step(reply.said, tuple(results), tuple(reply.carried)),)

    @property
    def _at(self) -> str:
        return moments.stored(self._setting.where.now)

    async def _result(
        self, asked: Asked, place: int, offered: Sequence[str]
    ) -> tuple[str, Returned]:
        """The arguments as the model may see them again, and the logged return."""
        refusal = self._refused(asked, place, offered)
        handler = self._setting.toolbox.get(asked.name)
        if refusal or handler is None:
            return NOTHING, await self._log(asked, Returned(refusal, True))
        given = _arguments(asked)
        if isinstance(given, Wrong):
            self._invalid += 1
            if self._invalid > 1:
                await self._log(asked, Returned(given.problem, True))
                raise InvalidAnswerError(f"the arguments of {asked.name}", given.problem)
            text = f"Nothing was done: {given.problem}. Call it again with arguments that fit."
            return NOTHING, await self._log(asked, Returned(text, True))
        canonical = json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        if handler.asks is None:
            return canonical, await self._looked_up(asked, handler, given)
        return canonical, await self._changed(asked, handler, given, canonical)

    def _refused(self, asked: Asked, place: int, offered: Sequence[str]) -> str:
        """Why a call is not looked at any further; empty when it is."""
        if asked.step > self._setting.policy.steps:
            return "No more tools in this turn. Answer now with what you have."
        if place >= MOST_CALLS:
            return f"Not done: at most {MOST_CALLS} calls at once."
        if asked.name not in offered or asked.name not in self._setting.toolbox:
            return f"There is no such tool. There are: {', '.join(offered) or 'none'}."
        return ""

    async def _looked_up(self, asked: Asked, handler: Handler, given: Json) -> Returned:
        """The return of a tool that only looks; looked up again when something was forgotten."""
        store = self._setting.store
        for _ in range(AGAIN):
            generation = await asyncio.to_thread(erasure.generation, store)
            result = await self._run(handler, given)
            try:
                return await self._log(asked, result, generation)
            except OvertakenError:
                continue
        text = "It could not be looked up: something is being forgotten. Answer without it."
        return await self._log(asked, Returned(text, True))

    async def _changed(
        self, asked: Asked, handler: Handler, given: Json, canonical: str
    ) -> Returned:
        """The return of a tool that changes something, once the person said yes or need not."""
        assert handler.asks is not None
        if await self._trusted(handler, asked):
            return await self._log(asked, await self._run(handler, given, tells=True))
        confirm = self._setting.confirm
        if confirm is None:
            text = "Not done: it needs the person's consent, and here nobody can be asked."
            return await self._log(asked, Returned(text, True))
        question = Confirmation(asked.name, canonical, handler.asks(given))
        if not await confirm(question):
            return await self._log(asked, Returned("Not done: the person said no.", True))
        return await self._log(asked, await self._run(handler, given))

    async def _trusted(self, handler: Handler, asked: Asked) -> bool:
        """Whether it may be done without asking: the person chose so, and nobody else spoke."""
        setting = self._setting
        if setting.writes != "undoable" or not handler.undoable:
            return False
        read = trust.Read(asked.session_id, asked.record_id, tuple(self.items))
        return not await asyncio.to_thread(trust.outside, setting.store, read)

    async def _run(self, handler: Handler, given: Json, *, tells: bool = False) -> Returned:
        setting = self._setting
        seconds = setting.policy.deadline_ms / 1_000
        try:
            work = asyncio.to_thread(handler.run, given, setting.where)
            output = await asyncio.wait_for(work, seconds)
        except TimeoutError:
            # The thread goes on: a write it has begun ends whole, or not at all.
            known = "Whether it was done is not known." if handler.asks else ""
            return Returned(f"It took longer than {seconds:g} s. {known}".strip(), True)
        except LilaError as error:
            return self._fitting(f"Not done: {error.message}.", failed=True)
        self._undo = output.undo if tells else ""
        return replace(self._fitting(output.text, failed=False), items=output.items)

    def _fitting(self, text: str, *, failed: bool) -> Returned:
        where = self._setting.where
        return Returned(shortened(text, where.room, where.count), failed)

    async def _log(self, asked: Asked, result: Returned, generation: int | None = None) -> Returned:
        store = self._setting.store
        await asyncio.to_thread(
            log.returned, store, asked, result, at=self._at, generation=generation
        )
        return result


def _writable(call: Call) -> Call:
    """A call without half characters, which neither the log nor a provider can hold."""
    name, arguments = (
        text.encode("utf-8", "replace").decode() for text in (call.name, call.arguments)
    )
    return replace(call, name=name, arguments=arguments)


def _arguments(asked: Asked) -> Json | Wrong:
    """The arguments of a call, held to the schema of its tool."""
    if len(asked.arguments) > MOST_ARGUMENTS:
        return Wrong(f"the arguments are longer than {MOST_ARGUMENTS:,} characters")
    form = boundaries.arguments(asked.name).form(Material({}))
    return examine(asked.arguments.strip() or NOTHING, form)


def shortened(text: str, room: int, count: Counter) -> str:
    """A text within its room: as it is, or the sentences that carry most, or its beginning."""
    if count(text) <= room:
        return text
    # The declared tokenizer needs at most three tokens for a character.
    return condense(text, room, count) or cut(text, max(0, room // 3 - 1)) + "…"

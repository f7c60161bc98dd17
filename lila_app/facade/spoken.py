"""`lila.spoken`: what a spoken conversation needs of the assistant besides turns."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace
from datetime import datetime

from lila_app import moments
from lila_app.composing import Ask, compose, specify
from lila_app.context import Context
from lila_app.facade import convert
from lila_app.gateway.calls.calling import Switched
from lila_app.gateway.port import Message, Request, TextDelta
from lila_app.replying import Reply
from lila_app.resources import Resources
from lila_app.sending import as_request
from lila_app.storage import entities, mentions, spoken
from lila_app.views import TurnInfo
from lila_app.views.spoken import Rehearsed

_WORDS = "…"
"""Stands for the words nobody has said yet, to find where they will stand in the prompt."""


class Spoken:
    """Turns whose words may still change, and the waiting for them."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def now(self) -> datetime:
        """The time, as turns are dated."""
        return self._resources.clock()

    def names(self, limit: int) -> tuple[str, ...]:
        """Names that are likely to be said, at most so many: the person's people, places, projects.

        In turns the one that came up most and the one that came up last.
        """
        return tuple(mentions.likely(self._store, limit))

    def names_version(self) -> int:
        """Changes whenever names do, in whichever process; costs next to nothing."""
        return entities.generation(self._store)

    def begin(self, *, use_case: str, session: str | None, model: str | None) -> None:
        """Load what turns need, and settle what a process left open that ended too soon.

        Blocking: half a second, which the first turn would take longer otherwise. Raises LilaError.
        """
        self._resources.settle_spoken()
        self._before_words(self.now(), use_case, session, model)

    def settle(self, turn: str) -> None:
        """Say that a turn's words are final: they may be learned from."""
        spoken.settle(self._store, turn)
        self._resources.learn()

    def withdraw(self, turn: str) -> None:
        """Take a turn back that nobody said. Raises UsageError once it was settled."""
        spoken.withdraw(self._store, turn, at=self._at())

    def heard(self, turn: str, text: str) -> TurnInfo:
        """Keep of a turn's reply what was heard of it, marked as interrupted; "" is none of it."""
        return convert.turn(spoken.heard(self._store, turn, text, at=self._at()))

    def quiet(self) -> AbstractContextManager[None]:
        """While somebody speaks or is answered by voice: background work gives way."""
        return self._resources.afterwards.speaking()

    async def warm(
        self, began: datetime, *, use_case: str, session: str | None, model: str | None
    ) -> None:
        """Have a model on this machine read the prompt of a turn up to its words, meanwhile.

        Gives way to whoever asks for a reply. Raises LilaError.
        """
        resources = self._resources
        provider = await asyncio.to_thread(resources.roster.provider, model)
        request = await asyncio.to_thread(self._before_words, began, use_case, session, model)
        await provider.warm(request)

    async def rehearse(
        self, context: Context, words: str, *, use_case: str, model: str | None
    ) -> Rehearsed:
        """Ask a model with a prompt that ends in `words`, once it has read all before them.

        As in a conversation, but nothing is kept of it except what it costs, and no other model is
        asked in its place. Raises LilaError.
        """
        resources, timer = self._resources, time.perf_counter
        provider = await asyncio.to_thread(resources.roster.provider, model)
        await asyncio.to_thread(resources.budget.check, [provider])
        request = as_request(context, use_case)
        await provider.warm(_before(request, words))
        reply, began, first = Reply(), timer(), None
        async with aclosing(resources.caller.stream([provider], request)) as events:
            async for event in events:
                if isinstance(event, Switched):
                    continue
                reply.take(event)
                if isinstance(event, TextDelta) and first is None:
                    first = round(1000 * (timer() - began))
        return Rehearsed(reply.text, first, reply.usage.total, reply.usage.read)

    def _before_words(
        self, began: datetime, use_case: str, session: str | None, model: str | None
    ) -> Request:
        resources = self._resources
        ask = Ask(
            text=_WORDS,
            use_case=use_case,
            session_id=session,
            now=began,
            model=resources.roster.chosen(model),
            limits=resources.roster.limits(model),
            budget=None,
            before_sequence=None,
            deadline=True,
        )
        context = compose(resources, specify(resources, ask, write=False))
        return _before(as_request(context, use_case), _WORDS)

    def _at(self) -> str:
        return moments.stored(self._resources.clock())


def _before(request: Request, words: str) -> Request:
    """What stands before the person's words, to be read while they are still being said."""
    *before, last = request.messages
    opening = Message(last.role, last.content.removesuffix(words))
    return replace(request, messages=(*before, opening), max_tokens=0)

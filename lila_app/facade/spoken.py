"""`lila.spoken`: what a spoken conversation needs of the assistant besides turns."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime

from lila_app import moments
from lila_app.composing import Ask, compose, specify
from lila_app.facade import convert
from lila_app.gateway.port import Message, Request
from lila_app.resources import Resources
from lila_app.sending import as_request
from lila_app.storage import entities, mentions, spoken
from lila_app.views import TurnInfo

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

    def begin(self) -> None:
        """Settle what a process left open that ended too soon."""
        spoken.settle_all(self._store)

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
        import asyncio

        resources = self._resources
        provider = await asyncio.to_thread(resources.roster.provider, model)
        request = await asyncio.to_thread(self._before_words, began, use_case, session, model)
        await provider.warm(request)

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
        request = as_request(compose(resources, specify(resources, ask, write=False)), use_case)
        *before, last = request.messages
        opening = Message(last.role, last.content.removesuffix(_WORDS))
        return replace(request, messages=(*before, opening), max_tokens=0)

    def _at(self) -> str:
        return moments.stored(self._resources.clock())

"""The assistant: the one object every front-end talks to."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from lila_app import moments, sample, settings
from lila_app.beginning import Said
from lila_app.composing import Ask, compose, specify, usable
from lila_app.context import Context
from lila_app.events import Confirm, TurnEvent, Uttered
from lila_app.facade.cache import Cache
from lila_app.facade.contexts import Contexts
from lila_app.facade.costs import Costs
from lila_app.facade.documents import Documents
from lila_app.facade.door import through
from lila_app.facade.goals import Goals
from lila_app.facade.graph import Graph
from lila_app.facade.importing import Importing
from lila_app.facade.io import MemoryIo
from lila_app.facade.memory import Memory
from lila_app.facade.models import Models
from lila_app.facade.policies import Policies
from lila_app.facade.privacy import PrivacyRules
from lila_app.facade.sessions import Sessions
from lila_app.facade.spoken import Spoken
from lila_app.facade.upkeep import Upkeep
from lila_app.keeping import keeping
from lila_app.paths import Home
from lila_app.resources import Resources
from lila_app.sending import as_request, stable
from lila_app.storage import backup
from lila_app.storage.connection import Store
from lila_app.storage.turns import unfinished
from lila_app.tools import toolbox
from lila_app.turn import Tools, answer
from lila_app.views import Check, Progress

if TYPE_CHECKING:
    from lila_app.embedding.port import Embedder
    from lila_app.gateway.port import Provider


class Lila:
    """One open profile. Use it as a context manager, or close it."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.profile = resources.profile
        self.home = resources.home
        sessions, goals, memory = Sessions(resources), Goals(resources), Memory(resources)
        documents, graph, door = Documents(resources), Graph(resources), resources.privacy
        self.sessions, self.goals = through(door, sessions), through(door, goals)
        self.memory, self.graph = through(door, memory), through(door, graph)
        self.documents = through(door, documents)
        self.spoken = through(door, Spoken(resources))
        self.imports = Importing(resources)
        self.memory_io = MemoryIo(resources)
        self.contexts = Contexts(resources)
        self.models = Models(resources)
        self.policy = Policies(resources)
        self.costs = Costs(resources)
        self.cache = Cache(resources)
        self.db = Upkeep(resources)
        self.privacy = PrivacyRules(resources)
        self._toolbox = toolbox(memory, sessions, documents, goals, graph)

    def preview(
        self,
        text: str,
        *,
        use_case: str = "chat",
        session: str | None = None,
        budget: int | None = None,
        now: datetime | str | None = None,
        model: str | None = None,
    ) -> Context:
        """What the model would see; calls no model and writes nothing. Raises LilaError."""
        resources = self._resources
        ask = Ask(
            text=resources.privacy.named(usable(text)),
            use_case=use_case,
            session_id=session,
            now=moments.resolve(now, resources.clock),
            model=resources.roster.chosen(model),
            limits=resources.roster.limits(model),
            budget=budget,
            before_sequence=None,
            deadline=False,
        )
        return compose(resources, specify(resources, ask, write=False))

    def turn(
        self,
        text: str,
        *,
        use_case: str = "chat",
        session: str | None = None,
        model: str | None = None,
        budget: int | None = None,
        now: datetime | str | None = None,
        confirm: Confirm | None = None,
        uttered: Uttered | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Say something and get the reply as events; the first says that the words are kept.

        Closing the generator, or cancelling the task that reads it, stops the reply within half a
        second and keeps what came of it, marked. `now` rehearses a turn at another time. `confirm`
        is asked before a tool changes something; without it nothing is changed. With `uttered` the
        words were spoken and may still change. Raises LilaError.
        """
        resources, chain = self._resources, partial(self._resources.roster.chain, model)
        at = uttered.began if uttered is not None else moments.resolve(now, resources.clock)

        def begin(text: str, confirm: Confirm | None) -> AsyncGenerator[TurnEvent, None]:
            said = Said(text, use_case, session, at, budget, now is None, uttered)
            return answer(resources, chain, said, Tools(self._toolbox, confirm))

        return keeping(resources.privacy, text, confirm, begin)

    def retry(
        self,
        session: str,
        *,
        model: str | None = None,
        budget: int | None = None,
        confirm: Confirm | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Ask again what a session's last turn asked, if it has no reply or only a part of one.

        The person's words are not added again, and a partial reply stays until another takes its
        place. Events as in `turn`. Raises LilaError.
        """
        resources = self._resources
        turn = unfinished(resources.store, session)
        said = Said(turn.user, turn.use_case, session, resources.clock(), budget, True)
        chain = partial(resources.roster.chain, model)

        def begin(_: str, confirm: Confirm | None) -> AsyncGenerator[TurnEvent, None]:
            return answer(resources, chain, said, Tools(self._toolbox, confirm), turn)

        return keeping(resources.privacy, "", confirm, begin)

    def warm(self, use_case: str = "chat", session: str | None = None) -> None:
        """Load what the first turn needs, and have the model read the stable prefix, meanwhile."""
        resources = self._resources
        resources.preload()
        resources.later(lambda: self._warm(use_case, session))
        resources.later(resources.settle_spoken)
        resources.learn()  # what waits, from an import or from before, need not wait for a message

    def _warm(self, use_case: str, session: str | None) -> None:
        resources = self._resources
        provider = resources.roster.provider(None)
        context = self.preview("-", use_case=use_case, session=session)
        request = stable(as_request(context, use_case))
        if request.messages:
            resources.run_until_closing(provider.warm(request))

    def doctor(self) -> tuple[Check, ...]:
        """What this machine has and lacks."""
        from lila_app.doctor import examine

        return examine(self.home, self.profile)

    def paths(self) -> dict[str, str]:
        """Where everything lies."""
        return self.home.listing(self.profile)

    def close(self) -> None:
        """Finish background work and close the store; safe to call twice."""
        self._resources.close()

    def __enter__(self) -> Lila:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_lila(
    home: Path | str | None = None,
    profile: str = "default",
    *,
    provider: Provider | Sequence[Provider] | None = None,
    embedder: Embedder | None = None,
    clock: Callable[[], datetime] = moments.system_clock,
    progress: Progress | None = None,
    keys: Mapping[str, str] | None = None,
) -> Lila:
    """Open a profile, creating it if it is new; the sample profile is filled on first use.

    `provider` (or a chain of them), `embedder` and `clock` take the place of the configured ones
    (tests, other programs). Raises LilaError.
    """
    place = Home.at(Path(home)) if home is not None else Home.find(os.environ)
    place.create()
    resources = Resources(
        place,
        profile,
        settings.load(place),
        Store.open(place.profile_db(profile)),
        clock,
        _chain(provider),
        embedder,
        keys,
    )
    lila = Lila(resources)
    if profile == sample.PROFILE:
        try:
            sample.fill(lila, progress=progress or _quiet)
        except BaseException:
            lila.close()
            raise
    return lila


def restore(
    file: Path | str,
    home: Path | str | None = None,
    profile: str = "default",
    *,
    clock: Callable[[], datetime] = moments.system_clock,
) -> Path:
    """Put a backup in place of a profile's store, also of one that no longer opens.

    Returns where what was there is kept. Raises LilaError; nothing is changed then.
    """
    place = Home.at(Path(home)) if home is not None else Home.find(os.environ)
    place.create()
    return backup.restore(Path(file), place.profile_db(profile), at=moments.stored(clock()))


def _chain(provider: Provider | Sequence[Provider] | None) -> Sequence[Provider]:
    if provider is None or isinstance(provider, Sequence):
        return provider or ()
    return (provider,)


def _quiet(done: int, total: int, label: str) -> None:
    del done, total, label

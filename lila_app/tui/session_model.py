"""One conversation as the screen sees it: which session, what state, what the last turn cost.

It knows nothing of widgets. Facade calls that block go through a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from lila_app.errors import LilaError
from lila_app.events import (
    Confirm,
    Done,
    Notice,
    Started,
    TextDelta,
    ThinkingDelta,
    TurnEvent,
    Usage,
)
from lila_app.tui.facade import Assistant
from lila_app.tui.plain import one_line
from lila_app.tui.record_view import RecordView, read_record
from lila_app.views import SessionDetail

TITLE_LENGTH = 60


class Phase(StrEnum):
    """What LILA is doing, in the words of the status line."""

    READY = "ready"
    FETCHING = "fetching model"
    LOADING = "loading model"
    READING = "reading"
    THINKING = "thinking"
    ANSWERING = "answering"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Status:
    """What the status line says; tokens are None until a turn has told them.

    `missed` says that the provider promises a read from its cache and none came. `voice` is what
    the spoken assistant does, "" while it is not there.
    """

    phase: Phase = Phase.READY
    model: str = ""
    used: int | None = None
    limit: int | None = None
    prompt: int | None = None
    cached: int | None = None
    missed: bool = False
    voice: str = ""


class SessionModel:
    """The open conversation; `session_id` is None until its first message is accepted.

    `awaits_record` is True from the moment a message is accepted until its context record has been
    seen: a small model reads for a while, and the person may see what it reads. `chosen` is the
    model asked for on the command line, None for the person's default.
    """

    def __init__(self, lila: Assistant, model: str | None = None) -> None:
        self._lila = lila
        self.profile = lila.profile
        self.chosen = model
        self.session_id: str | None = None
        self.title = ""
        self.status = Status()
        self.record: RecordView | None = None
        self.turn_active = False
        self.awaits_record = False
        self._record_id: str | None = None
        self._preparing: Phase | None = None

    # -- which session --------------------------------------------------------------------

    def start_new(self) -> None:
        """Leave the session; the next message begins another."""
        self.session_id = None
        self.title = ""
        self.record = None
        self._record_id = None
        self.status = Status(model=self.status.model, voice=self.status.voice)

    async def open(self, session_id: str) -> SessionDetail:
        """Go to an existing session; raises `LilaError` and stays where it was if it cannot."""
        detail = await asyncio.to_thread(self._lila.sessions.show, session_id)
        self.start_new()
        self.session_id = detail.info.id
        self.title = detail.info.title
        if not self.title and detail.turns:
            self.title = one_line(detail.turns[0].user, TITLE_LENGTH)
        recorded = [turn.record_id for turn in detail.turns if turn.record_id]
        self._record_id = recorded[-1] if recorded else None
        await self.refresh_record()
        return detail

    async def refresh_title(self) -> None:
        """Read the session's title again, which a model or another process may have changed.

        Only the session used last is looked at, which costs next to nothing: no other gets a name.
        """
        session = self.session_id
        try:
            latest = await asyncio.to_thread(self._lila.sessions.list, 1)
        except LilaError:
            return
        for info in latest:
            if info.id == session == self.session_id and info.title:
                self.title = info.title

    def spoke_in(self, session_id: str) -> None:
        """The spoken turns are kept in this session; the next record shown is its latest."""
        self.session_id = session_id
        self._record_id = None

    # -- a turn ---------------------------------------------------------------------------

    def begin(
        self, text: str, confirm: Confirm, *, again: bool = False
    ) -> AsyncGenerator[TurnEvent, None]:
        """Say `text`, or ask it `again`; hand each event to `observe`, close it to stop."""
        phase = self._preparing or Phase.READING
        self.status = replace(self.status, phase=phase, prompt=None, cached=None, missed=False)
        self._record_id = None
        self.turn_active = True
        if not self.title:
            self.title = one_line(text, TITLE_LENGTH)
        if again and self.session_id is not None:
            return self._lila.retry(self.session_id, model=self.chosen, confirm=confirm)
        return self._lila.turn(
            text,
            use_case="chat",
            session=self.session_id,
            model=self.chosen,
            confirm=confirm,
        )

    def observe(self, event: TurnEvent) -> None:
        """Follow one event of the turn."""
        match event:
            case Started():
                self.session_id = event.session_id
                self.awaits_record = True
            case TextDelta():
                self.enter(Phase.ANSWERING)
            case ThinkingDelta():
                self.enter(Phase.THINKING)
            case Notice(model=model):
                self.status = replace(self.status, model=model or self.status.model)
            case Usage():
                self.status = replace(self.status, prompt=event.total, cached=event.read)
            case Done():
                self.session_id = event.session_id
                self._record_id = event.record_id
                self.status = replace(self.status, model=event.model or self.status.model)
                self.enter(Phase.STOPPED if event.stopped else Phase.READY)
            case _:
                pass

    def enter(self, phase: Phase) -> None:
        """Change the phase; a turn that is being stopped stays so until it has ended."""
        if self.status.phase is not Phase.STOPPING:
            self.status = replace(self.status, phase=phase)

    def stopped(self) -> None:
        """The person ended the turn."""
        self.status = replace(self.status, phase=Phase.STOPPED)

    def end_turn(self) -> None:
        """Nothing of the turn goes on any more."""
        self.turn_active = False
        self.awaits_record = False
        if self.status.phase is Phase.STOPPING:
            self.stopped()

    def failed(self) -> None:
        """The turn ended in an error."""
        self.status = replace(self.status, phase=Phase.FAILED)

    async def refresh_record(self) -> None:
        """Read the context record of the last turn; what cannot be read is simply not shown."""
        if self.session_id is None:
            return
        session = self.session_id
        try:
            record = read_record(await asyncio.to_thread(self._show_record))
        except LilaError:
            return
        if self.session_id != session:
            return
        if self.record is None or record.id != self.record.id:
            self.awaits_record = False
        self.record = record
        self.status = replace(self.status, used=record.used, limit=record.limit)
        if self.status.cached == 0:
            missed = await asyncio.to_thread(self._missed, session, record.id)
            self.status = replace(self.status, missed=missed and self.status.cached == 0)

    def _missed(self, session: str, record_id: str) -> bool:
        try:
            found = self._lila.cache.warnings(session)
        except LilaError:
            return False
        return any(warning.record_id == record_id for warning in found)

    def _show_record(self) -> Mapping[str, object]:
        if self._record_id is not None:
            return self._lila.contexts.show(self._record_id)
        return self._lila.contexts.show("last", session=self.session_id)

    # -- the model ------------------------------------------------------------------------

    def prepare(self, phase: Phase | None) -> None:
        """The model is being fetched or loaded (a phase), or is there (None)."""
        before, self._preparing = self._preparing, phase
        if phase is not None:
            self.enter(phase)
        elif self.status.phase is before:
            self.enter(Phase.READING if self.turn_active else Phase.READY)

    async def find_model(self) -> None:
        """Learn the name of the model that will answer; nothing when that cannot be told."""
        try:
            models = await asyncio.to_thread(self._lila.models.list)
        except LilaError:
            return
        default = next((model.name for model in models if model.default), "")
        name = self.chosen or default
        self.status = replace(self.status, model=name)

    async def warm(self) -> None:
        """Load the model and the session's stable prefix; raises `LilaError`.

        A model named on the command line is left alone: only the default one is warmed.
        """
        if self.chosen is None:
            await asyncio.to_thread(self._lila.warm, "chat", self.session_id)

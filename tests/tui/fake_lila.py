"""An assistant whose every reply is written beforehand, for the front-end alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from lila_app.costs.views import WarningInfo
from lila_app.errors import LilaError, NotFoundError
from lila_app.events import Confirm, Confirmation, Done, Started, TextDelta, TurnEvent, Usage
from lila_app.views import (
    ForgetReport,
    ModelInfo,
    Progress,
    SessionDetail,
    SessionInfo,
    TurnHit,
    TurnInfo,
)

AT = "2026-11-30T11:58:33+00:00"


@dataclass(frozen=True)
class Hang:
    """The model says nothing more until it is stopped."""


@dataclass(frozen=True)
class Pause:
    """The model says nothing until the test lets it go on."""


Step = TurnEvent | Hang | Pause | Confirmation | Exception
"""What a scripted turn does next; an exception is raised, a confirmation asked for."""


def reply(*pieces: str, read: int | None = 90, total: int | None = 120) -> list[Step]:
    """The steps of an ordinary turn."""
    return [*(TextDelta(piece) for piece in pieces), Usage(total, read, None, len(pieces))]


@dataclass
class FakeSessions:
    """Sessions in a dict."""

    details: dict[str, SessionDetail] = field(default_factory=dict)
    failure: LilaError | None = None

    def _look(self, id: str) -> SessionDetail:
        if self.failure is not None:
            raise self.failure
        if id not in self.details:
            raise NotFoundError(f"there is no session {id}", hint="see `lila sessions list`")
        return self.details[id]

    def add(self, title: str, *said: tuple[str, str | None]) -> str:
        id = f"s{len(self.details) + 1}"
        info = SessionInfo(id, title, "chat", AT, AT, len(said), None)
        turns = tuple(
            TurnInfo(f"t{at}", id, AT, user, answer, False, None, "fake")
            for at, (user, answer) in enumerate(said, 1)
        )
        self.details[id] = SessionDetail(info, turns)
        return id

    def list(self, limit: int = 50) -> Sequence[SessionInfo]:
        if self.failure is not None:
            raise self.failure
        return tuple(detail.info for detail in reversed(self.details.values()))[:limit]

    def show(self, id: str) -> SessionDetail:
        return self._look(id)

    def fork(self, id: str) -> SessionInfo:
        old = self._look(id)
        new = self.add(old.info.title)
        info = replace(old.info, id=new, forked_from=id)
        self.details[new] = SessionDetail(info, old.turns)
        return info

    def rename(self, id: str, title: str) -> SessionInfo:
        old = self._look(id)
        self.details[id] = replace(old, info=replace(old.info, title=title))
        return self.details[id].info

    def delete(self, id: str) -> ForgetReport:
        self._look(id)
        del self.details[id]
        return ForgetReport((id,), (), (), ())

    def search(self, query: str) -> Sequence[TurnHit]:
        return tuple(
            TurnHit(detail.info.id, turn, 5_000)
            for detail in self.details.values()
            for turn in detail.turns
            if query.casefold() in f"{turn.user} {turn.reply}".casefold()
        )


@dataclass
class FakeContexts:
    """One record for every turn."""

    record: Mapping[str, object] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def show(self, id: str = "last", session: str | None = None) -> Mapping[str, object]:
        self.asked.append((id, session))
        if not self.record:
            raise NotFoundError(f"there is no record {id}")
        return self.record


@dataclass
class FakeModels:
    """One embedded model, there or not."""

    notice: str | None = None
    others: tuple[str, ...] = ()
    pulled: list[str] = field(default_factory=list)
    default: str = "embedded/smol"
    pulling: Callable[[Progress], None] = lambda progress: progress(93, 93, "done")

    def list(self) -> Sequence[ModelInfo]:
        names = ("embedded/smol", *self.others)
        return tuple(
            ModelInfo(
                name,
                "embedded",
                name != "embedded/smol" or self.notice is None,
                name == self.default,
                "",
            )
            for name in names
        )

    def pull(self, name: str, progress: Progress) -> object:
        self.pulled.append(name)
        self.pulling(progress)
        self.notice = None
        return None

    def set_default(self, name: str) -> object:
        self.default = name
        return None

    def fetch_notice(self) -> str | None:
        return self.notice


@dataclass
class FakeCache:
    """Warnings as given."""

    found: Sequence[WarningInfo] = ()

    def warnings(self, session: str) -> Sequence[WarningInfo]:
        return tuple(one for one in self.found if one.session_id == session)


@dataclass(frozen=True)
class FakeHome:
    """The folders."""

    state_dir: Path


class FakeLila:
    """Answers by script: each turn takes the next list of steps."""

    def __init__(self, state_dir: Path, *turns: list[Step]) -> None:
        self.profile = "default"
        self.home = FakeHome(state_dir)
        self.sessions = FakeSessions()
        self.contexts = FakeContexts()
        self.models = FakeModels()
        self.cache = FakeCache()
        self.script: list[list[Step]] = list(turns)
        self.said: list[str] = []
        self.retried: list[str] = []
        self.stopped: list[str] = []
        self.consented: list[bool] = []
        self.warmed = 0
        self.warm_sessions: list[str | None] = []
        self.warming: Callable[[], None] = lambda: None
        self.go_on = asyncio.Event()
        self.accepting = asyncio.Event()
        self.accepting.set()

    async def turn(
        self,
        text: str,
        *,
        use_case: str = "chat",
        session: str | None = None,
        model: str | None = None,
        confirm: Confirm | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        steps = self.script.pop(0) if self.script else reply("yes")
        self.said.append(text)
        given = ""
        try:
            if steps and isinstance(steps[0], Exception):
                raise steps[0]
            await self.accepting.wait()
            if session is None:
                session = self.sessions.add("")
            yield Started(session, "t1")
            for step in steps:
                match step:
                    case Exception():
                        raise step
                    case Hang():
                        await asyncio.Event().wait()
                    case Pause():
                        await self.go_on.wait()
                        self.go_on.clear()
                    case Confirmation():
                        assert confirm is not None
                        self.consented.append(await confirm(step))
                    case TextDelta():
                        given += step.text
                        yield step
                    case _:
                        yield step
                await asyncio.sleep(0)
            yield Done(session, "c1", False, "embedded/smol")
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped.append(given)
            raise

    async def retry(
        self, session: str, *, model: str | None = None, confirm: Confirm | None = None
    ) -> AsyncGenerator[TurnEvent, None]:
        self.retried.append(session)
        async with aclosing(self.turn("", session=session, confirm=confirm)) as events:
            async for event in events:
                yield event

    def warm(self, use_case: str = "chat", session: str | None = None) -> object:
        self.warmed += 1
        self.warm_sessions.append(session)
        self.warming()
        return None

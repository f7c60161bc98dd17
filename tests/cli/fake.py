"""An assistant that says what it is told to and writes down how it was asked.

The command line is tried end to end on the real one; here is what that one does not do on demand:
notices, thinking, failures half way, a reply that never ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

from lila_app.errors import LilaError
from lila_app.events import Confirmation, Done, Started, TextDelta, TurnEvent, Usage
from lila_app.views import (
    ForgetReport,
    MemoryInfo,
    ModelInfo,
    Progress,
    SessionDetail,
    SessionInfo,
    ToolUseInfo,
    TurnInfo,
)

EMBEDDED = ModelInfo("embedded/small", "embedded", False, True, "small")

ANSWER: tuple[TurnEvent, ...] = (
    TextDelta("Hello"),
    TextDelta(" there."),
    Usage(total=30, read=None, written=None, output=3),
)


@dataclass
class FakeLila:
    script: Sequence[TurnEvent | Confirmation | LilaError | Exception] = ANSWER
    forever: bool = False
    notice: str | None = None
    known: tuple[ModelInfo, ...] = (EMBEDDED,)
    sessions_known: tuple[SessionInfo, ...] = ()
    tools_used: tuple[ToolUseInfo, ...] = ()
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    calls: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    stopped: bool = False
    profile: str = ""

    def __enter__(self) -> FakeLila:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.calls.append(("close",))

    def preview(self, text: str, **how: Any) -> SimpleNamespace:
        self.asked.append({"text": text, **how})
        record = {"schema_version": 1, "bytes_sha256": "ab" * 32}
        return SimpleNamespace(text=f"PROMPT\n{text}\r\n", record=record)

    async def turn(self, text: str, **how: Any) -> AsyncGenerator[TurnEvent, None]:
        self.asked.append({"text": text, **how})
        yield Started("s7", "t9")
        try:
            for event in self.script:
                if isinstance(event, Exception):
                    raise event
                if isinstance(event, Confirmation):
                    confirm = how["confirm"]
                    given = "nobody" if confirm is None else await confirm(event)
                    event = TextDelta(f"consent: {given}")
                yield event
            if self.forever:
                await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.stopped = True
            raise
        yield Done("s7", "c3", False, "embedded/small")

    async def retry(self, session: str, **how: Any) -> AsyncGenerator[TurnEvent, None]:
        self.calls.append(("retry", session))
        yield Started(session, "t9")
        for event in self.script:
            if isinstance(event, Exception):
                raise event
            assert not isinstance(event, Confirmation), "nothing is asked again"
            yield event
        yield Done(session, "c3", False, "embedded/small")

    def warm(self, use_case: str = "chat", session: str | None = None) -> None:
        self.calls.append(("warm", session))

    @property
    def sessions(self) -> SimpleNamespace:
        known = self.sessions_known
        return SimpleNamespace(
            list=lambda limit=50: known[:limit],
            latest=lambda: known[0] if known else None,
            show=lambda id: SessionDetail(known[0], (_TURN,), self.tools_used),
            delete=self._call("delete", ForgetReport(("s7",), ("c3",), (), (Path("/b.db"),))),
        )

    @property
    def memory(self) -> SimpleNamespace:
        one = MemoryInfo("m5", "The spare key is\x1b[31m with Ana", "fact", False, _AT, None)
        return SimpleNamespace(
            list=lambda kind=None, limit=None: (one,),
            forget=self._call("forget", ForgetReport(("m5",), ("c3", "c4"), ("t9",), ())),
        )

    @property
    def models(self) -> SimpleNamespace:
        return SimpleNamespace(
            fetch_notice=lambda: self.notice,
            list=lambda: self.known,
            pull=self._call("pull", None),
        )

    def _call(self, name: str, result: object) -> Callable[..., object]:
        def call(*arguments: object, **_: object) -> object:
            self.calls.append((name, arguments[0]))
            return result

        return call


_AT = "2026-11-30T11:58:33+00:00"
_TURN = TurnInfo("t9", "s7", _AT, "Where is the key?", "With Ana.", False, "c3", "embedded/small")
SESSION = SessionInfo("s7", "Keys", "chat", _AT, _AT, 2, None)


def opener(fake: FakeLila) -> Callable[..., FakeLila]:
    def open_fake(
        home: Path | None = None,
        profile: str = "default",
        *,
        progress: Progress | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> FakeLila:
        fake.profile = profile
        return fake

    return open_fake

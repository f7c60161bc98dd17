"""A spoken conversation whose every event the test brings about."""

from __future__ import annotations

import asyncio
import threading
from typing import cast

from lila_app.errors import LilaError
from lila_app.tui.talking import Voice
from lila_app.views import Progress
from lila_app.voice.model import Key, Phase
from lila_app.voice.session import Options, Talk, View


class FakeTalk:
    """See `voice.session.Talk`; `view` is there while it runs."""

    def __init__(self, *, session: str | None = None, failure: LilaError | None = None) -> None:
        self.session: str | None = session
        self.duplex = False
        self.pressed: list[Key] = []
        self.opened: list[Options] = []
        self.view: View | None = None
        self.notice: str | None = None
        self.loaded = False
        self.closed = False
        self.failure = failure
        self.opening = threading.Event()
        """Set unless a test holds what opens it."""
        self.opening.set()
        self._quit = asyncio.Event()

    def voice(self) -> Voice:
        return Voice(self._open, lambda: self.notice)

    def _open(self, options: Options, progress: Progress) -> Talk:
        self.opened.append(options)
        progress(1, 2, "whisper")
        self.loaded = True
        self.opening.wait()
        return cast("Talk", self)

    def press(self, key: Key) -> None:
        self.pressed.append(key)
        if key == "quit":
            self._quit.set()

    def close(self) -> None:
        self.closed = True

    async def run(self, view: View) -> None:
        self.view = view
        view.phase(Phase.LISTENING, False)
        if self.failure is not None:
            raise self.failure
        await self._quit.wait()
        view.phase(Phase.ENDED, False)
        self.view = None

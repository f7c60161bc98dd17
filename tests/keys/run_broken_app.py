"""The full-screen chat with a fault in a turn and one in the app, each with a key at hand."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from lila_app import logs
from lila_app.cli.guard import guarded
from lila_app.events import TurnEvent
from lila_app.paths import Home
from lila_app.tui import run
from lila_app.tui.app import LilaApp
from tests.tui.fake_lila import FakeLila

KEY = os.environ["A_KEY"]


class Faulty(FakeLila):
    async def turn(self, text: str, **more: Any) -> AsyncGenerator[TurnEvent, None]:
        key = KEY
        if text:
            raise KeyError(key)
        async for event in super().turn(text, **more):
            yield event


def _broken(self: LilaApp) -> None:
    key = KEY
    raise KeyError(key)


def _chat() -> int:
    with logs.writing(Home.find(os.environ)):
        return run(Faulty(Path(sys.argv[1])))


LilaApp.action_help = _broken

if __name__ == "__main__":
    sys.exit(guarded(_chat))

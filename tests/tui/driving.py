"""Running the app without a terminal and waiting for what it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC

from textual.pilot import Pilot
from textual.widget import Widget

from lila_app.tui.app import LilaApp
from lila_app.tui.screens.chat import ChatScreen
from lila_app.tui.talking import Voice
from lila_app.tui.widgets.live_turn import LiveTurn
from lila_app.tui.widgets.note import Note
from lila_app.tui.widgets.prompt import Prompt
from lila_app.tui.widgets.status_line import StatusLine
from tests.tui.fake_lila import FakeLila
from tests.waiting import PATIENCE


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def make_app(
    lila: FakeLila,
    *,
    session: str | None = None,
    clock: Clock | None = None,
    voice: Voice | None = None,
) -> LilaApp:
    return LilaApp(lila, session=session, monotonic=clock or Clock(), zone=UTC, voice=voice)


@asynccontextmanager
async def running(
    lila: FakeLila,
    *,
    size: tuple[int, int] = (100, 30),
    session: str | None = None,
    clock: Clock | None = None,
    voice: Voice | None = None,
) -> AsyncGenerator[Pilot[None], None]:
    """The app, started and ready."""
    app = make_app(lila, session=session, clock=clock, voice=voice)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: lila.models.notice is not None or lila.warmed > 0)
        await pilot.pause()
        yield pilot


async def until(
    pilot: Pilot[None], condition: Callable[[], bool], seconds: float = PATIENCE
) -> None:
    """Let the app work until `condition` holds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it never came to pass"
        await pilot.pause(0.01)


def chat(pilot: Pilot[None]) -> ChatScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, ChatScreen)
    return screen


def prompt(pilot: Pilot[None]) -> Prompt:
    return chat(pilot).query_one(Prompt)


def turns(pilot: Pilot[None]) -> list[LiveTurn]:
    return list(chat(pilot).query(LiveTurn))


def state(pilot: Pilot[None]) -> str:
    return str(chat(pilot).query_one(StatusLine).status.phase)


def notes(pilot: Pilot[None]) -> list[str]:
    return [text_of(note) for note in chat(pilot).query(Note)]


def notifications(pilot: Pilot[None]) -> list[str]:
    return [one.message for one in pilot.app._notifications]


async def say(pilot: Pilot[None], text: str) -> None:
    """Write `text` and press Enter."""
    prompt(pilot).put(text)
    await pilot.press("enter")


async def settled(pilot: Pilot[None]) -> None:
    """Until no turn is under way and none waits, and what follows a turn has been looked for."""

    def over() -> bool:
        turns = chat(pilot)._turns
        ended = state(pilot) in ("ready", "stopped", "failed")
        return ended and (turns is None or turns.is_finished)

    await pilot.pause()
    await until(pilot, over)
    await pilot.pause()


def text_of(widget: Widget) -> str:
    """What a widget shows, as text."""
    return str(widget.render())


def screen_text(pilot: Pilot[None]) -> str:
    """What is on the screen, line by line."""
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines)

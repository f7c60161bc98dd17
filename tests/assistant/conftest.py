"""An assistant on an empty home, answered by a script, under a clock that stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lila_app.assistant import Lila, open_lila
from lila_app.embedding.port import Embedder
from lila_app.events import Done, TurnEvent
from lila_app.paths import Home
from lila_app.testing import FakeClock, ScriptedProvider

Open = Callable[..., Lila]


@pytest.fixture
def provider() -> ScriptedProvider:
    return ScriptedProvider()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock("2026-11-30T08:00:00+00:00")


@pytest.fixture
def open_again(
    home: Path, provider: ScriptedProvider, clock: FakeClock, embedder: Embedder
) -> Iterator[Open]:
    opened: list[Lila] = []

    def open_one(profile: str = "default") -> Lila:
        lila = open_lila(home, profile, provider=provider, clock=clock, embedder=embedder)
        opened.append(lila)
        return lila

    yield open_one
    for lila in opened:
        lila.close()


@pytest.fixture
def impatient(home: Path) -> None:
    """Waits between attempts that no test has to sit through, and a stall that is soon noticed."""
    folder = Home.at(home).policies_dir
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gateway.toml").write_text(
        "[calling]\nbackoff_ms = 1\n[calling.chat]\nstall_seconds = 1\n", encoding="utf-8"
    )


@pytest.fixture
def unhurried(home: Path) -> None:
    """Layers as long as they need: what answers within 400 ms is chance where others compute."""
    folder = Home.at(home).policies_dir
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "allocation.toml").write_text("[chat]\ndeadline_ms = 60_000\n", encoding="utf-8")


@pytest.fixture
def lila(open_again: Open) -> Lila:
    return open_again()


async def collect(
    lila: Lila, text: str, *, session: str | None = None, use_case: str = "chat"
) -> list[TurnEvent]:
    """Every event of a turn."""
    async with aclosing(lila.turn(text, session=session, use_case=use_case)) as events:
        return [event async for event in events]


def say(lila: Lila, text: str, *, session: str | None = None, use_case: str = "chat") -> Done:
    """Run a turn to its end and return how it was stored."""
    done = asyncio.run(collect(lila, text, session=session, use_case=use_case))[-1]
    assert isinstance(done, Done)
    return done

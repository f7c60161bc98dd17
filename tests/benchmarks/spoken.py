"""What the embedded model reads for a spoken turn once its words are there, and when it answers.

    python -m tests.benchmarks.spoken              # the table; about a minute
    python -m tests.benchmarks.spoken --json

Each row is one way of being ready, measured in a home and a process of the model of its own: with
and without reading ahead while the person speaks, with and without the conversation in the prompt.
`read` are prompt tokens the model evaluated after the words were there; they do not depend on what
else the machine does, the times do. The clock goes on by a minute between two turns, so that the
line that tells it is never in the cache by chance.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from lila_app.assistant import Lila, open_lila
from lila_app.context import Source
from lila_app.gateway.embedded.fetch import fetch
from lila_app.gateway.embedded.provider import EmbeddedProvider
from lila_app.gateway.embedded.weights import DEFAULT
from lila_app.gateway.routing import Routes, resolve
from lila_app.gateway.table import parse_gateway
from lila_app.paths import shipped
from lila_app.testing import FakeClock
from lila_app.voice.conversation import SpokenConversation

QUESTIONS = (
    "What is the capital of France?",
    "And how many people live in it?",
    "Tell me a short joke about cats please.",
    "What should I cook with two eggs and some rice?",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Prompt tokens, those read after the words were there, and milliseconds to the first piece."""

    total: int
    read: int
    first_ms: int


@dataclass(frozen=True, slots=True)
class Ready:
    """One way of being ready, and its turns in order."""

    continuity: bool
    ahead: bool
    turns: tuple[Turn, ...]


class Unprepared(SpokenConversation):
    """One that reads nothing ahead."""

    def _warm(self, began: object) -> None:
        del began


async def converse(lila: Lila, clock: FakeClock, *, continuity: bool, ahead: bool) -> Ready:
    """Ask every question, each a minute after the one before."""
    conversation = (SpokenConversation if ahead else Unprepared)(lila, continuity=continuity)
    await conversation.start()
    firsts: list[int] = []
    for turn, words in enumerate(QUESTIONS, 1):
        clock.advance(61)
        conversation.open(turn)
        if conversation._warming is not None:
            await conversation._warming
        firsts.append(await _first(conversation, turn, words))
    await conversation.close()
    turns = tuple(
        Turn(total, evaluated, first)
        for (total, evaluated), first in zip(read(lila), firsts, strict=True)
    )
    return Ready(continuity, ahead, turns)


async def _first(conversation: SpokenConversation, turn: int, words: str) -> int:
    begun, first = time.perf_counter(), 0
    async with aclosing(conversation.ask(turn, words)) as reply:
        async for _ in reply:
            first = first or round(1000 * (time.perf_counter() - begun))
    return first


@contextmanager
def embedded(models: Path, clock: Callable[[], datetime]) -> Iterator[Lila]:
    """LILA in a home of its own, with a process of the model of its own, that learns nothing."""
    path = shipped("policies") / "gateway.toml"
    table = parse_gateway([Source(path.name, path.read_text(encoding="utf-8"))])
    provider = resolve(DEFAULT, Routes(table), models)
    assert isinstance(provider, EmbeddedProvider)
    with tempfile.TemporaryDirectory() as home:
        with open_lila(home, provider=provider, clock=clock) as lila:
            lila._resources.learns = False
            yield lila
        asyncio.run(provider.close())


def read(lila: Lila) -> list[tuple[int, int]]:
    """Of each reply, in order: prompt tokens in all, and those the model had to read for it."""
    with lila._resources.store.read() as connection:
        rows = connection.execute("select total, total - read from usage order by id")
        return [(total, evaluated) for total, evaluated in rows]


def measure(models: Path) -> list[Ready]:
    """All four ways."""
    found: list[Ready] = []
    for continuity in (False, True):
        for ahead in (True, False):
            clock = FakeClock()
            with embedded(models, clock) as lila:
                found.append(asyncio.run(converse(lila, clock, continuity=continuity, ahead=ahead)))
    return found


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    chosen = os.environ.get("LILA_TEST_MODELS", "")
    models = Path(chosen) if chosen else Path.home() / ".cache" / "lila-tests"
    fetch(models, lambda done, total, label: None)
    found = measure(models)
    if asked.json:
        json.dump([asdict(one) for one in found], sys.stdout, indent=2)
        return
    print(f"load average {os.getloadavg()[0]:.1f}; read of total tokens, ms to the first piece")
    for one in found:
        name = "voice_continuity" if one.continuity else "voice"
        ready = "read ahead" if one.ahead else "unwarmed"
        turns = "  ".join(f"{t.read:>3} of {t.total:>3}, {t.first_ms:>5}" for t in one.turns)
        print(f"{name:17}{ready:11}{turns}")


if __name__ == "__main__":
    main()

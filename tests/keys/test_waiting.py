"""A keyring that takes its time holds up the turn that needs it, and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend

import lila_app
from lila_app.assistant import Lila
from lila_app.events import TextDelta
from tests.keys.echoing import REPLY, echoing
from tests.keys.rings import Keeping
from tests.waiting import PATIENCE


class Slow(Keeping):
    """One that answers when it is unlocked, or gives up."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.unlocked = threading.Event()
        self.gave_up = False

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.set()
        self.gave_up |= not self.unlocked.wait(30)
        return "sk-test-0123456789abcdef"


def test_the_event_loop_goes_on_while_a_keyring_is_asked(
    home: Path, use: Callable[[KeyringBackend], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    use(slow)

    async def said(lila: Lila) -> str:
        async with aclosing(lila.turn("Good evening", model="anthropic/m")) as events:
            return "".join([event.text async for event in events if isinstance(event, TextDelta)])

    async def unlocking(lila: Lila) -> str:
        turn = asyncio.ensure_future(said(lila))
        await asyncio.to_thread(slow.asked.wait, PATIENCE)
        slow.unlocked.set()  # never reached in time if the loop itself waited
        return await turn

    with echoing() as server, lila_app.open(home) as lila:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.origin)
        assert asyncio.run(unlocking(lila)) == REPLY
    assert not slow.gave_up

"""Single keys from a terminal, as long as there is one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator

import pytest

from lila_app.cli.voice_keys import END, keys
from tests.waiting import PATIENCE


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of the terminal that stdin is."""
    other, end = os.openpty()
    with os.fdopen(end) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield other


async def test_every_key_is_handed_on_until_the_terminal_is_gone(terminal: int) -> None:
    pressed: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.timeout(PATIENCE), keys(pressed.put_nowait) as there:
        assert there
        os.write(terminal, b"M ")
        assert [await pressed.get(), await pressed.get()] == ["m", " "]
        os.close(terminal)
        assert await pressed.get() == END
        await asyncio.sleep(0.01)
        assert pressed.empty(), "said once"

"""A process made to be killed while the person is asked whether a tool may change something."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

from lila_app.assistant import Lila, open_lila
from lila_app.context import ModelLimits
from lila_app.events import Confirmation
from lila_app.gateway.port import Call
from lila_app.testing import Scripted, ScriptedProvider
from tests.stories.crash_child import HashEmbedder


async def never(question: Confirmation) -> bool:
    print(question.question, flush=True)
    await asyncio.sleep(3_600)
    return True


async def talk(lila: Lila) -> None:
    async with aclosing(lila.turn("I keep bees", confirm=never)) as events:
        async for _ in events:
            pass


if __name__ == "__main__":
    scripted = ScriptedProvider(limits=ModelLimits(100_000, 50_000, tools=True))
    call = Call("1", "memory_add", '{"text": "They keep bees"}')
    scripted.enqueue(Scripted(("Shall I?",), calls=(call,)))
    with open_lila(Path(sys.argv[1]), provider=scripted, embedder=HashEmbedder()) as opened:
        asyncio.run(talk(opened))

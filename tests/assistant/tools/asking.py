"""Turns in which a scripted model asks for tools, and a person who says yes or no."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

from lila_app.assistant import Lila
from lila_app.context import ModelLimits
from lila_app.events import Confirm, Confirmation, Done, TextDelta, TurnEvent
from lila_app.gateway.port import Call, Carried
from lila_app.testing import Scripted

ABLE = ModelLimits(window=100_000, context_budget=50_000, tools=True)
NAMES = [
    "core_memory_replace", "document_search", "finish_goal", "graph_query", "memory_add",
    "memory_search", "set_goal", "show_source",
]  # fmt: skip


def asking(
    name: str, *, said: str = "", carried: tuple[Carried, ...] = (), **args: Any
) -> Scripted:
    call = Call(f"provider-{name}", name, json.dumps(args))
    return Scripted((said,) if said else (), calls=(call,), carried=carried)


async def run(
    lila: Lila, text: str, confirm: Confirm | None = None, session: str | None = None
) -> list[TurnEvent]:
    async with aclosing(lila.turn(text, confirm=confirm, session=session)) as events:
        return [event async for event in events]


def told(lila: Lila, text: str, confirm: Confirm | None = None) -> tuple[list[TurnEvent], Done]:
    events = asyncio.run(run(lila, text, confirm))
    done = events[-1]
    assert isinstance(done, Done)
    return events, done


def reply_of(events: list[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def answering(says: bool, asked: list[Confirmation] | None = None) -> Confirm:
    async def confirm(question: Confirmation) -> bool:
        if asked is not None:
            asked.append(question)
        return says

    return confirm

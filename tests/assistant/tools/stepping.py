"""The tool loop by itself: calls handed to it, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lila_app.context.policy import ToolsPolicy
from lila_app.events import Notice, ToolCall, ToolResult
from lila_app.gateway.port import Call, Carried
from lila_app.replying import Reply
from lila_app.testing import FakeClock
from lila_app.tool_loop import Setting, ToolLoop
from tests.assistant.tools.asking import NAMES

POLICY = ToolsPolicy(steps=3, result_tokens=60, deadline_ms=2_000)
CLOCK = FakeClock("2026-11-30T08:00:00+00:00")


def words(text: str) -> int:
    return len(text.split())


def call(name: str, **arguments: Any) -> Call:
    return Call("provider-id", name, json.dumps(arguments))


async def took(
    loop: ToolLoop, *calls: Call, said: str = "", carried: Sequence[Carried] = ()
) -> list[ToolCall | ToolResult | Notice]:
    reply = Reply(pieces=[said], calls=list(calls), carried=list(carried))
    events = loop.take(reply, offered=NAMES, record_id="c1")
    return [event async for event in events]


async def result(setting: Setting, *calls: Call) -> ToolResult:
    events = await took(ToolLoop(setting), *calls)
    return [event for event in events if isinstance(event, ToolResult)][-1]

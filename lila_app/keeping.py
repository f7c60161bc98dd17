"""A turn while the store holds placeholders: the person's words go in redacted, and come back.

Everything between is in placeholders: what is stored, looked for, recorded, and given to tools.
What a model says is restored before the person sees it and redacted again before it is kept.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from lila_app.events import Confirm, Confirmation, Notice, ToolCall, ToolResult, TurnEvent
from lila_app.privacy.sinks import Privacy
from lila_app.replying import Reply

Begin = Callable[[str, Confirm | None], AsyncGenerator[TurnEvent, None]]


def keeping(
    privacy: Privacy, text: str, confirm: Confirm | None, begin: Begin
) -> AsyncGenerator[TurnEvent, None]:
    """Run a turn that is begun with the words as they are kept; its events as the person sees them.

    Where the store holds no placeholders it is the turn itself.
    """
    if not privacy.restoring:
        return begin(text, confirm)
    return _restored(privacy, text, confirm, begin)


async def _restored(
    privacy: Privacy, text: str, confirm: Confirm | None, begin: Begin
) -> AsyncGenerator[TurnEvent, None]:
    async def asked(question: Confirmation) -> bool:
        assert confirm is not None
        return await confirm(
            replace(
                question,
                arguments=privacy.shown(question.arguments, within_json=True),
                question=privacy.shown(question.question),
            )
        )

    kept = await asyncio.to_thread(privacy.kept, text)
    async with aclosing(begin(kept, None if confirm is None else asked)) as events:
        async for event in events:
            match event:
                case ToolCall(arguments=arguments):
                    yield replace(event, arguments=privacy.shown(arguments, within_json=True))
                case ToolResult(text=result):
                    yield replace(event, text=privacy.shown(result))
                case Notice(text=told):  # which may quote what was kept
                    yield replace(event, text=privacy.shown(told))
                case _:
                    yield event


def kept(privacy: Privacy, reply: Reply) -> Reply:
    """A reply as its tools and the record may have it. Blocking."""
    if not privacy.storing:
        return reply
    calls = [replace(call, arguments=_arguments(privacy, call.arguments)) for call in reply.calls]
    return replace(reply, pieces=[privacy.kept(reply.said, ours=True)], calls=calls)


def _arguments(privacy: Privacy, text: str) -> str:
    """The arguments of a call; what is no JSON is redacted as the text it is."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return privacy.kept(text, ours=True)
    changed = privacy.kept_within(value)
    return text if changed == value else json.dumps(changed, ensure_ascii=False)

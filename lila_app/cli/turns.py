"""One exchange on the command line: events in, the answer on stdout, the rest on stderr."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import click

from lila_app.cli.consent import at_terminal
from lila_app.cli.output import answer, aside, document, note, one_line
from lila_app.errors import Cancelled
from lila_app.events import (
    Done,
    Notice,
    Started,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    TurnEvent,
    Usage,
)

if TYPE_CHECKING:
    from lila_app.assistant import Lila


LONGEST_CALL = 200
"""Characters of a tool's call that are shown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is said to LILA and how it should be answered.

    With `again` nothing is said: the session's last turn is asked once more.
    """

    text: str
    use_case: str = "chat"
    session: str | None = None
    model: str | None = None
    budget: int | None = None
    now: datetime | None = None
    again: bool = False


@dataclass(slots=True)
class Reply:
    """What came back so far."""

    pieces: list[str] = field(default_factory=list[str])
    session_id: str | None = None
    record_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stopped: bool = False

    @property
    def text(self) -> str:
        """The reply as one string."""
        return "".join(self.pieces)

    def take(self, event: TurnEvent) -> None:
        """Keep what an event says."""
        match event:
            case Started(session_id=session_id):
                self.session_id = session_id
            case TextDelta(text=text):
                self.pieces.append(text)
            case Usage():
                self.usage = event
            case Done():
                self.session_id, self.record_id = event.session_id, event.record_id
                self.model, self.stopped = event.model, event.stopped
            case _:
                pass


class Aside:
    """Writes on stderr what is not the answer, each kind on lines of its own.

    With `waiting`, a person at a terminal sees that something happens until the first word.
    """

    def __init__(self, *, waiting: bool = False) -> None:
        self._thinking = False
        self._waiting = waiting and sys.stderr.isatty()
        if self._waiting:
            click.echo("LILA is reading …", err=True, nl=False)

    def show(self, event: TurnEvent) -> None:
        """Write one event, unless it belongs to the answer."""
        if not isinstance(event, Started):
            self.clear()
        if isinstance(event, ThinkingDelta):
            aside(event.text)
            self._thinking = True
            return
        if self._thinking:
            aside("\n")
            self._thinking = False
        match event:
            case Notice(text=text):
                note(text)
            case ToolCall(name=name, arguments=arguments):
                note(one_line(f"tool {name} {arguments}")[:LONGEST_CALL])
            case ToolResult(name=name, text=text, failed=True):
                note(one_line(f"tool {name}: {text}")[:LONGEST_CALL])
            case ToolResult(name=name, text=text):
                note(f"tool {name} returned {len(text)} characters")
            case _:
                pass

    def clear(self) -> None:
        """Take the line that says something happens off the screen."""
        if self._waiting:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._waiting = False


async def converse(
    lila: Lila, asked: Asked, reply: Reply, show: Callable[[TurnEvent], None]
) -> None:
    """Run one turn to its end; `reply` holds what came even when this is cancelled."""
    confirm = at_terminal()
    if asked.again and asked.session is not None:
        turn = lila.retry(asked.session, model=asked.model, budget=asked.budget, confirm=confirm)
    else:
        turn = lila.turn(
            asked.text,
            use_case=asked.use_case,
            session=asked.session,
            model=asked.model,
            budget=asked.budget,
            now=asked.now,
            confirm=confirm,
        )
    async with aclosing(turn) as events:
        async for event in events:
            reply.take(event)
            show(event)


def answer_once(lila: Lila, asked: Asked, *, as_json: bool) -> None:
    """Ask, and print the answer as it comes, or as one document at the end."""
    reply, rest = Reply(), Aside(waiting=True)

    def show(event: TurnEvent) -> None:
        if isinstance(event, ToolCall) and reply.text and not as_json and sys.stdout.isatty():
            answer("")
        rest.show(event)
        if isinstance(event, TextDelta) and not as_json:
            answer(event.text, newline=False)

    try:
        asyncio.run(converse(lila, asked, reply, show))
    except KeyboardInterrupt as error:
        raise stopped(reply) from error
    finally:
        rest.clear()
        if not as_json and reply.text and not reply.text.endswith("\n"):
            answer("")
    if as_json:
        document(
            text=reply.text,
            session_id=reply.session_id,
            record_id=reply.record_id,
            model=reply.model,
            stopped=reply.stopped,
            usage=reply.usage,
        )
    elif sys.stderr.isatty():
        note(
            f"[{reply.session_id} · `lila ask -c` goes on · `lila context show` says what was seen]"
        )


def print_prompt(lila: Lila, asked: Asked, *, as_json: bool) -> None:
    """Print what would be sent: the exact bytes, or the record with them under `text`."""
    context = lila.preview(
        asked.text,
        use_case=asked.use_case,
        session=asked.session,
        model=asked.model,
        budget=asked.budget,
        now=asked.now,
    )
    if as_json:
        document(**{**context.record, "text": context.text})
    elif sys.stdout.isatty():
        answer(context.text)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(context.text.encode("utf-8"))
        sys.stdout.buffer.flush()


def stopped(reply: Reply) -> Cancelled:
    """What is said when the person stops a reply."""
    if reply.session_id is None:
        return Cancelled("stopped before the message was stored")
    return Cancelled(
        "stopped",
        hint=f"your message and what came of the reply are kept; "
        f"`lila ask --session {reply.session_id} …` goes on",
    )

"""The plain chat: labels and lines, nothing drawn, made for screen readers and pipes.

In a pipe there are no labels: stdout holds the answers and nothing else.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from lila_app.cli import message
from lila_app.cli.context_table import print_record
from lila_app.cli.guard import explain
from lila_app.cli.output import answer, note
from lila_app.cli.pick import named_or_latest
from lila_app.cli.sessions import print_sessions
from lila_app.cli.turns import Aside, Asked, Reply, converse
from lila_app.errors import LilaError, UsageError
from lila_app.events import TextDelta, ToolCall, TurnEvent

if TYPE_CHECKING:
    from lila_app.assistant import Lila

_SENTENCE = re.compile(r".*(?:[.!?:;]\s|\n)", re.DOTALL)
_COMMAND = re.compile(r"/[a-z]*")


class _Command(NamedTuple):
    help: str
    run: Callable[[str], None]


class Repl:
    """One plain conversation."""

    def __init__(
        self,
        lila: Lila,
        zone: ZoneInfo,
        *,
        session: str | None,
        model: str | None,
        interactive: bool,
    ) -> None:
        self._lila = lila
        self._zone = zone
        self._session = session
        self._model = model
        self._interactive = interactive
        self._leaving = False
        self._again = False
        self._commands = {
            "/help": _Command("list these commands", self._help),
            "/new": _Command("start a new session", self._new),
            "/sessions": _Command("list the latest sessions", self._list),
            "/switch": _Command(
                "ID: go on with another session; without ID with the latest", self._switch
            ),
            "/retry": _Command("ask again what got no whole reply", self._retry),
            "/context": _Command("show what the model saw last", self._context),
            "/quit": _Command("leave; Ctrl-D does too", self._quit),
        }

    def run(self) -> None:
        """Read and answer until the input ends.

        At a terminal a failed turn is explained and the conversation goes on; in a pipe it ends
        the run with its exit code.
        """
        if self._interactive:
            self._enable_editing()
            note("/help lists commands; a line ending in \\ goes on; Ctrl-C stops a reply")
        with asyncio.Runner() as runner:
            while not self._leaving:
                try:
                    text = self._read()
                    if text is None:
                        break
                    self._take(runner, text)
                except LilaError as error:
                    if not self._interactive:
                        raise
                    explain(error)

    def _take(self, runner: asyncio.Runner, text: str) -> None:
        name, _, rest = text.partition(" ")
        if _COMMAND.fullmatch(name):
            command = self._commands.get(name)
            if command is None:
                raise UsageError(
                    f"there is no command {name}",
                    hint="/help lists them; start with a blank to say it to LILA",
                )
            command.run(rest.strip())
            if self._again:
                self._again = False
                asked = Asked("", session=self._session, model=self._model, again=True)
                self._exchange(runner, asked)
        elif text.strip():
            asked = Asked(message.checked(text), session=self._session, model=self._model)
            self._exchange(runner, asked)

    def _exchange(self, runner: asyncio.Runner, asked: Asked) -> None:
        reply, rest, voice = Reply(), Aside(), _Sentences()

        def show(event: TurnEvent) -> None:
            if isinstance(event, ToolCall) and self._interactive:
                voice.finish()  # what was said may lead up to the question that follows
            rest.show(event)
            if isinstance(event, TextDelta):
                voice.add(event.text)

        if self._interactive:
            answer("LILA: ", newline=False)
        try:
            runner.run(converse(self._lila, asked, reply, show))
        except KeyboardInterrupt:
            if not self._interactive:
                raise
            reply.stopped = True
        finally:
            voice.finish()
            self._session = reply.session_id or self._session
        if reply.stopped:
            note("[stopped; what came so far is kept]")

    def _read(self) -> str | None:
        """The next message, None at the end of input."""
        lines: list[str] = []
        warned = False
        while True:
            try:
                line = self._line("...: " if lines else "You: ")
            except KeyboardInterrupt:
                if not self._interactive or (warned and not lines):
                    raise
                answer("")
                note("[Ctrl-C again or Ctrl-D leaves]")
                lines, warned = [], True
                continue
            if line is None:
                return "\n".join(lines) if lines else None
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])

    def _line(self, label: str) -> str | None:
        if self._interactive:
            try:
                return input(label)
            except EOFError:
                answer("")
                return None
        data = sys.stdin.buffer.readline(message.LARGEST + 1)
        return message.decoded(data).rstrip("\r\n") if data else None

    @staticmethod
    def _enable_editing() -> None:
        """Let `input` edit lines and recall them; nothing is written to a history file."""
        with suppress(ImportError):  # absent on Windows
            import_module("readline")

    def _help(self, _rest: str) -> None:
        for name, command in self._commands.items():
            answer(f"{name}  {command.help}")

    def _new(self, _rest: str) -> None:
        self._session = None
        note("[a new session starts with your next message]")

    def _list(self, _rest: str) -> None:
        print_sessions(self._lila.sessions.list(limit=10), self._zone)

    def _switch(self, rest: str) -> None:
        info = self._lila.sessions.show(named_or_latest(self._lila, rest)).info
        self._session = info.id
        note(f"[{info.id} {info.title}]")

    def _retry(self, _rest: str) -> None:
        if self._session is None:
            raise UsageError("nothing was asked in this session yet", hint="say something")
        self._again = True

    def _context(self, _rest: str) -> None:
        print_record(self._lila.contexts.show("last", session=self._session), self._zone)

    def _quit(self, _rest: str) -> None:
        self._leaving = True


class _Sentences:
    """Passes text on a sentence or line at a time, so that a screen reader speaks whole ones."""

    def __init__(self) -> None:
        self._held = ""
        self._last = ""

    def add(self, text: str) -> None:
        """Take a piece and print what is whole."""
        self._held += text
        whole = _SENTENCE.match(self._held)
        if whole:
            self._print(whole.group())
            self._held = self._held[whole.end() :]

    def finish(self) -> None:
        """Print the rest and end the line."""
        self._print(self._held)
        self._held = ""
        if not self._last.endswith("\n"):
            answer("")

    def _print(self, text: str) -> None:
        if text:
            answer(text, newline=False)
            self._last = text

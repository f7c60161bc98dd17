"""The way of a message from the prompt to the store: waiting, under way, accepted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from lila_app.errors import LilaError
from lila_app.tui.drafts import Draft, DraftFile


class Outbox:
    """Messages not yet accepted, in order, with the text in the prompt, mirrored to disk.

    Changes are remembered at once and written by one task at a time, the latest state only.
    `on_problem` is told once when they cannot be written.
    """

    def __init__(self, on_problem: Callable[[LilaError], None]) -> None:
        self._file: DraftFile | None = None
        self._on_problem = on_problem
        self._told = False
        self._under_way: str | None = None
        self._waiting: list[str] = []
        self._text = ""
        self._writing = asyncio.Lock()

    async def restore(self, state_dir: Path, profile: str) -> str:
        """Take a draft file for this window; returns the text a dead one left in it."""
        try:
            self._file = await asyncio.to_thread(DraftFile.take, state_dir, profile)
        except LilaError as error:
            self._tell(error)
            return ""
        return self._file.found.joined

    @property
    def waiting(self) -> tuple[str, ...]:
        """Messages whose turn has not come, in order."""
        return tuple(self._waiting)

    def type(self, text: str) -> None:
        """The prompt now holds `text`."""
        self._text = text

    def submit(self, text: str) -> None:
        """The person sent `text`; the prompt is empty again."""
        self._waiting.append(text)
        self._text = ""

    def send_next(self) -> str | None:
        """The next message, now under way and not yet accepted."""
        if not self._waiting:
            return None
        self._under_way = self._waiting.pop(0)
        return self._under_way

    def accepted(self) -> None:
        """The store has the message that was under way."""
        self._under_way = None

    def take_back(self) -> str:
        """Everything not accepted as one text for the prompt; nothing waits any more."""
        text = Draft(self._unaccepted()).joined
        self._under_way = None
        self._waiting.clear()
        return text

    def _unaccepted(self) -> tuple[str, ...]:
        under_way = () if self._under_way is None else (self._under_way,)
        return (*under_way, *self._waiting)

    async def keep(self) -> None:
        """Write what there is now; returns when it is on disk."""
        if self._file is None:
            return
        async with self._writing:
            draft = Draft(self._unaccepted(), self._text)
            try:
                await asyncio.to_thread(self._file.save, draft)
            except LilaError as error:
                self._tell(error)

    def _tell(self, error: LilaError) -> None:
        if not self._told:
            self._told = True
            self._on_problem(error)

    def close(self) -> None:
        """Let go of the file; what was kept stays for the next start."""
        if self._file is not None:
            self._file.close()

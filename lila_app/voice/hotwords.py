"""Names that are likely to be said, from what is remembered: read ahead, so that a turn waits for
nothing."""

from __future__ import annotations

import asyncio
import logging

from lila_app.assistant import Lila
from lila_app.errors import LilaError

OWN = "Lila"
"""As it is written where somebody is addressed; without it, base hears "Leela" (2026-11-30)."""

_log = logging.getLogger(__name__)


class Hotwords:
    """The names, as they were when memory was last looked at. For one event loop."""

    def __init__(self, lila: Lila, limit: int) -> None:
        self._lila = lila
        self._limit = limit
        self._refreshing: asyncio.Task[None] | None = None
        self._version: int | None = None
        self.text = OWN
        """LILA's own name and those of memory, the likeliest first, with commas between them."""

    async def refresh(self) -> None:
        """Look at memory again, if it changed."""
        try:
            await asyncio.to_thread(self._look)
        except LilaError as error:  # what was known before is good enough
            _log.info("no names were read: %s", type(error).__name__)

    def refresh_later(self) -> None:
        """Look at memory again, meanwhile."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self.refresh())

    def _look(self) -> None:
        version = self._lila.spoken.names_version()
        if version != self._version:
            names = self._lila.spoken.names(max(0, self._limit - 1))
            self.text, self._version = ", ".join((OWN, *names)), version

    async def close(self) -> None:
        """Wait for a look that is under way."""
        if self._refreshing is not None:
            await asyncio.gather(self._refreshing, return_exceptions=True)

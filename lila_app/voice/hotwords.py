"""Names that are likely to be said, from what is remembered: read ahead, so that a turn waits for
nothing."""

from __future__ import annotations

import asyncio
import logging

from lila_app.assistant import Lila
from lila_app.errors import LilaError

_log = logging.getLogger(__name__)


class Hotwords:
    """The names, as they were when memory was last looked at. For one event loop."""

    def __init__(self, lila: Lila, limit: int) -> None:
        self._lila = lila
        self._limit = limit
        self._refreshing: asyncio.Task[None] | None = None
        self.text = ""
        """Names in the order of their use, with commas between them; "" while none are known."""

    async def refresh(self) -> None:
        """Look at memory again, if it changed."""
        try:
            names = await asyncio.to_thread(self._lila.spoken.names, self._limit)
        except LilaError as error:  # what was known before is good enough
            _log.info("no names were read: %s", type(error).__name__)
        else:
            self.text = ", ".join(names)

    def refresh_later(self) -> None:
        """Look at memory again, meanwhile."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self.refresh())

    async def close(self) -> None:
        """Wait for a look that is under way."""
        if self._refreshing is not None:
            await asyncio.gather(self._refreshing, return_exceptions=True)

"""The first start: weights that are not there yet, fetched with a way out at every moment."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass

from lila_app.errors import Cancelled
from lila_app.tui.facade import Assistant
from lila_app.views import Progress


@dataclass(frozen=True, slots=True)
class Missing:
    """A model that has to be fetched before it can answer, and others that could answer now."""

    name: str
    notice: str
    others: tuple[str, ...]


class Weights:
    """Finds out whether the default model is there, and fetches it."""

    def __init__(self, lila: Assistant) -> None:
        self._models = lila.models
        self._stop = threading.Event()

    async def missing(self) -> Missing | None:
        """What has to be fetched, or None; raises `LilaError`."""
        notice = await asyncio.to_thread(self._models.fetch_notice)
        if notice is None:
            return None
        models = await asyncio.to_thread(self._models.list)
        name = next((model.name for model in models if model.default), "")
        others = tuple(model.name for model in models if model.installed and not model.default)
        return Missing(name, notice, others)

    async def fetch(self, name: str, progress: Progress) -> None:
        """Fetch `name`; `progress` is called from another thread. Raises `LilaError`."""
        self._stop.clear()

        def watched(done: int, total: int, label: str) -> None:
            if self._stop.is_set():
                raise Cancelled("the fetch was stopped", hint="start LILA again to go on with it")
            progress(done, total, label)

        await asyncio.to_thread(self._models.pull, name, watched)

    async def use(self, name: str) -> None:
        """Let another model answer; raises `LilaError`."""
        await asyncio.to_thread(self._models.set_default, name)

    def stop(self) -> None:
        """End a fetch at its next sign of progress; what was fetched stays for the next time."""
        self._stop.set()

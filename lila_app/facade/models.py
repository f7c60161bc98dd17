"""`lila.models`: who answers, and how to get them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from lila_app import settings
from lila_app.errors import UsageError
from lila_app.resources import Resources
from lila_app.views import ModelInfo, Progress, Stage


class Models:
    """Models this home can talk to."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._folder = resources.home.models_dir

    def list(self) -> tuple[ModelInfo, ...]:
        """The embedded ones, and what servers on this machine serve right now (asks loopback)."""
        from lila_app.gateway.catalogue import catalogue
        from lila_app.gateway.discover import discover, places

        found = asyncio.run(discover(places(os.environ)))
        roster = self._resources.roster
        return catalogue(
            self._folder,
            found,
            default=roster.default,
            configured=roster.settings.providers,
        )

    def fetch_notice(self) -> str | None:
        """What will be fetched and from where, if the default model's weights are missing."""
        from lila_app.gateway.fetch import fetch_notice
        from lila_app.gateway.weights import DEFAULT

        return fetch_notice(self._folder) if self._resources.roster.default == DEFAULT else None

    def pull(self, name: str, progress: Progress) -> None:
        """Fetch the embedded model's weights. Raises FetchError, ChecksumError."""
        from lila_app.gateway.fetch import fetch
        from lila_app.gateway.weights import DEFAULT

        if name != DEFAULT:
            raise UsageError(
                f"{name} is not a model LILA can fetch",
                hint=f"`lila models pull {DEFAULT}`; a server's models are fetched by the server, "
                "as in `ollama pull llama3.2`, and a GGUF file is taken by `lila models adopt`",
            )
        fetch(self._folder, progress)
        self._resources.roster.renew()

    def adopt(self, path: Path | str, progress: Progress | None = None) -> ModelInfo:
        """Take a local GGUF file in as an embedded model."""
        from lila_app.gateway.weights import adopt

        weights = adopt(Path(path), self._folder, progress)
        self._resources.roster.renew()
        return next(known for known in self.list() if known.name == weights.name)

    def set_default(self, name: str) -> None:
        """Let a model reply from now on. Raises ConfigError for a name that leads nowhere."""
        resources = self._resources
        resources.roster.provider(name)
        settings.set_value(resources.home, "model", name)
        resources.roster.use(settings.load(resources.home))

    async def test(self, name: str) -> AsyncGenerator[Stage, None]:
        """Try a model stage by stage: reach, stream, schema, cache on the second call."""
        from lila_app.gateway.trial import trial

        async for stage in trial(self._resources.roster.provider(name)):
            yield stage

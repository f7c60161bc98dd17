"""Which models this home can talk to, from its settings and its gateway table."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping

from lila_app.context import ModelLimits
from lila_app.errors import ConfigError, MissingWeightsError
from lila_app.gateway.openai_compatible import Endpoint
from lila_app.gateway.port import Provider
from lila_app.gateway.routing import OwnLimits, Routes, limits_of, resolve
from lila_app.gateway.table import GatewayTable, parse_gateway
from lila_app.paths import Home
from lila_app.policies import sources
from lila_app.settings import Settings


class Roster:
    """The providers of one home, made when first asked for and kept, so that caches stay warm."""

    def __init__(self, home: Home, settings: Settings, given: Provider | None = None) -> None:
        self._home = home
        self._settings = settings
        self._given = given
        self._providers: dict[str, Provider] = {}
        self._lock = threading.Lock()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    def use(self, settings: Settings) -> None:
        """Go on with changed settings."""
        self._settings = settings

    @property
    def table(self) -> GatewayTable:
        """The gateway's policy table, as it is on disk now."""
        return parse_gateway(sources(self._home, "gateway"))

    @property
    def default(self) -> str:
        """The model that replies when none is named."""
        return self._settings.model or self.table.chains["reply"][0]

    def provider(self, name: str | None) -> Provider:
        """The provider of a model (None: the default). Starts nothing; raises LilaError."""
        if self._given is not None:
            return self._given
        chosen = name or self.default
        with self._lock:
            if chosen not in self._providers:
                self._providers[chosen] = resolve(chosen, self._routes(), self._home.models_dir)
            return self._providers[chosen]

    def limits(self, name: str | None) -> ModelLimits:
        """What a model can take, also while its weights are not here yet."""
        try:
            return self.provider(name).limits()
        except MissingWeightsError:
            return limits_of(name or self.default, self._routes())

    def providers(self) -> tuple[Provider, ...]:
        """Those that were asked for."""
        with self._lock:
            return tuple(self._providers.values())

    def renew(self) -> None:
        """Close the providers and make them anew when next asked for (their weights changed)."""
        with self._lock:
            closing = tuple(self._providers.values())
            self._providers.clear()
        for provider in closing:
            asyncio.run(provider.close())

    def _routes(self) -> Routes:
        settings = self._settings
        return Routes(
            self.table,
            {
                name: Endpoint(entry.base_url, _key(name, entry.api_key_env, os.environ))
                for name, entry in settings.providers.items()
            },
            {
                name: OwnLimits(entry.window, entry.context_budget)
                for name, entry in settings.models.items()
            },
        )


def _key(provider: str, variable: str, environ: Mapping[str, str]) -> str | None:
    if not variable:
        return None
    key = environ.get(variable, "")
    if not key:
        raise ConfigError(
            f"the key of provider {provider} is to be in {variable}, which is not set",
            hint=f"set {variable}, or take api_key_env out of [providers.{provider}]",
        )
    return key

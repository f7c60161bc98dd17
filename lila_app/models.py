"""Which models this home can talk to, from its settings and its gateway table."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping

from lila_app import policies
from lila_app.context import ModelLimits
from lila_app.errors import MissingKeyError, MissingWeightsError
from lila_app.gateway.access import Access
from lila_app.gateway.contract import CacheContract
from lila_app.gateway.ledger import Ledger
from lila_app.gateway.openai_compatible import Endpoint
from lila_app.gateway.port import Provider
from lila_app.gateway.remote import REMOTES, base_url
from lila_app.gateway.routing import OwnLimits, Routes, limits_of, resolve
from lila_app.gateway.table import GatewayTable, parse_gateway
from lila_app.keys import Keys
from lila_app.paths import Home
from lila_app.settings import Settings


class Roster:
    """The providers of one home, made when first asked for and kept, so that caches stay warm."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        given: Provider | None = None,
        *,
        keys: Mapping[str, str] | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.keys = Keys(home, settings.providers, given=keys)
        self._ledger = ledger
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
        self.keys.configure(settings.providers)

    @property
    def table(self) -> GatewayTable:
        """The gateway's policy table, as it is on disk now."""
        return parse_gateway(policies.sources(self._home, "gateway"))

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
                self._providers[chosen] = resolve(
                    chosen, self._routes(chosen), self._home.models_dir
                )
            return self._providers[chosen]

    def limits(self, name: str | None) -> ModelLimits:
        """What a model can take, also while its weights or its key are not here yet."""
        try:
            return self.provider(name).limits()
        except (MissingWeightsError, MissingKeyError):
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

    def _routes(self, name: str = "") -> Routes:
        """What is configured, with the key of one model's provider and of no other."""
        settings, asked = self._settings, name.partition("/")[0]
        return Routes(
            self.table,
            {
                provider: Endpoint(
                    entry.base_url, self._key(provider) if provider == asked else None
                )
                for provider, entry in settings.providers.items()
                if provider not in REMOTES
            },
            {
                model: OwnLimits(entry.window, entry.context_budget)
                for model, entry in settings.models.items()
            },
            {asked: self.access(asked)} if asked in REMOTES else {},
            self._ledger,
            self.contract,
        )

    def contract(self, name: str) -> CacheContract:
        """What a model's provider promises of its cache, as the table says."""
        return policies.caching(self._home).contract(name)

    def access(self, provider: str) -> Access:
        """How a remote provider is reached. Raises `MissingKeyError` and `ConfigError`."""
        return Access(self.address(provider), self.keys.need(provider).value)

    def address(self, provider: str) -> str:
        """The address of a provider, "" for a remote one's own. Raises `ConfigError`."""
        entry = self._settings.providers.get(provider)
        configured = entry.base_url if entry is not None else ""
        if provider in REMOTES:
            return base_url(REMOTES[provider], configured, os.environ)
        return configured

    def _key(self, provider: str) -> str | None:
        """A configured server's key: needed where settings name a variable for it."""
        if self._settings.providers[provider].api_key_env:
            return self.keys.need(provider).value
        key = self.keys.find(provider)
        return key.value if key is not None else None

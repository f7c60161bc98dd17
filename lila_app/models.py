"""Which models this home can talk to, from its settings and its gateway table."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import lru_cache
from typing import cast

from lila_app import policies
from lila_app.context import ModelLimits, Source
from lila_app.errors import ConfigError, LilaError, MissingKeyError, MissingWeightsError, UsageError
from lila_app.gateway.access import Access
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.means import About
from lila_app.gateway.chat.provider import Endpoint
from lila_app.gateway.embedded.weights import DEFAULT
from lila_app.gateway.ledger import Ledger
from lila_app.gateway.port import Job, Provider, ProviderEvent, Request
from lila_app.gateway.prices import Rates
from lila_app.gateway.remote import REMOTES, base_url
from lila_app.gateway.routing import OwnLimits, Routes, about, limits_of, resolve
from lila_app.gateway.table import GatewayTable, parse_gateway
from lila_app.keys import Keys
from lila_app.paths import Home
from lila_app.settings import Settings

_log = logging.getLogger(__name__)


class Absent:
    """Stands for a chosen model whose key or weights are missing; see `port.Provider`."""

    def __init__(self, name: str, limits: ModelLimits, error: LilaError) -> None:
        self._name = name
        self._limits = limits
        self.error = error

    @property
    def name(self) -> str:
        """`provider/model`."""
        return self._name

    def limits(self) -> ModelLimits:
        """What the tables say."""
        return self._limits

    async def stream(self, request: Request) -> AsyncGenerator[ProviderEvent, None]:
        """Raises what is missing."""
        del request
        raise self.error
        yield  # a generator, like the others

    async def warm(self, request: Request) -> None:
        """There is nothing to warm."""

    async def close(self) -> None:
        """Nothing is held."""


Guarding = Callable[[Provider, bool], Provider]
"""Puts a provider behind what it may be told; True for one on the person's own machine."""


def on_this_machine(name: str, about: About) -> bool:
    """Whether what a model is told stays here.

    A remote provider's name is taken at its word wherever it is reached: what listens on loopback
    may be a proxy. And Ollama runs models called `…cloud` on its makers' machines.
    """
    vendor, _, model = name.partition("/")
    return about.local and vendor not in REMOTES and not model.endswith("cloud")


def _as_it_is(provider: Provider, local: bool) -> Provider:
    del local
    return provider


class Roster:
    """The providers of one home, made when first asked for and kept, so that caches stay warm."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        given: Sequence[Provider] = (),
        *,
        keys: Mapping[str, str] | None = None,
        ledger: Ledger | None = None,
        rates: Callable[[str], Rates | None] = lambda _: None,
        guarded: Guarding = _as_it_is,
    ) -> None:
        self.keys = Keys(home, settings.providers, given=keys)
        self._ledger = ledger
        self._rates = rates
        self._guarded = guarded
        self._home = home
        self._settings = settings
        self._given = tuple(guarded(one, True) for one in given)  # whoever hands it over owns it
        self._providers: dict[str, Provider] = {}
        self._abouts: dict[str, About] = {}
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
        return _parsed(tuple(policies.sources(self._home, "gateway")))

    @property
    def given_names(self) -> tuple[str, ...]:
        """Models that were given instead of configured; they answer for every job."""
        return tuple(one.name for one in self._given)

    @property
    def default(self) -> str:
        """The model that replies when none is named."""
        if self._given:
            return self._given[0].name
        return self._settings.model or self.table.chains["reply"][0]

    def chosen(self, name: str | None) -> str:
        """The name of the model that is to reply: the given one's, else the default's."""
        return self.default if self._given else name or self.default

    def chain(self, name: str | None = None, job: Job = "reply") -> tuple[Provider, ...]:
        """The models to ask in order: the chosen one, the declared chain, the embedded one.

        One whose key or weights are missing is passed over, and so is a name that leads nowhere
        (`lila policy check` tells). The chosen one, if its key or weights are missing, stands in
        the chain all the same, so that the prompt stays the same and the person is told; asked for
        by `name` it is an error. Raises LilaError, also when none is left.
        """
        if self._given:
            return self._given
        chain = self.table.chains[job]
        first = name or (self._settings.model if job == "reply" else "") or chain[0]
        found: list[Provider] = []
        for one in dict.fromkeys((first, *chain, DEFAULT)):
            try:
                found.append(self.provider(one))
            except (MissingKeyError, MissingWeightsError) as error:
                if one == name:
                    raise
                _log.info("%s is passed over: %s", one, error)
                if one == first:
                    found.append(Absent(one, self.limits(one), error))
            except ConfigError as error:
                if one == name:  # an argument, and wrong as one
                    raise UsageError(error.message, hint=error.hint) from error
                if one == first:
                    raise
                _log.warning("%s is passed over: %s", one, error)
        if all(isinstance(one, Absent) for one in found):
            raise cast(Absent, found[0]).error
        return tuple(found)

    def doubts(self) -> tuple[str, ...]:
        """Names in the declared chains that lead nowhere, each with a sentence."""
        found: list[str] = []
        for job, chain in self.table.chains.items():
            for one in chain:
                try:
                    resolve(one, self._routes(), self._home.models_dir)
                except (MissingKeyError, MissingWeightsError):
                    continue
                except ConfigError as error:
                    found.append(f"gateway.toml: jobs.{job}: {error}")
        return tuple(found) + self._unable()

    def _unable(self) -> tuple[str, ...]:
        """Jobs a model may help with by the settings, and whose chain names no capable one.

        Titles as they are shipped are no mistake: whoever wants none by a model leaves them so.
        """
        if not self._settings.memory.use_model:
            return ()
        table = self.table
        titles = [job for job in ("title",) if set(table.chains[job]) != {DEFAULT}]
        return tuple(
            f"gateway.toml: jobs.{job}: memory.use_model is on, and none of "
            f"{', '.join(table.chains[job])} is capable; name a model that is"
            for job in ("summary", "extraction", *titles)
            if not any(table.capable(one) and one != DEFAULT for one in table.chains[job])
        )

    def provider(self, name: str | None) -> Provider:
        """The provider of a model (None: the default). Starts nothing; raises LilaError."""
        if self._given:
            return self._given[0]
        chosen = name or self.default
        with self._lock:
            if chosen not in self._providers:
                routes = self._routes(chosen)
                made = resolve(chosen, routes, self._home.models_dir)
                known = self._abouts[chosen] = about(chosen, routes)
                self._providers[chosen] = self._guarded(made, on_this_machine(chosen, known))
            return self._providers[chosen]

    def about(self, name: str) -> About:
        """What the caller has to know of a model besides its provider."""
        with self._lock:
            return self._abouts.get(name, About())

    def place(self, name: str) -> About:
        """What is known of where a model is, also without its key."""
        try:
            return about(name, self._routes())
        except (ConfigError, KeyError):  # a name that leads nowhere
            return About()

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
            self._abouts.clear()
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
        """What a model's provider promises of its cache, with the multipliers of its prices."""
        return policies.caching(self._home).contract(name, self._rates(name))

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


@lru_cache(maxsize=4)
def _parsed(sources: tuple[Source, ...]) -> GatewayTable:
    """The same texts are parsed once: every turn asks for its chain."""
    return parse_gateway(sources)

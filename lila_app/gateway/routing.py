"""From a model's name to the provider that answers for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from lila_app.context.items import ModelLimits
from lila_app.errors import ConfigError, MissingKeyError
from lila_app.gateway.access import Access
from lila_app.gateway.addresses import is_loopback
from lila_app.gateway.caching.contract import CacheContract
from lila_app.gateway.calls.means import About
from lila_app.gateway.chat.provider import Endpoint, OpenAICompatibleProvider
from lila_app.gateway.embedded.weights import DEFAULT, find
from lila_app.gateway.ledger import Ledger
from lila_app.gateway.port import Provider
from lila_app.gateway.remote import REMOTES
from lila_app.gateway.table import GatewayTable

EMBEDDED = "embedded"

WELL_KNOWN: Mapping[str, Endpoint] = {
    "ollama": Endpoint("http://127.0.0.1:11434/v1"),
    "llama-server": Endpoint("http://127.0.0.1:8080/v1"),
    "lmstudio": Endpoint("http://127.0.0.1:1234/v1"),
    "vllm": Endpoint("http://127.0.0.1:8000/v1"),
}
"""Where each server listens unless told otherwise (their documentation, 2026-11-30)."""


@dataclass(frozen=True, slots=True)
class OwnLimits:
    """Limits the person set for one model; None leaves the table's."""

    window: int | None = None
    context_budget: int | None = None


@dataclass(frozen=True, slots=True)
class Routes:
    """Everything about models a person may configure, as plain data.

    `endpoints` are servers by the name they go by in model names, laid over `WELL_KNOWN`.
    `access` is how remote providers are reached, by their name; without a key they are not.
    `limits` are by whole model name. `ledger` is needed by providers that keep caches of their own
    at the other end; `contract` says what a model's provider promises of its cache.
    """

    table: GatewayTable
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict[str, Endpoint])
    limits: Mapping[str, OwnLimits] = field(default_factory=dict[str, OwnLimits])
    access: Mapping[str, Access] = field(default_factory=dict[str, Access])
    ledger: Ledger | None = None
    contract: Callable[[str], CacheContract] = lambda _: CacheContract("none")
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def resolve(name: str, routes: Routes, models_dir: Path) -> Provider:
    """The provider of `provider/model`; nothing is started and no network is touched.

    Raises `ConfigError` for a name that leads nowhere, `MissingKeyError` for a remote provider
    without a key and `MissingWeightsError` for an embedded model whose file is not in `models_dir`.
    """
    provider, _, model = name.partition("/")
    if not provider or not model:
        raise ConfigError(
            f"{name!r} is not a model's name", hint="write provider/model, as in ollama/llama3.2"
        )
    if provider in REMOTES:
        return _remote(name, routes)
    if provider == EMBEDDED:
        return _embedded(name, routes, models_dir)
    endpoints = {**WELL_KNOWN, **routes.endpoints}
    if provider not in endpoints:
        known = [EMBEDDED, *REMOTES, *sorted(endpoints)]
        near = get_close_matches(provider, known, n=1)
        meant = f"; did you mean {near[0]}/{model}?" if near else ""
        raise ConfigError(
            f"no provider is called {provider!r}{meant}",
            hint=f"known are {', '.join(known)}; "
            f"`[providers.{provider}]` with a base_url in settings.toml adds yours",
        )
    return OpenAICompatibleProvider(name, endpoints[provider], limits_of(name, routes))


def about(name: str, routes: Routes) -> About:
    """What calling a model has to know besides its provider: key, place and cache."""
    vendor = name.partition("/")[0]
    contract = routes.contract(name)
    if vendor == EMBEDDED:
        return About(local=True, contract=contract)
    if vendor in REMOTES:
        access = routes.access.get(vendor, Access())
    else:
        endpoint = {**WELL_KNOWN, **routes.endpoints}[vendor]
        access = Access(endpoint.base_url, endpoint.api_key or "")
    return About(access.credential, is_loopback(access.base_url), contract)


def limits_of(name: str, routes: Routes) -> ModelLimits:
    """The table's limits of a model with the person's own laid over them."""
    limits = routes.table.limits_of(name)
    own = routes.limits.get(name)
    if own is None:
        return limits
    return replace(
        limits,
        window=own.window or limits.window,
        context_budget=own.context_budget or limits.context_budget,
    )


def _remote(name: str, routes: Routes) -> Provider:
    family = REMOTES[name.partition("/")[0]].family
    access = routes.access.get(family, Access())
    if not access.api_key:
        raise MissingKeyError(f"there is no key for {family}", hint=f"`lila keys set {family}`")
    limits, contract = limits_of(name, routes), routes.contract(name)
    match family:
        case "anthropic":
            from lila_app.gateway.anthropic.provider import AnthropicProvider

            return AnthropicProvider(name, access, limits, contract)
        case "openai":
            from lila_app.gateway.openai.provider import OpenAIProvider

            return OpenAIProvider(name, access, limits, contract)
        case "gemini":
            from lila_app.gateway.gemini.provider import GeminiProvider

            if routes.ledger is None:
                raise ConfigError(
                    f"{name} may keep caches at its provider, and nothing here would remember them",
                    hint="open LILA with a store",
                )
            return GeminiProvider(name, access, limits, contract, routes.ledger, routes.now)


def _embedded(name: str, routes: Routes, models_dir: Path) -> Provider:
    from lila_app.gateway.embedded.provider import EmbeddedProvider, Sampling

    weights = find(name, models_dir)
    limits = limits_of(name, routes)
    if weights.context_length:
        limits = replace(limits, window=min(limits.window, weights.context_length))
    sampling = Sampling()
    if name == DEFAULT:
        # Temperature and top_p from the model card. The penalty is a compromise, measured over 24
        # questions answered in the prompt and 9 long replies (2026-11-30): without it 20 right and
        # a six-word run said up to 15 times; at 1.05 20 right and 3 times; at 1.1 only 14 right,
        # because it also punishes repeating what the prompt says.
        # Past some 300 tokens it only repeats itself, for a minute on two cores; and it goes on
        # with the list of what was recalled, by the labels it saw there.
        sampling = Sampling(
            temperature=0.2,
            top_p=0.9,
            repeat_penalty=1.05,
            longest=320,
            stop=("\nThey:", "\nLILA:", "\n[m", "\n[t", "\n[d", "\n[r", "\nMessage:"),
            ends_circles=True,
        )
    return EmbeddedProvider(weights, limits, sampling)

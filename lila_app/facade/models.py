"""`lila.models`: who answers, and how to get them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING

from lila_app import moments, settings
from lila_app.errors import UsageError
from lila_app.gateway.remote import REMOTES
from lila_app.keys import KeyInfo
from lila_app.resources import Resources
from lila_app.views import ModelInfo, Progress, Stage

if TYPE_CHECKING:
    from lila_app.gateway.trial import Terms


class Models:
    """Models this home can talk to."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._folder = resources.home.models_dir

    def list(self) -> tuple[ModelInfo, ...]:
        """The embedded ones, what servers on this machine serve right now, remote providers.

        Asks loopback and, for where a key comes from, the keyring; no remote provider.
        """
        from lila_app.gateway.catalogue import catalogue
        from lila_app.gateway.chat.discover import discover, places

        found = asyncio.run(discover(places(os.environ)))
        roster = self._resources.roster
        return catalogue(
            self._folder,
            found,
            default=roster.default,
            configured=[name for name in roster.settings.providers if name not in REMOTES],
            keyed={name: _origin(roster.keys.info(name)) for name in REMOTES},
        )

    def chosen(self, name: str | None = None) -> str:
        """The name of the model that is to reply: that one's, else the default's."""
        return self._resources.roster.chosen(name)

    def fetch_notice(self) -> str | None:
        """What will be fetched and from where, if the default model's weights are missing."""
        from lila_app.gateway.embedded.fetch import fetch_notice
        from lila_app.gateway.embedded.weights import DEFAULT

        return fetch_notice(self._folder) if self._resources.roster.default == DEFAULT else None

    def pull(self, name: str, progress: Progress) -> None:
        """Fetch the embedded model or a speech model. Raises FetchError, ChecksumError."""
        from lila_app.gateway.embedded.fetch import fetch
        from lila_app.gateway.embedded.weights import DEFAULT
        from lila_app.speech.published import PUBLISHED

        if name in PUBLISHED:
            self._pull_speech(name, progress)
            return
        if name != DEFAULT:
            raise UsageError(
                f"{name} is not a model LILA can fetch",
                hint=f"`lila models pull {DEFAULT}`, or one that reads speech, as in `lila models "
                "pull whisper-base`; a server's models are fetched by the server, as in `ollama "
                "pull llama3.2`, and a GGUF file is taken by `lila models adopt`",
            )
        fetch(self._folder, progress)
        self._resources.roster.renew()

    def _pull_speech(self, name: str, progress: Progress) -> None:
        from lila_app.fetching.hub import Hub
        from lila_app.speech.fetch import Means, fetch
        from lila_app.speech.published import PUBLISHED

        fetch(PUBLISHED[name], self._folder, progress, os.environ, Means(Hub(os.environ)))

    def speech(self, name: str) -> Path:
        """The folder of a model that reads speech, every file of it checked (0.1 to 0.5 s).

        `name` is what `recogniser` in the settings may say: a name or a folder. Raises
        MissingWeightsError, ChecksumError, ConfigError.
        """
        from lila_app.speech.models import find

        return find(name, self._folder, os.environ)

    def speech_notice(self, name: str) -> str | None:
        """What would be fetched for that model and from where; None when it is here, or a folder.

        Raises ConfigError for a name that is none.
        """
        from lila_app.speech.fetch import fetch_notice
        from lila_app.speech.models import published

        model = published(name)
        return fetch_notice(model, self._folder, os.environ) if model is not None else None

    def list_speech(self) -> tuple[ModelInfo, ...]:
        """Models that read speech: those that are here, the two LILA is set to take, the chosen."""
        from lila_app.speech.catalogue import catalogue

        chosen = self._resources.roster.settings.voice.recogniser
        return catalogue(self._folder, os.environ, chosen)

    def adopt(self, path: Path | str, progress: Progress | None = None) -> ModelInfo:
        """Take a local GGUF file in as an embedded model."""
        from lila_app.gateway.embedded.weights import adopt

        weights = adopt(Path(path), self._folder, progress)
        self._resources.roster.renew()
        return next(known for known in self.list() if known.name == weights.name)

    def set_default(self, name: str) -> None:
        """Let a model reply from now on. Raises ConfigError for a name that leads nowhere."""
        resources = self._resources
        resources.roster.provider(name)
        settings.set_value(resources.home, "model", name)
        resources.roster.use(settings.load(resources.home))

    def doubt(self, name: str) -> str | None:
        """Why a remote model's name may be misspelt; nothing is asked."""
        resources = self._resources
        if name.partition("/")[0] not in REMOTES:
            return None
        if resources.prices.rates(name, resources.clock()) is not None:
            return None
        return f"the price data knows no {name}; `lila models test {name}` says if it is there"

    async def test(self, name: str) -> AsyncGenerator[Stage, None]:
        """Try a model stage by stage: reach, auth, stream, schema, cache on call 2, cost.

        A model that answers is no longer left alone for earlier failures. Raises `MonthSpentError`
        for a model that costs money when the month's budget is spent.
        """
        from lila_app.gateway.trial import trial

        provider = await asyncio.to_thread(self._resources.roster.provider, name)
        await asyncio.to_thread(self._resources.budget.check, [provider])
        terms = await asyncio.to_thread(self._terms, name)
        async for stage in trial(provider, terms):
            if stage.name == "stream" and stage.ok:
                await asyncio.to_thread(self._resources.caller.answered, name)
            yield stage

    def test_notice(self, name: str) -> str | None:
        """What trying a model will cost about; None where it costs nothing. Raises LilaError."""
        self._resources.roster.provider(name)
        terms = self._terms(name)
        if not terms.remote:
            return None
        cost = terms.cost(terms.usage)
        dollars = f"about ${cost.usd:.4f}" if cost.usd is not None else "what is not known"
        tokens = terms.usage.total or 0
        return f"three calls with {tokens:,} prompt tokens together, which cost {dollars}"

    def _terms(self, name: str) -> Terms:
        """What is known of a model before it is tried. Raises LilaError."""
        from lila_app.gateway.trial import Terms

        resources, provider = self._resources, name.partition("/")[0]
        own = resources.prices.own(provider)
        roster = resources.roster
        key = roster.keys.find(provider) if provider in roster.keys.providers else None
        return Terms(
            key=f"{key.shown} from {key.origin}" if key is not None else "",
            credential=roster.about(name).credential,
            remote=not own,
            contract=roster.contract(name),
            cost=lambda usage: resources.prices.cost(name, usage, resources.clock()),
            record=resources.ledger.attempted,
            now=lambda: moments.stored(resources.clock()),
        )


def _origin(info: KeyInfo) -> str:
    return f"{info.source} ({info.where})" if info.source else ""

"""What one open LILA holds: its store, and the heavy parts that are loaded when first needed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lila_app import moments, policies
from lila_app.afterwards import Afterwards, Means
from lila_app.context.items import Counter
from lila_app.context.policy import Policy
from lila_app.costs.accounts import StoreLedger
from lila_app.costs.budget import Budget
from lila_app.gateway.addresses import is_loopback
from lila_app.gateway.caching.rule import choose
from lila_app.gateway.calls.calling import Caller
from lila_app.gateway.calls.means import World
from lila_app.gateway.prices import OWN, Prices
from lila_app.gateway.remote import REMOTES
from lila_app.looking import Looking
from lila_app.models import Roster
from lila_app.moments import Clock
from lila_app.paths import Home, shipped
from lila_app.privacy.key import VaultKey
from lila_app.privacy.sinks import Privacy
from lila_app.settings import Settings
from lila_app.storage import spoken, vectors
from lila_app.storage.connection import Store
from lila_app.version import VERSION

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lila_app.completing import ModelCompleter
    from lila_app.embedding.port import Embedder
    from lila_app.gateway.port import Provider
    from lila_app.graph.mirror import Mirror
    from lila_app.layers.conversation import ConversationLayer
    from lila_app.layers.graph import Declared as GraphTables
    from lila_app.layers.passages import Scoring
    from lila_app.layers.port import Layer
    from lila_app.layers.score import Scales
    from lila_app.memory.learning import Learner
    from lila_app.memory.promotion import Rules

_log = logging.getLogger(__name__)

VOCABULARY = "vocabulary/minilm-tokenizer.json"
WORKERS = 6
"""One thread a layer, and one for the query's vector."""
_LARGEST: tuple[vectors.Table, ...] = ("chunks", "turns", "memories")
SPOKEN_LONGEST = timedelta(minutes=2)
"""From when somebody begins to speak to when the words are final: 30 s of speech, and some."""
CLOSING_SECONDS = 0.1
"""How soon work with a provider notices that LILA closes."""


class Resources:
    """Shared by the façades and the turn; created by `lila_app.open`, closed once."""

    def __init__(
        self,
        home: Home,
        profile: str,
        settings: Settings,
        store: Store,
        clock: Clock,
        given: Sequence[Provider] = (),
        embedder: Embedder | None = None,
        keys: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.profile = profile
        self.settings = settings
        self.store = store
        self.clock = clock
        self._given_embedder = embedder
        self.prices = Prices(self._own, lambda name: policies.caching(home).long_write(name))
        self.privacy = Privacy(
            store,
            VaultKey(home),
            lambda: policies.sources(home, "privacy"),
            lambda: moments.stored(clock()),
        )
        self.ledger = StoreLedger(
            store, self.prices, lambda name: policies.caching(home).contract(name)
        )
        self.roster = Roster(
            home,
            settings,
            given,
            keys=keys,
            ledger=self.ledger,
            rates=lambda name: self.prices.rates(name, clock()),
            guarded=lambda provider, local: self.privacy.guarded(provider, local=local),
        )
        self.budget = Budget(store, lambda: self.roster.settings, self._own, clock)
        self.pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="lila")
        self.background = ThreadPoolExecutor(1, thread_name_prefix="lila-background")
        # What the next turn builds on must not queue behind a model that is warming.
        self.settling = ThreadPoolExecutor(1, thread_name_prefix="lila-settling")
        self._lock = threading.RLock()
        self._readying = threading.Lock()
        self._closing = threading.Event()
        self.looking = Looking(
            store, home, settings.zone, lambda: self.mirror.current().known(), threading.Lock()
        )
        self.afterwards = Afterwards(
            Means(
                store,
                self.looking,
                lambda: self.embedder,
                lambda: self.learner,
                self.later,
                self._closing,
            ),
            learns=settings.memory.learn,
        )
        self._ready = False

    def _own(self, provider: str) -> bool:
        """Whether a provider is on this machine, by its name or by the address it was given."""
        if provider in REMOTES:
            return False
        return provider in OWN or is_loopback(self.roster.address(provider))

    @property
    def caller(self) -> Caller:
        """Calls models by the rules as they are on disk now; all it remembers is in the ledger."""
        rule = policies.caching(self.home).rule
        return Caller(
            self.ledger,
            self.roster.table.calling,
            about=self.roster.about,
            choose=partial(choose, rule=rule),
            world=World(now=self.clock),
        )

    @property
    def declared(self) -> policies.Declared:
        """The tables and the persona as they are on disk now; read again on every turn.

        So a person can edit a table and ask again. What did not change is not parsed again.
        """
        return policies.load(self.home)

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.declared.policy

    @cached_property
    def code_version(self) -> str:
        """Release and fingerprint of the assembler."""
        return policies.code_version(VERSION)

    @cached_property
    def count(self) -> Counter:
        """The declared token counter, loaded once (0.2 s) and remembering short texts."""
        from lila_app.embedding.tokens import load_counter, remember

        with self._lock:
            return remember(load_counter())

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model; its weights are read at the first text."""
        from lila_app.embedding.minilm import MiniLM

        with self._lock:
            return self._given_embedder or MiniLM(shipped("assets") / VOCABULARY)

    @cached_property
    def mirror(self) -> Mirror:
        """The graph in memory, loaded at the first question to it."""
        from lila_app.graph.mirror import Mirror

        with self._lock:
            return Mirror(self.store)

    @cached_property
    def conversation(self) -> ConversationLayer:
        """The conversation layer, which also knows when a cut is due."""
        from lila_app.layers.conversation import ConversationLayer

        return ConversationLayer(self.store, self.count)

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The five layers; the policy orders their answers."""
        from lila_app.layers.graph import GraphLayer
        from lila_app.layers.memory import MemoryLayer
        from lila_app.layers.rag import RagLayer
        from lila_app.layers.search import Finder
        from lila_app.layers.session import SessionLayer

        finder = Finder(self.store, self.embedder.model_id)
        return (
            SessionLayer(self.store, self.count),
            self.conversation,
            MemoryLayer(self.store, finder, self.count, self.scales, lambda: self.promotion),
            GraphLayer(self.mirror, self.count, self.graph_tables),
            RagLayer(self.store, finder, self.count, self.passage_scoring),
        )

    @cached_property
    def completer(self) -> ModelCompleter:
        """A model for what memory can use one for, where the person allowed one."""
        from lila_app.completing import Means, ModelCompleter

        return ModelCompleter(
            Means(
                self.roster,
                lambda: self.caller,
                self.budget,
                lambda: self.count,
                self._predicates,
                self.run_until_closing,
                self.privacy,
            )
        )

    def graph_tables(self) -> GraphTables:
        """How the graph answers, as it is on disk now. Raises PolicyError."""
        from lila_app.layers.graph import declare

        graph, vocabulary = (policies.sources(self.home, name) for name in ("graph", "predicates"))
        return declare(tuple(graph), tuple(vocabulary))

    def _predicates(self) -> tuple[str, ...]:
        from lila_app.memory import predicates

        return tuple(predicates.load(policies.sources(self.home, "predicates")).named)

    @property
    def promotion(self) -> Rules:
        """What earns a memory its place and how long it is offered, as declared on disk now."""
        return self.looking.rules()

    @property
    def learner(self) -> Learner:
        """Looks through what was said, by the tables as they are on disk now."""
        return self.looking.learner(self.completer)

    def scales(self) -> Scales:
        """How memories and turns are ranked, as declared on disk now."""
        from lila_app.layers import score

        return score.parse(policies.sources(self.home, score.TABLE))

    def passage_scoring(self) -> Scoring:
        """How passages are ranked, as declared on disk now."""
        from lila_app.layers import passages

        return passages.parse(policies.sources(self.home, passages.TABLE))

    def embed_query(self, text: str) -> Callable[[], NDArray[np.float32]]:
        """Start embedding a query; the result is waited for where it is needed."""
        future: Future[NDArray[np.float32]] = self.pool.submit(
            lambda: self.embedder.embed([text])[0]
        )
        return future.result

    def ready(self) -> None:
        """Load what searching needs, once; afterwards this costs nothing.

        A deadline is for looking things up. What is loaded at the first turn takes a second or
        two, and counting it would leave the memory out of exactly the first answer.
        """
        with self._readying:
            if self._ready:
                return
            # Together: reading vectors waits for the disk, the models for the processor.
            model_id = self.embedder.model_id
            parts: list[Callable[[], object]] = [
                lambda: self.embedder.embed(["ready"]),
                lambda: self.count(""),
                lambda: self.mirror.warm(),
            ]
            parts += [partial(vectors.warm, self.store, table, model_id) for table in _LARGEST]
            for part in [self.pool.submit(part) for part in parts]:
                part.result()
            self._ready = True

    def preload(self) -> None:
        """`ready` in the background, while a person still types."""
        self.later(self.ready)

    @property
    def learns(self) -> bool:
        """Whether what is said is looked through for facts."""
        return self.afterwards.learns

    @learns.setter
    def learns(self, learns: bool) -> None:
        self.afterwards.learns = learns

    def learn(self) -> None:
        """Embed what has no vector yet, and look through what was not, in the background."""
        self.afterwards.learn()

    def settle_spoken(self) -> None:
        """Have what was said to a process that was killed learned from like anything else."""
        spoken.settle_before(self.store, moments.stored(self.clock() - SPOKEN_LONGEST))

    def embed_all(self) -> None:
        """Embed whatever has no vector yet, however long it takes; 1 ms where nothing is left.

        For measuring: what is found must not depend on how far the background is.
        """
        from lila_app.documents.pending import embed_pending

        embed_pending(self.store, self.embedder)

    def later(self, work: Callable[[], object]) -> None:
        """Do something in the background; what goes wrong is logged by its kind alone.

        Nothing that matters may depend on it: what it leaves undone is caught up later.
        """
        if not self._closing.is_set():
            self.background.submit(_logged, work)

    def settle(self, work: Callable[[], object]) -> None:
        """Do after a turn what the next one builds on; closing waits for it."""
        with contextlib.suppress(RuntimeError):  # a turn that ends after LILA was closed
            self.settling.submit(_logged, work)

    def run_until_closing(
        self, work: Coroutine[object, object, None], over: Callable[[], bool] | None = None
    ) -> None:
        """Run something of a provider in the background; closing cancels it, or `over` does.

        A person who leaves must not wait for a model to read what nobody will ask about, nor for
        a server that does not answer.
        """

        over = over or self._closing.is_set

        async def watched() -> None:
            task = asyncio.ensure_future(work)
            while not task.done():
                if over():
                    task.cancel()
                await asyncio.wait({task}, timeout=CLOSING_SECONDS)
            if not task.cancelled():
                task.result()

        asyncio.run(watched())

    def close(self) -> None:
        """Wait for background work that is under way, then close the store; safe to call twice."""
        self.settling.shutdown(wait=True)
        self.afterwards.close()
        self._closing.set()
        self.background.shutdown(wait=True)
        self.pool.shutdown(wait=True)
        for provider in self.roster.providers():
            asyncio.run(provider.close())
        self.store.close()


def _logged(work: Callable[[], object]) -> None:
    try:
        work()
    except Exception as error:
        _log.warning("background work failed: %s", type(error).__name__)

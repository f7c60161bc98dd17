"""What looks through what was said, by one home's tables; its parser is shared in a process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from lila_app import policies
from lila_app.context import Source
from lila_app.paths import Home
from lila_app.storage import episodes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from zoneinfo import ZoneInfo

    from lila_app.memory.completer import Completer
    from lila_app.memory.extraction import Extractor
    from lila_app.memory.learning import Learner
    from lila_app.memory.promotion import Rules
    from lila_app.storage.connection import Store

PAUSE_SECONDS = 2.0
"""How long a process lives before it loads a parser in the background."""


@dataclass(frozen=True, slots=True)
class Looking:
    """Makes learners by the tables as they are on disk now; one of them works at a time."""

    store: Store
    home: Home
    zone: ZoneInfo
    known: Callable[[], Mapping[str, str]]
    lock: threading.Lock

    def rules(self) -> Rules:
        """What earns a memory its place and how long it is offered."""
        from lila_app.memory import promotion

        return promotion.load(tuple(policies.sources(self.home, "promotion")))

    def learner(self, completer: Completer) -> Learner:
        """Looks through what was said; `completer` is the model that may help."""
        from lila_app.memory import learning, predicates

        said = tuple(policies.sources(self.home, "predicates"))
        means = learning.Means(
            self.store,
            _extractor(said),
            predicates.load(said),
            self.rules(),
            self.zone,
            self.known,
            completer,
        )
        return learning.Learner(means, self.lock)

    @property
    def parses(self) -> bool:
        """Whether a parser was asked for before in this process."""
        return _extractor.cache_info().currsize > 0

    def waits(self, *, after: str | None = None) -> bool:
        """Whether turns wait to be looked through; with `after`, of those said to LILA since."""
        if after is None:
            return episodes.waiting_count(self.store) > 0
        return bool(episodes.waiting(self.store, 1, after=after))

    def give_way(self, closing: threading.Event) -> None:
        """Wait a moment before a parser is loaded, so that what a person waits for comes first.

        A command that is over in a moment loads none (3 s): what it leaves is looked through by the
        next one that lives longer, while a model still answers.
        """
        if not self.parses:
            closing.wait(PAUSE_SECONDS)


@lru_cache(maxsize=1)
def _extractor(said: Sequence[Source]) -> Extractor:
    """One parser a process, 50 MB and 3 s to load; it keeps nothing of what it reads."""
    from lila_app.memory.extraction import Extractor
    from lila_app.memory.predicates import load

    return Extractor(load(said))

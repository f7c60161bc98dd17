"""What goes into each sink, and comes out of it again, under the rules as they are on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from lila_app.context import Source
from lila_app.gateway.port import Provider
from lila_app.privacy.guard import Guard, Revealing
from lila_app.privacy.key import VaultKey
from lila_app.privacy.rules import Rules, parse
from lila_app.privacy.spans import Kind
from lila_app.privacy.vault import Vault
from lila_app.storage import vault as table
from lila_app.storage.connection import Store

if TYPE_CHECKING:
    from lila_app.privacy.names import Names
    from lila_app.privacy.redaction import Redactor


class Privacy:
    """The sinks of one open profile.

    `sources` are the texts of policies/privacy.toml, read again for every request; what is stored
    is redacted, or not, as they said when LILA was opened.
    """

    def __init__(
        self,
        store: Store,
        key: VaultKey,
        sources: Callable[[], Sequence[Source]],
        at: Callable[[], str],
    ) -> None:
        self.key = key
        self.vault = Vault(store, lambda fresh: key.need(fresh=fresh), at)
        self._sources = sources
        self._lock = threading.Lock()
        self._names: Names | None = None
        self._made: tuple[Rules, Redactor] | None = None
        self._storing: frozenset[Kind] | None = None
        self._restoring: bool | None = None
        self._store = store

    @property
    def rules(self) -> Rules:
        """The rules as they are on disk now. Raises `PolicyError`."""
        return _parsed(tuple(self._sources()))

    @property
    def storing(self) -> frozenset[Kind]:
        """The kinds that are replaced before anything is stored; none by default."""
        if self._storing is None:
            self._storing = self.rules.storage.kinds
            if self._storing and not self._store.read_only:
                table.mark(self._store)
        return self._storing

    @property
    def restoring(self) -> bool:
        """Whether placeholders in the store are ours: they stay so when redaction is turned off."""
        if self._restoring is None:
            self._restoring = bool(self.storing) or table.marked(self._store)
        return self._restoring

    @property
    def redactor(self) -> Redactor:
        """What replaces and restores under the rules in force."""
        from lila_app.privacy.detection import Detector
        from lila_app.privacy.names import Names
        from lila_app.privacy.redaction import Redactor

        rules = self.rules
        with self._lock:
            if self._made is None or self._made[0] != rules:
                self._names = self._names or Names()
                self._made = rules, Redactor(Detector(rules, self._names), self.vault)
            return self._made[1]

    def guarded(self, provider: Provider, *, local: bool) -> Provider:
        """A provider as it may be asked: on the network behind the guard, here told everything."""
        if not local:
            return Guard(provider, self)
        return Revealing(provider, self.shown) if self.restoring else provider

    def screened(self, texts: list[str]) -> tuple[list[str], Mapping[str, str]]:
        """Texts as they may go on the wire; see `guard.Screen`."""
        from lila_app.privacy.redaction import Held

        kinds = self.rules.wire.kinds
        if not kinds:  # the wire is open: nothing is hidden from a model, stored how it may be
            return [self.shown(text) for text in texts], {}
        held = Held()
        redacted = self.redactor.all_redacted(texts, kinds, held, ours=self.restoring)
        return redacted, held.values

    def kept(self, text: str, *, ours: bool = False) -> str:
        """A text as it may be stored. With `ours` it may hold placeholders of the store already."""
        if not self.storing:
            return text
        return self.redactor.redacted(text, self.storing, ours=ours)

    def sought(self, text: str) -> str:
        """A query as what it may match is stored; a value also as it is written elsewhere."""
        if not self.storing:
            return text
        from lila_app.privacy.redaction import Held

        held = Held()
        kept = self.redactor.redacted(text, self.storing, held)
        also = [way for one in held.values for way in self.vault.ways(one) if way not in kept]
        return " ".join((kept, *dict.fromkeys(also)))

    def shown(self, text: str) -> str:
        """A stored text as the person sees it."""
        if not self.restoring:
            return text
        return self.redactor.restored(text)


@lru_cache(maxsize=4)
def _parsed(sources: tuple[Source, ...]) -> Rules:
    """The same texts are parsed once: every request asks."""
    return parse(sources)

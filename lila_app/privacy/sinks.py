"""What goes into each sink, and comes out of it again, under the rules as they are on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from lila_app.context import Source
from lila_app.gateway.port import Provider
from lila_app.privacy import placeholders
from lila_app.privacy.guard import Guard, Revealing
from lila_app.privacy.key import VaultKey
from lila_app.privacy.rules import Rules, parse
from lila_app.privacy.spans import Kind
from lila_app.privacy.streaming import escaped
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

    def screened(
        self, texts: list[str], *, add: bool = True
    ) -> tuple[list[str], Mapping[str, str]]:
        """Texts as they may go on the wire; see `guard.Screen`. Without `add` only a rehearsal."""
        from lila_app.privacy.redaction import Held

        kinds = self.rules.wire.kinds
        if not kinds:  # the wire is open: nothing is hidden from a model, stored how it may be
            return [self.shown(text) for text in texts], {}
        held = Held()
        redactor = self.redactor
        if not add:
            from lila_app.privacy.redaction import Redactor
            from lila_app.privacy.trying import TrialVault

            redactor = Redactor(redactor.finder, TrialVault(self.vault))
        redacted = redactor.all_redacted(texts, kinds, held, ours=self.restoring)
        return redacted, held.values

    def kept(self, text: str, *, ours: bool = False) -> str:
        """A text as it may be stored. With `ours` it may hold placeholders of the store already."""
        if not self.storing:
            return text
        return self.redactor.redacted(text, self.storing, ours=ours)

    def kept_within(self, value: object) -> object:
        """The same for every text within a JSON value, which may hold placeholders already."""
        if isinstance(value, str):
            return self.kept(value, ours=True)
        if isinstance(value, list):
            return [self.kept_within(one) for one in cast("list[object]", value)]
        if isinstance(value, dict):
            items = cast("dict[str, object]", value).items()
            return {key: self.kept_within(one) for key, one in items}
        return value

    def kept_answer(self, answer: Mapping[str, object]) -> Mapping[str, object]:
        """A model's answer as it may be stored."""
        return {key: self.kept_within(value) for key, value in answer.items()}

    def named(self, text: str) -> str:
        """The name of something as it is stored; nothing is added to the vault."""
        return self._known(text)[0]

    def sought(self, text: str) -> str:
        """A query as what it may match is stored; a value also as it is written elsewhere."""
        kept, values = self._known(text)
        also = [way for one in values for way in self.vault.ways(one) if way not in kept]
        return " ".join((kept, *dict.fromkeys(also)))

    def shown(self, text: str, *, within_json: bool = False) -> str:
        """A stored text as the person sees it."""
        if not self.restoring or "[" not in text:
            return text
        if within_json:
            return placeholders.restored(text, self._escaped)
        return placeholders.restored(text, self.vault.value)

    def _escaped(self, placeholder: str) -> str | None:
        value = self.vault.value(placeholder)
        return None if value is None else escaped({placeholder: value})[placeholder]

    def _known(self, text: str) -> tuple[str, Mapping[str, str]]:
        from lila_app.privacy.redaction import Held

        if not self.storing:
            return text, {}
        held = Held()
        kept = self.redactor.all_redacted([text], self.storing, held, add=False)[0]
        return kept, held.values


@lru_cache(maxsize=4)
def _parsed(sources: tuple[Source, ...]) -> Rules:
    """The same texts are parsed once: every request asks."""
    return parse(sources)

"""A vault for a trial: it knows what the real one knows, and what it learns is gone afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lila_app.privacy import placeholders
from lila_app.privacy.spans import Kind, Span
from lila_app.privacy.vault import Value, Vault


class TrialVault:
    """See `redaction.Keeper`. Nothing is written."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._made: dict[Value, str] = {}
        self._next = vault.next

    def placeholders(self, wanted: Iterable[Value]) -> Mapping[Value, str]:
        """The real placeholder of each value, else one made for the trial."""
        values = list(wanted)
        known = self._vault.known(values)
        for value in values:
            if value not in known and value not in self._made:
                number = self._next + len(self._made)
                self._made[value] = placeholders.made(value[0], number)
        return {**self._made, **known}

    def known(self, wanted: Iterable[Value]) -> Mapping[Value, str]:
        """Those the real vault has."""
        return self._vault.known(wanted)

    def value(self, placeholder: str) -> str | None:
        """What a placeholder stands for, in the real vault or in the trial."""
        for (_, value), made in self._made.items():
            if made == placeholder:
                return value
        return self._vault.value(placeholder)

    def spans(self, text: str, kinds: frozenset[Kind]) -> Iterable[Span]:
        """Where values of the real vault stand in a text."""
        return self._vault.spans(text, kinds)

"""A text without its values, and with them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lila_app.privacy import placeholders
from lila_app.privacy.placeholders import FORM
from lila_app.privacy.spans import Kind, Span, resolved
from lila_app.privacy.vault import Value


class Finder(Protocol):
    """What finds values in a text; finds may overlap, those first that win over equals."""

    def find(self, text: str, kinds: frozenset[Kind]) -> Iterable[Span]:
        """The finds of these kinds."""
        ...


class Keeper(Protocol):
    """What knows placeholders: the vault, or something that stands for it in a trial."""

    def placeholders(self, wanted: Iterable[Value]) -> Mapping[Value, str]:
        """The placeholder of each value, made where there is none."""
        ...

    def known(self, wanted: Iterable[Value]) -> Mapping[Value, str]:
        """The placeholders of those that have one."""
        ...

    def value(self, placeholder: str) -> str | None:
        """What a placeholder stands for."""
        ...

    def spans(self, text: str, kinds: frozenset[Kind]) -> Iterable[Span]:
        """Where known values stand in a text."""
        ...


@dataclass(slots=True)
class Held:
    """What placeholders stand for in the texts of one request or one store."""

    values: dict[str, str] = field(default_factory=dict[str, str])

    def restored(self, text: str) -> str:
        """The text with the values of these placeholders, and of no other."""
        return placeholders.restored(text, self.values.get)


class Redactor:
    """Replaces what is found under rules, by what the vault has for it. Blocking."""

    def __init__(self, finder: Finder, vault: Keeper) -> None:
        self.finder = finder
        self.vault = vault

    def redacted(
        self, text: str, kinds: frozenset[Kind], held: Held | None = None, *, ours: bool = False
    ) -> str:
        """The text with placeholders; `held` learns what they stand for. Raises LilaError.

        With `ours` the text is one that was redacted before, so placeholders the vault knows stay
        as they are; else a text in their form is none and gets one of its own.
        """
        return self.all_redacted([text], kinds, held, ours=ours)[0]

    def all_redacted(
        self,
        texts: Iterable[str],
        kinds: frozenset[Kind],
        held: Held | None = None,
        *,
        ours: bool = False,
        add: bool = True,
    ) -> list[str]:
        """The same for several texts, which the vault is asked for once.

        Without `add` the vault learns nothing, and values it does not know stay as they are.
        """
        if not kinds:
            return list(texts)
        held = held or Held()
        found = [(text, self._spans(text, kinds, held, ours=ours)) for text in texts]
        wanted: list[Value] = [
            (span.kind, text[span.start : span.end]) for text, spans in found for span in spans
        ]
        if not wanted:
            return [text for text, _ in found]
        made = self.vault.placeholders(wanted) if add else self.vault.known(wanted)
        held.values.update({placeholder: value for (_, value), placeholder in made.items()})
        return [_replaced(text, spans, made) for text, spans in found]

    def restored(self, text: str) -> str:
        """The text with every value the vault has."""
        if "[" not in text or not FORM.search(text):
            return text
        return placeholders.restored(text, self.vault.value)

    def _spans(
        self, text: str, kinds: frozenset[Kind], held: Held, *, ours: bool
    ) -> tuple[Span, ...]:
        forms = [match.span() for match in FORM.finditer(text)] if "[" in text else []
        found = [Span(start, end, "lookalike") for start, end in forms]
        found += [*self.finder.find(text, kinds), *self.vault.spans(text, kinds)]
        spans = resolved(found)
        for start, end in forms if ours else ():
            value = self.vault.value(text[start:end])
            if value is not None:
                held.values[text[start:end]] = value
                spans = tuple(span for span in spans if span.start != start)
        return spans


def _replaced(text: str, spans: tuple[Span, ...], made: Mapping[Value, str]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        value = text[span.start : span.end]
        pieces += [text[end : span.start], made.get((span.kind, value), value)]
        end = span.end
    return "".join((*pieces, text[end:]))

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
        held, all = held or Held(), list(texts)
        ours_of = [self._ours(text, held) if ours else frozenset[int]() for text in all]
        found = [resolved((*_forms(text), *self.finder.find(text, kinds))) for text in all]
        make = self.vault.placeholders if add else self.vault.known
        first = _values(all, map(_without, found, ours_of))
        if first:
            make(first)
        # What was found in one place is replaced in every other one, from the first time on.
        spans = [
            _without(resolved((*of_text, *self.vault.spans(text, kinds))), kept)
            for text, of_text, kept in zip(all, found, ours_of, strict=True)
        ]
        wanted = _values(all, spans)
        if not wanted:
            return all
        made = make(wanted)
        held.values.update({placeholder: value for (_, value), placeholder in made.items()})
        return [_replaced(text, one, made) for text, one in zip(all, spans, strict=True)]

    def restored(self, text: str) -> str:
        """The text with every value the vault has."""
        if "[" not in text or not FORM.search(text):
            return text
        return placeholders.restored(text, self.vault.value)

    def _ours(self, text: str, held: Held) -> frozenset[int]:
        """Where placeholders stand that the vault knows; `held` learns what they stand for."""
        starts: set[int] = set()
        for form in _forms(text):
            placeholder = text[form.start : form.end]
            value = self.vault.value(placeholder)
            if value is not None:
                held.values[placeholder] = value
                starts.add(form.start)
        return frozenset(starts)


def _without(spans: tuple[Span, ...], starts: frozenset[int]) -> tuple[Span, ...]:
    """The spans that begin at none of these; a placeholder is atomic, so none reaches over one."""
    return tuple(span for span in spans if span.start not in starts) if starts else spans


def _forms(text: str) -> list[Span]:
    """What has the form of a placeholder."""
    if "[" not in text:
        return []
    return [Span(one.start(), one.end(), "lookalike") for one in FORM.finditer(text)]


def _values(texts: list[str], spans: Iterable[tuple[Span, ...]]) -> list[Value]:
    return [
        (span.kind, text[span.start : span.end])
        for text, of_text in zip(texts, spans, strict=True)
        for span in of_text
    ]


def _replaced(text: str, spans: tuple[Span, ...], made: Mapping[Value, str]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        value = text[span.start : span.end]
        pieces += [text[end : span.start], made.get((span.kind, value), value)]
        end = span.end
    return "".join((*pieces, text[end:]))

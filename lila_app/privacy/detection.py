"""Everything that is found in a text under the rules in force.

The same text gives the same finds: nothing here knows what came before, so the prefix of a prompt
that did not change is redacted to the same bytes.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial

from lila_app.privacy import guessed, sure
from lila_app.privacy.names import Names
from lila_app.privacy.rules import Rules
from lila_app.privacy.spans import Kind, Span

NAMED: frozenset[Kind] = frozenset({"person", "place", "organisation", "address", "group", "date"})
"""What needs the model of language."""

REMEMBERED = 4_096
"""Texts whose finds are kept in memory: some dozens of conversations of a hundred turns."""

_LETTERS = re.compile(r"[^\W\d_]{2}")


class Detector:
    """Finds what the rules name; from any thread. Finds may overlap: see `spans.resolved`."""

    def __init__(self, rules: Rules, names: Names | None = None) -> None:
        self._rules = rules
        self._names = names or Names()
        self._lock = threading.Lock()
        self._remembered: OrderedDict[tuple[str, frozenset[Kind]], tuple[Span, ...]] = OrderedDict()

    def find(self, text: str, kinds: frozenset[Kind]) -> tuple[Span, ...]:
        """The finds of these kinds, and those the person always wants replaced."""
        return self._once((text, kinds), lambda: tuple(self._found(text, kinds)))

    def _found(self, text: str, kinds: frozenset[Kind]) -> Iterator[Span]:
        for pattern in self._rules.deny:
            for match in pattern.finditer(text):
                if match.end() > match.start():
                    yield Span(match.start(), match.end(), "denied")
        found = [span for span in sure.find(text) if span.kind in kinds]
        found += guessed.find(text, kinds)
        if kinds & NAMED:
            found += self._named(text, kinds)
        if "address" in kinds:
            found += guessed.block(text, found)
        for span in found:
            if span.kind in kinds and not self._allowed(text[span.start : span.end]):
                yield span

    def _named(self, text: str, kinds: frozenset[Kind]) -> Iterator[Span]:
        """What the model finds, line by line: a line's finds are its own, whatever is around it."""
        start = 0
        for line in text.split("\n"):
            if _LETTERS.search(line):
                found = partial(self._of_line, line)
                for span in self._once((line, NAMED), found):
                    if span.kind in kinds:
                        yield Span(start + span.start, start + span.end, span.kind)
            start += len(line) + 1

    def _of_line(self, line: str) -> tuple[Span, ...]:
        return tuple(self._names.find(line))

    def _allowed(self, value: str) -> bool:
        if value.casefold() in self._rules.allowed:
            return True
        return any(pattern.fullmatch(value) for pattern in self._rules.allow)

    def _once(
        self, key: tuple[str, frozenset[Kind]], find: Callable[[], tuple[Span, ...]]
    ) -> tuple[Span, ...]:
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
                return self._remembered[key]
        found = find()
        with self._lock:
            self._remembered[key] = found
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return found

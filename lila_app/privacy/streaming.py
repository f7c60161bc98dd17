"""Restoring a text that comes in pieces: what may be half a placeholder is held back."""

from __future__ import annotations

import json
from collections.abc import Mapping

from lila_app.privacy import placeholders


class Restorer:
    """One stream of text; together the pieces given out are what is restored of the whole.

    Within `json` a value is written as a JSON text writes it; there a placeholder can only stand
    inside a string.
    """

    def __init__(self, values: Mapping[str, str], *, within_json: bool = False) -> None:
        self._values = escaped(values) if within_json else values
        self._back = ""

    def take(self, text: str) -> str:
        """What can be said after this piece."""
        whole = self._back + text
        at = placeholders.unfinished(whole)
        self._back = whole[at:]
        return placeholders.restored(whole[:at], self._values.get)

    def end(self) -> str:
        """What was held back: no more comes."""
        rest, self._back = self._back, ""
        return placeholders.restored(rest, self._values.get)


def escaped(values: Mapping[str, str]) -> Mapping[str, str]:
    """The values as they stand inside a JSON string."""
    return {one: json.dumps(value, ensure_ascii=False)[1:-1] for one, value in values.items()}

"""A key that does something grave only at its second press."""

from __future__ import annotations


class SecondPress:
    """`within` is in seconds."""

    def __init__(self, within: float) -> None:
        self._within = within
        self._first: float | None = None

    def again(self, now: float) -> bool:
        """True when the press before was no longer than `within` ago."""
        first, self._first = self._first, now
        return first is not None and now - first <= self._within

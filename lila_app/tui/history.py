"""What the person sent before, for the arrow keys; kept in memory only.

There is no history file: the store already holds these words, and a second copy would survive a
forgetting.
"""

from __future__ import annotations

_KEPT = 200


class PromptHistory:
    """Earlier messages, oldest first, and where the person is in them."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._at: int | None = None
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember a message and leave the history."""
        self._at = None
        if not text.strip() or (self._entries and self._entries[-1] == text):
            return
        self._entries.append(text)
        del self._entries[:-_KEPT]

    def replace(self, entries: list[str]) -> None:
        """Another conversation is open now."""
        self._entries.clear()
        for entry in entries[-_KEPT:]:
            self.add(entry)
        self._at = None

    def older(self, current: str) -> str | None:
        """The message before the one shown; `current` is kept to come back to."""
        at = len(self._entries) if self._at is None else self._at
        if at == 0:
            return None
        if self._at is None:
            self._draft = current
        self._at = at - 1
        return self._entries[self._at]

    def newer(self) -> str | None:
        """The message after the one shown, at the end what was being typed."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self._entries):
            return self._entries[self._at]
        self._at = None
        return self._draft

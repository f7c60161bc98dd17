"""Noticing that a small model goes in circles: it says the same sentence again and again."""

from __future__ import annotations

import re
from collections import Counter

SHORTEST = 12
"""Characters of a sentence that counts: "yes", "- none" may come as often as they like."""

TIMES = 3
"""Said so often, it will be said until the limit."""

_END = re.compile(r"\n+|(?<=[.!?…])\s+")
_MARK = re.compile(r"^\W*(?:\d+\W+)?")


class Circles:
    """Reads a reply piece by piece."""

    def __init__(self) -> None:
        self._open = ""
        self._said = Counter[str]()

    def closed_by(self, text: str) -> bool:
        """Whether a sentence that ends in this piece was said `TIMES` times by now."""
        *whole, self._open = _END.split(self._open + text)
        for sentence in whole:
            # The number before a line changes while the line does not.
            words = " ".join(_MARK.sub("", sentence).lower().split())
            if len(words) >= SHORTEST:
                self._said[words] += 1
                if self._said[words] == TIMES:
                    return True
        return False

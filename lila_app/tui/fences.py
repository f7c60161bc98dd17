"""Whether a growing Markdown text is inside a code fence at this moment."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})(.*)", re.DOTALL)

_KEPT = 400
"""Characters of an unfinished line worth keeping: a longer one is no fence."""


class FenceTracker:
    """Follows a text piece by piece; where it was cut into pieces does not matter.

    Lenient where Markdown is strict (indentation, nesting in lists): a wrong guess only changes
    how often the screen is painted.
    """

    def __init__(self) -> None:
        self._line = ""
        self._mark = ""

    @property
    def open(self) -> bool:
        """True between the line that opens a fence and the line that closes it."""
        return bool(self._mark)

    def feed(self, piece: str) -> None:
        """Go on by `piece`."""
        *whole, rest = piece.split("\n")
        for line in whole:
            self._close_line(self._line + line)
            self._line = ""
        self._line = (self._line + rest)[:_KEPT]

    def _close_line(self, line: str) -> None:
        found = _FENCE.match(line)
        if found is None:
            return
        mark, after = found[1], found[2]
        if not self._mark:
            if mark[0] == "~" or "`" not in after:
                self._mark = mark
        elif mark.startswith(self._mark) and not after.strip():
            self._mark = ""

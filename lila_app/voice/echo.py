"""LILA's own words, come back through the microphone."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def is_echo(text: str, said: str, share: int) -> bool:
    """Whether at least `share` (per mille) of a text's words are among those that were said.

    A word counts as often as it was said. Whoever repeats the one word LILA is saying is taken for
    its echo; the caller lets pass what may be said over it ("stop"), and what was heard while
    nothing sounded, which is no echo.
    """
    words = Counter(_words(text))
    if not words:
        return False
    common = words & Counter(_words(said))
    return common.total() * 1_000 >= share * words.total()


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]

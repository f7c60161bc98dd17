"""What a layer is asked: the turn alone, or the turn with what it leans on. Pure, and recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lila_app.context.policy import QueryPolicy

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\W_{_UNSPACED}]+(?:['’][^\W_]+)?")
"""Scripts written without spaces have words of about two characters."""
_MOST_CHARACTERS = 2_000


def leans(turn: str, rule: QueryPolicy) -> bool:
    """Whether a turn has no topic of its own under the declared rule."""
    words = [word.lower().split("'")[0].split("’")[0] for word in _WORD.findall(turn)]
    if len(words) <= rule.short_words:
        return True
    return len(words) <= rule.leaning_words and any(word in rule.leaning for word in words)


def layer_query(turn: str, previous: str, goals: Sequence[str], rule: QueryPolicy) -> str:
    """The text every layer is asked with.

    `previous` is what the person said one turn earlier (empty at the start), `goals` the pinned
    ones in order. A long turn is searched by its beginning: past 2,000 characters a search only
    gets slower, never better.
    """
    parts = [turn]
    if leans(turn, rule):
        parts += [previous, *goals]
    return "\n".join(part.strip()[:_MOST_CHARACTERS] for part in parts if part.strip())

"""What a layer is asked: the turn alone, or the turn with what it leans on. Pure, and recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lila_app.context.policy import QueryPolicy

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\W_{_UNSPACED}]+(?:['’][^\W_]+)?")
"""Scripts written without spaces have words of about two characters."""
_UNSPACED_WORD = re.compile(f"[{_UNSPACED}]")
_MOST_CHARACTERS = 2_000


def leans(turn: str, rule: QueryPolicy) -> bool:
    """Whether a turn has no topic of its own under the declared rule."""
    spoken = _WORD.findall(turn)
    words = [word.lower().split("'")[0].split("’")[0] for word in spoken]
    if len(words) <= rule.short_words and _UNSPACED_WORD.search(turn):
        return True
    listed = {*rule.leaning, *rule.faint, *rule.opening, *rule.empty}
    own = sum(word not in listed for word in words)
    if not own:
        return True
    if len(words) > rule.leaning_words:
        return False
    if any(word in rule.leaning for word in words) and not _names(spoken):
        return True
    hinted = any(word in rule.faint or word in rule.leaning for word in words)
    if hinted or _opens(words, rule.opening):
        return own < rule.topic_words
    return own < 2 and len(words) <= rule.short_words


def _names(words: Sequence[str]) -> bool:
    """Whether a word that does not open the turn is written like a name."""
    return any(word[0].isupper() and not word.isupper() for word in words[1:])


def _opens(words: Sequence[str], openings: Sequence[str]) -> bool:
    return words[0] in openings or " ".join(words[:2]) in openings


def layer_query(turn: str, previous: str, goals: Sequence[str], rule: QueryPolicy) -> str:
    """The text every layer is asked with.

    `previous` is what the person said before (empty at the start; see `topic`), `goals` the pinned
    ones in order. A long turn is searched by its beginning: past 2,000 characters a search only
    gets slower, never better.
    """
    parts = [turn]
    if leans(turn, rule):
        parts += [previous, *goals]
    return "\n".join(part.strip()[:_MOST_CHARACTERS] for part in parts if part.strip())


def topic(earlier: Sequence[str], rule: QueryPolicy) -> str:
    """What a leaning turn leans on: of earlier turns, the last first, up to one with a topic."""
    taken: list[str] = []
    for said in earlier[: rule.back]:
        taken.append(said)
        if not leans(said, rule):
            break
    return "\n".join(said.strip()[:_MOST_CHARACTERS] for said in taken if said.strip())

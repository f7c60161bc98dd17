"""Rewriting a text by patterns while each character keeps its place in what was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lila_app.voice.model import Spoken

Part = str | tuple[int, int]
"""Words put in, or a span of the text that stays as it is."""

Write = Callable[[re.Match[str]], Sequence[Part] | str | None]
"""What takes the place of a match: words, or parts in the text's order; None leaves it be."""


def as_written(text: str) -> Spoken:
    """A text before anything was rewritten."""
    return Spoken(text, tuple(range(len(text))))


def rewrite(spoken: Spoken, pattern: re.Pattern[str], write: Write) -> Spoken:
    """Put something else in the place of each match.

    Words put in take the place of the character they stand before: that of the match, or the one
    after the last span that was kept. Where they end the match, their last character has the place
    of its last: whoever heard it, heard all that was written there.
    """
    text: list[str] = []
    origin: list[int] = []
    done = 0
    for found in pattern.finditer(spoken.text):
        parts = write(found)
        if parts is None or found.start() == found.end():
            continue
        text.append(spoken.text[done : found.start()])
        origin.extend(spoken.origin[done : found.start()])
        _put(spoken, found, [parts] if isinstance(parts, str) else parts, text, origin)
        done = found.end()
    if not done:
        return spoken
    text.append(spoken.text[done:])
    origin.extend(spoken.origin[done:])
    return Spoken("".join(text), tuple(origin))


def _put(
    spoken: Spoken,
    found: re.Match[str],
    parts: Sequence[Part],
    text: list[str],
    origin: list[int],
) -> None:
    at = found.start()
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            origin.extend([spoken.origin[min(at, found.end() - 1)]] * len(part))
        else:
            first, at = part
            text.append(spoken.text[first:at])
            origin.extend(spoken.origin[first:at])
    if parts and isinstance(parts[-1], str) and parts[-1]:
        origin[-1] = spoken.origin[found.end() - 1]


def removed(_found: re.Match[str]) -> str:
    """Write nothing in a match's place."""
    return ""


def saying(words: str) -> Write:
    """Write the same words in each match's place."""
    return lambda _found: words


def keeping(*groups: int) -> Write:
    """Keep only these groups of each match."""
    return lambda found: [found.span(group) for group in groups if found[group] is not None]

"""The extractive fold: what a cut takes out of the window, kept as the sentences that carry most.

No model is asked. Sentences are scored by what a later turn is likely to need (names, numbers,
promises), the best are kept within a ceiling, and they stay in the order they were said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.context.items import Counter

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)\b[^\W\d_a-z][^\W\d_]+")
_PROMISE = re.compile(
    r"\b(?:will|shall|must|should|need|want|plan|decided?|agreed?|promised?|remember|remind"
    r"|prefer|always|never|because|deadline|due)\b",
    re.IGNORECASE,
)
_SAID, _ANSWERED = "- They said: ", "- LILA: "
_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn about to leave the window."""

    user: str
    reply: str


def fold(previous: str, exchanges: Sequence[Exchange], ceiling: int, count: Counter) -> str:
    """A summary of at most `ceiling` tokens of the summary so far and the exchanges that follow it.

    Incremental: lines of `previous` compete with the new ones under the same score. Empty when
    nothing fits.
    """
    lines: list[str] = []
    for line in previous.split("\n"):
        lines += [line] if len(line) <= len(_SAID) + _LONGEST else _sentences(line)
    for exchange in exchanges:
        lines += [_SAID + s for s in _sentences(exchange.user)]
        lines += [_ANSWERED + s for s in _sentences(exchange.reply)[:2]]
    unique = list(dict.fromkeys(line for line in lines if line.strip()))
    # Later lines win ties: what was said last before the cut is what the next turn leans on.
    ranked = sorted(range(len(unique)), key=lambda i: (-_weight(unique[i]), -i))
    return _fitting(unique, ranked, ceiling, count, "\n")


def condense(text: str, ceiling: int, count: Counter) -> str:
    """The sentences of a text that carry most, in order, in at most `ceiling` tokens.

    It looks at the text alone, never at a query, so a shortened item keeps its bytes. Empty when
    no sentence fits.
    """
    sentences = _sentences(text)
    ranked = sorted(range(len(sentences)), key=lambda i: (-_weight(sentences[i]), i))
    return _fitting(sentences, ranked, ceiling, count, " ")


def _fitting(
    lines: Sequence[str], ranked: Sequence[int], ceiling: int, count: Counter, joint: str
) -> str:
    """The lines that fit, taken in the order `ranked`, joined in their own order."""
    kept: list[int] = []
    left = ceiling
    for index in ranked:
        size = count(lines[index] + "\n")
        if size <= left:
            kept.append(index)
            left -= size
    # Tokens are not additive, so the whole is counted again; the weakest line goes first.
    while kept and ceiling > 0:
        text = joint.join(lines[i] for i in sorted(kept))
        if count(text + "\n") <= ceiling:
            return text
        kept.pop()
    return ""


def _sentences(text: str) -> list[str]:
    found = (" ".join(part.split()) for part in _SENTENCE.split(text))
    return [s if len(s) <= _LONGEST else s[: _LONGEST - 1] + "…" for s in found if len(s) > 2]


def _weight(line: str) -> int:
    body = line.removeprefix(_SAID).removeprefix(_ANSWERED)
    weight = 3 * min(len(_NAME.findall(body)), 3) + 2 * min(len(_NUMBER.findall(body)), 3)
    weight += 3 * min(len(_PROMISE.findall(body)), 2)
    # What the person said is evidence; what LILA said is often a restatement of it.
    weight += 2 if line.startswith(_SAID) else 0
    return weight - (4 if body.endswith("?") else 0)

"""The extractive fold: what a cut takes out of the window, kept as the sentences that carry most.

No model is asked. Sentences are scored by what a later turn is likely to need (names, numbers,
promises), the best are kept within a ceiling, and they stay in the order they were said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.context.items import Counter

_UNSPACED_END = re.compile("(?<=[。！？])")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)\b[^\W\d_a-z][^\W\d_]+")
_WORD = re.compile(r"\w+")
_PROMISES = frozenset(
    (
        *("will", "shall", "must", "should", "need", "want", "plan", "decide", "decided", "agree"),
        *("agreed", "promise", "promised", "remember", "remind", "prefer", "always", "never"),
        *("because", "deadline", "due"),
    )
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
    sizes = [count(line + "\n") for line in unique]
    return _fitting(unique, sizes, ranked, ceiling, lambda kept: count(kept + "\n"), "\n")


def condense(text: str, ceiling: int, count: Counter) -> str:
    """The sentences of a text that carry most, in order, in at most `ceiling` tokens.

    It looks at the text alone, never at a query, so a shortened item keeps its bytes. Empty when
    no sentence fits.
    """
    return Sentences.of(text, count(text)).within(ceiling, lambda kept: count(kept + "\n"))


@dataclass(frozen=True, slots=True)
class Sentences:
    """A text cut into sentences and weighed, once for however many ceilings.

    `ranked` are the places of the lines, those that carry most first; `sizes` are estimates.
    """

    lines: tuple[str, ...]
    sizes: tuple[int, ...]
    ranked: tuple[int, ...]

    @classmethod
    def of(cls, text: str, tokens: int) -> Sentences:
        """The sentences of a text of so many tokens.

        A sentence is taken to have its share of them by its bytes: to count each would take as
        long as everything else that is done for an item, and what is kept is counted in any case.
        """
        lines = _sentences(text)
        weights = [_weight(line) for line in lines]
        lengths = [len(line.encode("utf-8", "surrogatepass")) for line in lines]
        total = max(1, len(text.encode("utf-8", "surrogatepass")))
        return cls(
            tuple(lines),
            tuple(-(-tokens * length // total) for length in lengths),
            tuple(sorted(range(len(lines)), key=lambda i: (-weights[i], i))),
        )

    def within(self, ceiling: int, measure: Counter) -> str:
        """What `condense` keeps: `measure` counts it as it will stand, beside whatever it needs."""
        return _fitting(self.lines, self.sizes, self.ranked, ceiling, measure, " ")


def _fitting(
    lines: Sequence[str],
    sizes: Sequence[int],
    ranked: Sequence[int],
    ceiling: int,
    measure: Counter,
    joint: str,
) -> str:
    """The lines that fit, taken in the order `ranked`, joined in their own order."""
    kept: list[int] = []
    left = ceiling
    for index in ranked:
        if sizes[index] <= left:
            kept.append(index)
            left -= sizes[index]
    # Tokens are not additive, so the whole is counted again; the weakest line goes first.
    while kept and ceiling > 0:
        text = joint.join(lines[i] for i in sorted(kept))
        if measure(text) <= ceiling:
            return text
        kept.pop()
    return ""


def _sentences(text: str) -> list[str]:
    """Sentences end at a line end, or at a mark that white space follows (or in CJK, anything)."""
    found: list[str] = []
    for line in text.split("\n"):
        # Word by word: three times as fast as one regular expression with a lookbehind.
        start, words = 0, line.split()
        for place, word in enumerate(words, 1):
            if word[-1] in ".!?":
                found.append(" ".join(words[start:place]))
                start = place
        found.append(" ".join(words[start:]))
    if not text.isascii():
        found = [part.strip() for s in found for part in _UNSPACED_END.split(s)]
    return [s if len(s) <= _LONGEST else s[: _LONGEST - 1] + "…" for s in found if len(s) > 2]


def _weight(line: str) -> int:
    said = line.startswith(_SAID)
    body = line[len(_SAID) :] if said else line.removeprefix(_ANSWERED)
    weight = 3 * min(_names(body), 3) + 2 * min(len(_NUMBER.findall(body)), 3)
    weight += 3 * min(len(_PROMISES.intersection(_WORD.findall(body.lower()))), 2)
    # What the person said is evidence; what LILA said is often a restatement of it.
    weight += 2 if said else 0
    return weight - (4 if body.endswith("?") else 0)


def _names(body: str) -> int:
    # Most sentences have no capital after the first letter, and looking for one is the cheap part.
    if body.isascii() and body[1:].lower() == body[1:]:
        return 0
    return len(_NAME.findall(body))

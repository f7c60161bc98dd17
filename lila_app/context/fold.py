"""The extractive fold: what a cut takes out of the window, kept as the sentences that carry most.

No model is asked. Sentences are chosen by what a later turn is likely to need (names, numbers, open
promises, words that carry something), within a ceiling, and stay in the order they were said. The
same weighing makes the shorter forms of an item, from whole sentences and without a query.

Measured (2026-11-30) on what tests/context holds: of 77 sentences that answer in 40 passages, 92 %
are kept in half of the tokens and 44 % in a quarter, where seldom more than one has room (cut off
at the end: 17 and 0 %; counting names, numbers and promises alone: 69 and 31 %); of the names,
numbers and promises of three conversations 79 to 93 % in half of the tokens, 93 to 100 % in the
summary's 300 (before lines were weighed beside each other: 64 to 80 and 80 to 93 %).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lila_app.context.anchors import Bearing, bearing, sentences
from lila_app.context.items import Counter

_SAID, _ANSWERED = "- They said: ", "- LILA: "
_LONGEST = 240
"""Characters of a line of a summary; a sentence that is longer is cut there. Items keep theirs."""
_HALF = re.compile(r"\[[A-Z]+[0-9]*[A-Z]*\Z", re.ASCII)
"""Half of what may stand in for a private value, at the end of a text that was cut."""

SHORT = 5
"""Tokens added to the size of a line when its worth is set against it; chosen with the measure
above; between 0 and 10 it makes no difference beyond one anchor."""

_REPLIES = 4
"""Sentences of a reply that are looked at: what LILA settles or takes on stands early in it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn about to leave the window."""

    user: str
    reply: str


def fold(previous: str, exchanges: Sequence[Exchange], ceiling: int, count: Counter) -> str:
    """A summary of at most `ceiling` tokens of the summary so far and the exchanges that follow it.

    Incremental: lines of `previous` compete with the new ones under the same weighing. What one
    line holds already weighs nothing in the next. Empty when nothing fits.
    """
    lines: list[str] = []
    for line in previous.split("\n"):
        lines += [line] if len(line) <= len(_SAID) + _LONGEST else _spoken(line)
    for exchange in exchanges:
        lines += [_SAID + s for s in _spoken(exchange.user)]
        lines += [_ANSWERED + s for s in _spoken(exchange.reply)[:_REPLIES]]
    unique = list(dict.fromkeys(line for line in lines if line.strip()))
    sizes = [count(line + "\n") for line in unique]
    ranked = _covering([_borne(line) for line in unique], sizes, ceiling)
    return _fitting(unique, sizes, ranked, ceiling, lambda kept: count(kept + "\n"), "\n")


def _covering(bearings: Sequence[_Borne], sizes: Sequence[int], ceiling: int) -> list[int]:
    """Places of lines in the order they are taken: what adds most for its tokens first.

    Later lines win ties: what was said last before the cut is what the next turn leans on. What a
    line adds only shrinks as others are taken, so its place in the queue is looked at again only
    when it comes first.
    """
    taken: list[int] = []
    covered: set[object] = set()
    left = ceiling
    queue = [
        (-_worth(one, covered, size), -place)
        for place, (one, size) in enumerate(zip(bearings, sizes, strict=True))
    ]
    heapq.heapify(queue)
    while queue:
        _, place = heapq.heappop(queue)
        if sizes[-place] > left:
            continue
        now = -_worth(bearings[-place], covered, sizes[-place])
        if queue and (now, place) > queue[0]:
            heapq.heappush(queue, (now, place))
            continue
        taken.append(-place)
        left -= sizes[-place]
        covered |= bearings[-place].bearing.things
    return taken


@dataclass(frozen=True, slots=True)
class _Borne:
    """A line of a summary with what it bears; `said` is what the person said, not LILA."""

    bearing: Bearing
    said: bool


def _borne(line: str) -> _Borne:
    said = line.startswith(_SAID)
    return _Borne(bearing(line[len(_SAID) :] if said else line.removeprefix(_ANSWERED)), said)


def _worth(one: _Borne, covered: set[object], size: int) -> int:
    # What the person said is evidence; what LILA said is often a restatement of it.
    weight = one.bearing.weight(covered) + (2 if one.said else 0)
    # For its tokens; the constant keeps scraps of three words from winning by being short.
    return 1_000 * weight // (size + SHORT)


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
        lines = [line for line in sentences(text) if len(line) > 2]
        weights = [bearing(line).weight() for line in lines]
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
    """The lines that fit, taken in the order `ranked`, joined in their own order.

    Sizes are estimates and tokens are not additive, so the whole is counted again. Where it is too
    much the line taken last goes for good, and one behind it may take its place.
    """
    if ceiling <= 0:
        return ""
    waiting = list(ranked)
    kept: list[int] = []
    left = ceiling
    while True:
        passed: list[int] = []
        for index in waiting:
            if sizes[index] <= left:
                kept.append(index)
                left -= sizes[index]
            else:
                passed.append(index)
        if not kept:
            return ""
        text = joint.join(lines[i] for i in sorted(kept))
        if (over := measure(text) - ceiling) <= 0:
            return text
        gone = kept.pop()
        left += max(0, sizes[gone] - over)
        waiting = [index for index in passed if sizes[index] < sizes[gone]]


def _spoken(text: str) -> list[str]:
    """Sentences as lines of a summary."""
    found = [s for s in sentences(text) if len(s) > 2]
    return [s if len(s) <= _LONGEST else _HALF.sub("", s[: _LONGEST - 1]) + "…" for s in found]

"""What was found in a text, and which of two finds that overlap stays."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast, get_args

Sure = Literal["mail", "phone", "card", "iban", "account", "id", "key"]
"""What a pattern, a checksum or a word before it tells surely."""

Kind = Literal[
    Sure,
    "person",
    "title",
    "age",
    "place",
    "address",
    "postcode",
    "organisation",
    "date",
    "group",
    "ip",
    "domain",
    "username",
    "denied",
    "lookalike",
]
"""`denied` is what the person's own list names, `lookalike` a text in the form of a placeholder."""

Group = Literal["person", "location", "organisation", "date", "group", "internet"]

SURE: tuple[Sure, ...] = get_args(Sure)

GROUPS: dict[Group, tuple[Kind, ...]] = {
    "person": ("person", "title", "age"),
    "location": ("place", "address", "postcode"),
    "organisation": ("organisation",),
    "date": ("date",),
    "group": ("group",),
    "internet": ("ip", "domain", "username"),
}
"""What a person chooses by one word."""

KINDS = cast("tuple[Kind, ...]", (*SURE, *(kind for kinds in GROUPS.values() for kind in kinds)))
"""Every kind rules can name."""

NAMES: dict[str, Kind] = {
    kind: kind for kind in (*KINDS, cast(Kind, "denied"), cast(Kind, "lookalike"))
}
"""Every kind by the name the vault keeps."""

ALWAYS: frozenset[Kind] = frozenset({"denied", "lookalike"})
"""What is replaced wherever anything is."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a text are of a kind."""

    start: int
    end: int
    kind: Kind


def resolved(*ranks: Iterable[Span]) -> tuple[Span, ...]:
    """The spans that stay, in order: the longest first, of equals the leftmost.

    Of several ranks an earlier one's stay whatever a later one has.

    What is left of a shorter one beside a longer one stays with its own kind, so that nothing that
    was found is shown because something else was found over a part of it. Of two over the same
    characters the first given stays, but for what is always replaced.
    """
    starts: list[int] = []
    kept: dict[int, Span] = {}
    for span in (span for spans in ranks for span in sorted(spans, key=_precedence)):
        for piece in _beside(span, starts, kept):
            insort(starts, piece.start)
            kept[piece.start] = piece
    return tuple(kept[start] for start in starts)


def _precedence(span: Span) -> tuple[bool, int, int, bool]:
    """Something in the form of a placeholder is atomic: nothing longer takes it in."""
    late = span.kind not in ALWAYS
    return span.kind != "lookalike", span.start - span.end, span.start, late


def _beside(span: Span, starts: list[int], kept: dict[int, Span]) -> list[Span]:
    """What kept spans, which do not overlap, leave of one."""
    pieces: list[Span] = []
    start = span.start
    place = bisect_right(starts, start) - 1
    if place >= 0:
        start = max(start, kept[starts[place]].end)
    for other in starts[place + 1 : bisect_left(starts, span.end)]:
        if start < other:
            pieces.append(Span(start, other, span.kind))
        start = max(start, kept[other].end)
    if start < span.end:
        pieces.append(Span(start, span.end, span.kind))
    return pieces

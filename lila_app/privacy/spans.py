"""What was found in a text, and which of two finds that overlap stays."""

from __future__ import annotations

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

ALWAYS: frozenset[Kind] = frozenset({"denied", "lookalike"})
"""What is replaced wherever anything is."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a text are of a kind."""

    start: int
    end: int
    kind: Kind


def resolved(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans that stay, in order: the longest first, of equals the leftmost.

    What is left of a shorter one beside a longer one stays with its own kind, so that nothing that
    was found is shown because something else was found over a part of it.
    """
    kept: list[Span] = []
    order = {kind: place for place, kind in enumerate((*ALWAYS_FIRST, *KINDS))}
    waiting = sorted(spans, key=lambda one: (one.start - one.end, one.start, order[one.kind]))
    for span in waiting:
        kept += [piece for piece in _beside(span, kept) if piece.end > piece.start]
    return tuple(sorted(kept, key=lambda one: one.start))


ALWAYS_FIRST: tuple[Kind, ...] = ("lookalike", "denied")


def _beside(span: Span, kept: list[Span]) -> list[Span]:
    """What kept spans leave of one."""
    pieces = [span]
    for other in kept:
        left: list[Span] = []
        for piece in pieces:
            if other.end <= piece.start or piece.end <= other.start:
                left.append(piece)
                continue
            left.append(Span(piece.start, min(piece.end, other.start), piece.kind))
            left.append(Span(max(piece.start, other.end), piece.end, piece.kind))
        pieces = [piece for piece in left if piece.end > piece.start]
    return pieces

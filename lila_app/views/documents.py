"""What front-ends show of documents and of the sources a reply names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Citations:
    """The ids a reply names as sources: given to it, named earlier, or in no way before it."""

    given: tuple[str, ...]
    earlier: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A document with its passages in order.

    `modified` is when the file was last written, by its own time when it was read; `state` is
    "current", "changed" (the file is no longer what was read) or "gone". Times are ISO 8601.
    """

    id: str
    path: str
    title: str
    kind: str
    ingested_at: str
    modified: str
    state: str
    problem: str
    passages: tuple[tuple[str, str, str], ...]
    """(id, place, text) of each."""

"""What front-ends show of documents and of the sources a reply names."""

from __future__ import annotations

from dataclasses import dataclass

from lila_app.views import DocumentInfo, Passage


@dataclass(frozen=True, slots=True)
class Citations:
    """The ids a reply names as sources: given to it, named earlier, or in no way before it."""

    given: tuple[str, ...]
    earlier: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A document with its passages in order; of passages, `score` means nothing here."""

    info: DocumentInfo
    passages: tuple[Passage, ...]

"""What passes between the parts of this room: plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document's text with one place to point at.

    `markdown` says that headings, fences and tables in it mean something; `heading` is the path
    of headings it stands under; `first_line` (from 1) and `page` (from 1) are None where the
    source has no such thing.
    """

    text: str
    markdown: bool = False
    heading: tuple[str, ...] = ()
    first_line: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document read whole, or as far as LILA reads it; `notice` says what was left out.

    `kind` is "markdown", "text", "pdf", "html" or "docx".
    """

    kind: str
    title: str
    parts: tuple[Part, ...]
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document small enough to be an item of its own.

    `heading` is the path of headings it stands under ("Trip › Lisbon"), `text` is taken from the
    source unchanged, `tokens` is the count of `text`.
    """

    heading: str
    text: str
    tokens: int
    first_line: int | None = None
    page: int | None = None

"""A file of any kind LILA reads, as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lila_app.documents import text as plain
from lila_app.documents.markdown import LONGEST_HEADING, BlockKind, blocks
from lila_app.documents.markup import read_docx, read_html
from lila_app.documents.model import Loaded, Part
from lila_app.documents.pdf import read_pdf
from lila_app.errors import DocumentError

LARGEST = 1024 * 1024 * 1024
"""Bytes of a file that is opened at all (its SHA-256 is taken block by block)."""

LOG_LIMIT = 1024 * 1024
"""Bytes taken of a ".log": a log that happens to lie in a folder must not cost minutes."""

_MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd"})
_HTML = frozenset({".html", ".htm", ".xhtml"})
_UNREAD = frozenset(
    {
        ".doc", ".dot", ".odt", ".rtf", ".pages", ".epub", ".mobi", ".ppt", ".pptx", ".odp",
        ".key", ".xls", ".xlsx", ".ods", ".numbers", ".msg", ".ps", ".djvu",
    }
)  # fmt: skip


def sha256(path: Path, *, stop: Callable[[], None]) -> str:
    """The SHA-256 of a file in hex, read block by block; `stop` may raise between blocks."""
    digest = hashlib.sha256()
    for block in plain.blocks(path):
        stop()
        digest.update(block)
    return digest.hexdigest()


def load(path: Path, *, stop: Callable[[], None]) -> Loaded:
    """Read a document as text, in bounded memory.

    The name's ending says how; without a known one it is read as plain text if it is text.
    Limits: 4 MiB of text, 1 MiB of a log (of a longer file its beginning and its end, of a longer
    PDF its beginning; `notice` says so), 8 MiB for HTML, 64 MiB for DOCX. `stop` may raise at any
    page.
    Raises `DocumentError`, whose message is the reason without the path, and `OSError`.
    """
    loaded = _read(path, stop)
    if not any(part.text.strip() for part in loaded.parts):
        raise DocumentError("there is no text in it")
    title = loaded.title or _first_heading(loaded.parts[0]) or path.name
    return replace(loaded, title=" ".join(plain.tidy(title).split())[:LONGEST_HEADING])


def _read(path: Path, stop: Callable[[], None]) -> Loaded:
    suffix = path.suffix.lower()
    if suffix in _UNREAD:
        raise DocumentError(
            f"{suffix} files are not read; save it as PDF, DOCX, HTML, Markdown or text"
        )
    with path.open("rb") as file:
        start = file.read(1024)
    if not start:
        raise DocumentError("there is nothing in it")
    if suffix == ".pdf" or start.startswith(b"%PDF-"):
        return read_pdf(path, stop=stop)
    if suffix == ".docx":
        return read_docx(path)
    if suffix in _HTML:
        return read_html(path)
    markdown = suffix in _MARKDOWN
    limit = LOG_LIMIT if suffix == ".log" else plain.LIMIT
    parts, notice = plain.read_text(path, markdown=markdown, limit=limit)
    return Loaded("markdown" if markdown else "text", "", parts, notice)


def _first_heading(part: Part) -> str:
    """The title of the first heading, if it comes before 4,000 characters are over."""
    for block in blocks(part.text[:4000]) if part.markdown else ():
        if block.kind is BlockKind.HEADING:
            return block.title
    return ""

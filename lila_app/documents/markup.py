"""HTML and DOCX, by way of Markdown (markitdown)."""

from __future__ import annotations

import codecs
import re
import zipfile
from io import BytesIO
from pathlib import Path

from lila_app.documents.model import Loaded, Part
from lila_app.documents.text import decode, short, tidy
from lila_app.errors import DocumentError

HTML_LIMIT = 8 * 1024 * 1024
"""Bytes of an HTML file; parsing takes some twenty times that in memory."""

DOCX_LIMIT = 64 * 1024 * 1024
"""Bytes of a DOCX file, and of what any one part of it unpacks to."""

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I)
_EMBEDDED = re.compile(r"!\[([^\]]*)\]\(data:[^)]*\)")


def read_html(path: Path) -> Loaded:
    """Read an HTML file as Markdown; scripts and styles are gone. Raises `DocumentError`."""
    if path.stat().st_size > HTML_LIMIT:
        raise DocumentError(f"an HTML file of more than {HTML_LIMIT >> 20} MiB; save it as text")
    content = path.read_bytes()
    if b"\0" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DocumentError("a binary file, not a document")
    text, title = _from_html(_decoded(content))
    return Loaded("html", title, (Part(text, markdown=True),))


def read_docx(path: Path) -> Loaded:
    """Read a DOCX file as Markdown, without its pictures. Raises `DocumentError`."""
    if path.stat().st_size > DOCX_LIMIT:
        raise DocumentError(f"a DOCX file of more than {DOCX_LIMIT >> 20} MiB")
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            if any(part.file_size > DOCX_LIMIT for part in archive.infolist()):
                raise DocumentError(f"a part of it unpacks to more than {DOCX_LIMIT >> 20} MiB")
            archive.getinfo("word/document.xml")
    except (zipfile.BadZipFile, KeyError) as problem:
        raise DocumentError("not a DOCX file, or locked with a password") from problem
    return Loaded("docx", "", (Part(_from_docx(content), markdown=True),))


def _from_docx(content: bytes) -> str:
    from markitdown import StreamInfo
    from markitdown.converters import DocxConverter

    try:
        result = DocxConverter().convert(
            BytesIO(content),
            StreamInfo(extension=".docx"),
            strict=True,
            escape_asterisks=False,
            escape_underscores=False,
        )
    except Exception as problem:
        # Whatever a broken file makes the parsers raise, it is this document that is at fault.
        raise DocumentError(f"a DOCX file that cannot be read ({short(problem)})") from problem
    return _tidy(result.markdown)


def _from_html(html: str) -> tuple[str, str]:
    """Text and title."""
    from bs4 import BeautifulSoup
    from markitdown import StreamInfo
    from markitdown.converters import HtmlConverter

    try:
        result = HtmlConverter().convert(
            BytesIO(html.encode()),
            StreamInfo(charset="utf-8"),
            strict=True,
            escape_asterisks=False,
            escape_underscores=False,
        )
        return _tidy(result.markdown), " ".join(tidy(result.title or "").split())
    except RecursionError:
        # Nested deeper than the converter can follow: the words without their structure.
        soup = BeautifulSoup(html, "html.parser")
        for ignored in soup(["script", "style"]):
            ignored.extract()
        return _tidy(soup.get_text("\n", strip=True)), ""
    except Exception as problem:
        raise DocumentError(f"an HTML file that cannot be read ({short(problem)})") from problem


def _decoded(content: bytes) -> str:
    """By its byte-order mark, else as UTF-8, else as it declares itself, else Windows-1252."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if content.startswith(mark):
            return decode(content, encoding).removeprefix("\ufeff")
    try:
        return tidy(content.decode("utf-8"))
    except UnicodeDecodeError:
        declared = _CHARSET.search(content[:4096])
    try:
        return decode(content, declared[1].decode("ascii") if declared else "cp1252")
    except LookupError:
        return decode(content, "cp1252")


def _tidy(markdown: str) -> str:
    return _EMBEDDED.sub(r"\1", tidy(markdown)).strip()

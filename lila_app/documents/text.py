"""Plain text of any size and encoding, read in a bounded way."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from lila_app.documents.model import Part
from lila_app.errors import DocumentError

LIMIT = 4 * 1024 * 1024
"""Bytes of one text that are read: about a million tokens, some 5,000 chunks, which take minutes
to embed. Of a longer file the first and the last half of this are taken (a log's news is at its
end, a text's subject at its beginning)."""

_BLOCK = 1024 * 1024
_SNIFF = 8192
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROLS = {c: None for c in range(0xA0) if (c < 0x20 and c not in (9, 10)) or c >= 0x7F}


def blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of a megabyte, so that its size never matters."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def read_text(path: Path, *, markdown: bool, limit: int = LIMIT) -> tuple[tuple[Part, ...], str]:
    """Read a text file: its parts, and a notice when not all of it was read.

    At most `limit` bytes (and one block) are held. UTF-8, UTF-16 and UTF-32 are told by their
    mark or their shape; what is none of these is read as Windows-1252, the superset of Latin-1
    that people have. Raises `DocumentError` for what is not text, `OSError` when it cannot be
    read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(limit if size <= limit else limit // 2)
    encoding, mark = _encoding(head)
    if size <= limit:
        return (Part(decode(head[mark:], encoding), markdown, first_line=1),), ""
    wide = encoding not in ("utf-8", "cp1252")
    first = decode(head[mark : _cut(head, wide)], encoding)
    parts = [Part(first, markdown, first_line=1)]
    if not wide:
        parts.append(_tail(path, limit // 2, encoding, markdown))
    kept = f"the first {_size(limit // 2)}" + ("" if wide else f" and the last {_size(limit // 2)}")
    return tuple(parts), f"too long to take whole: of {_size(size)}, {kept} were taken"


def decode(content: bytes, encoding: str) -> str:
    """Decode and tidy: line ends are one newline, control characters and colour codes are gone."""
    if encoding == "cp1252":
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    else:
        text = content.decode(encoding, "replace")
    return tidy(text)


def tidy(text: str) -> str:
    """Line ends become one newline; control characters and terminal colour codes go."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
    text = _ESCAPES.sub("", text).translate(_CONTROLS)
    # Lone surrogates cannot be stored; no file holds them in UTF-8, but a parser may make them.
    return text.encode("utf-8", "replace").decode("utf-8")


def short(problem: Exception) -> str:
    """What a parser said, on one line."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())[:200]


def _encoding(content: bytes) -> tuple[str, int]:
    """The encoding, and how many bytes its mark takes."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name, len(mark)
    sample = content[:_SNIFF]
    if b"\0" in sample:
        return _unmarked_wide(sample), 0
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\b\x1b" for byte in sample)
    if controls > 8 + len(sample) // 50:
        raise DocumentError("a binary file, not a document")
    return ("utf-8" if _is_utf8(content) else "cp1252"), 0


def _unmarked_wide(sample: bytes) -> str:
    """UTF-16 without a mark shows as a zero in every other byte of mostly Latin text."""
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        others = sample[0::2] if name == "utf-16-le" else sample[1::2]
        if zeros.count(0) * 10 > len(zeros) * 7 and others.count(0) * 50 < len(others):
            return name
    raise DocumentError("a binary file, not a document")


def _is_utf8(content: bytes) -> bool:
    """Whether it is UTF-8, or is but for a few broken bytes among many sound ones."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        sound = sum(not character.isascii() for character in text) - broken
        return broken * 10 <= sound
    return True


def _cut(content: bytes, wide: bool) -> int:
    """Where to end, so that no character, and if possible no line, is cut in two."""
    if wide:
        return len(content) - len(content) % 4
    line = content.rfind(b"\n") + 1
    if line:
        return line
    if content[-1] < 0x80:
        return len(content)
    last = len(content) - 1
    while last > len(content) - 4 and _continues(content[last]):
        last -= 1
    return last


def _continues(byte: int) -> bool:
    """Whether a byte goes on with a UTF-8 character rather than starting one."""
    return 0x80 <= byte < 0xC0


def _tail(path: Path, length: int, encoding: str, markdown: bool) -> Part:
    """The last whole lines; the lines before them are counted, not kept."""
    start = path.stat().st_size - length
    lines = seen = 0
    kept = bytearray()
    for block in blocks(path):
        before = max(0, min(len(block), start - seen))
        lines += block.count(b"\n", 0, before)
        kept += block[before:]
        seen += len(block)
    # A file that grows while it is read must not grow what is held.
    del kept[length + _BLOCK :]
    line_end = kept.find(b"\n") + 1
    first = line_end or next((i for i, byte in enumerate(kept[:4]) if not _continues(byte)), 0)
    return Part(
        decode(bytes(kept[first:]), encoding), markdown, first_line=lines + 1 + bool(line_end)
    )


def _size(count: int) -> str:
    for power, unit in ((20, "MiB"), (10, "KiB")):
        if count >= 1 << power:
            return f"{count / (1 << power):.0f} {unit}"
    return f"{count} bytes"

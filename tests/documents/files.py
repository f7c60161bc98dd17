"""Real files of each kind, made byte by byte where a library would hide what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from docx import Document
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    DecodedStreamObject,
    NameObject,
)

IMAGE = "<image>"


def pdf(pages: Sequence[str]) -> bytes:
    """A PDF with one page a text; a page given as `IMAGE` shows a picture and has no text."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    picture = bytes(range(256)) * 12
    objects.append(
        b"<< /Type /XObject /Subtype /Image /Width 32 /Height 32 /ColorSpace /DeviceRGB "
        b"/BitsPerComponent 8 /Length %d >>\nstream\n%b\nendstream" % (len(picture), picture)
    )
    kids: list[str] = []
    for text in pages:
        if text == IMAGE:
            content = b"q 400 0 0 400 72 200 cm /Im1 Do Q"
        else:
            shown = "".join(f"({line}) Tj T* " for line in text.split("\n"))
            content = f"BT /F1 12 Tf 14 TL 72 720 Td {shown}ET".encode("latin-1")
        shows = b" /XObject << /Im1 4 0 R >>" if text == IMAGE else b""
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R"
            b" >>%b >> /Contents %d 0 R >>" % (shows, number + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)


def pdf_with_outline(pages: Sequence[str], entries: Sequence[tuple[int, str, int]]) -> bytes:
    """Entries are (depth from 0, title, page index), parents first."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(pages))))
    parents: list[Any] = []
    for depth, title, page in entries:
        above = parents[depth - 1] if depth else None
        del parents[depth:]
        parents.append(writer.add_outline_item(title=title, page_number=page, parent=above))
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def locked_pdf(pages: Sequence[str], password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(pages))))
    writer.encrypt(password, algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def docx(path: Path) -> Path:
    """Headings, a paragraph with awkward characters, a list, a table and a picture."""
    document = Document()
    document.add_heading("House", 1)
    document.add_paragraph("The boiler is serviced by snake_case Ltd, *not* by the landlord.")
    document.add_heading("Keys", 2)
    document.add_paragraph("Front door", style="List Bullet")
    document.add_paragraph("Cellar", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [*table.rows[0].cells, *table.rows[1].cells],
        ["Room", "Size", "Kitchen", "12 m²"],
        strict=True,
    ):
        cell.text = text
    document.add_picture(BytesIO(png()))
    document.save(str(path))
    return path


def png() -> bytes:
    import struct
    import zlib

    def block(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    rows = b"".join(b"\0" + b"\x10\x20\x30" * 4 for _ in range(4))
    return (
        b"\x89PNG\r\n\x1a\n"
        + block(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0))
        + block(b"IDAT", zlib.compress(rows))
        + block(b"IEND", b"")
    )


def slow_pdf(pages: Sequence[str], slow: Sequence[int]) -> bytes:
    """A PDF of which some pages (by index) are drawn in steps without number: seconds each."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(pages))))
    content = DecodedStreamObject()
    content.set_data(b"BT (x) Tj ET\n" * 600_000)
    drawn = writer._add_object(content)
    for index in slow:
        writer.pages[index][NameObject("/Contents")] = drawn
    written = BytesIO()
    writer.write(written)
    return written.getvalue()

"""PDF: text page by page, under the headings of its outline."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from lila_app.documents.markdown import LONGEST_HEADING
from lila_app.documents.model import Loaded, Part
from lila_app.documents.overdue import OverdueError, within
from lila_app.documents.text import LIMIT, short, tidy
from lila_app.errors import DocumentError, LilaError

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

PAGE_SECONDS = 20.0
"""For the text of one page; the slowest that people have, drawings of thousands of lines, take two
or three on one core. Opening a file and reading its outline have as long each."""

MOST_OVERDUE = 3
"""Pages that may take too long before the rest of a file is left: it was made to be slow."""

SCANNED = "its pages are images without text; make them readable first, for example with ocrmypdf"


def read_pdf(
    path: Path,
    *,
    stop: Callable[[], None],
    limit: int = LIMIT,
    page_seconds: float = PAGE_SECONDS,
) -> Loaded:
    """Read the text of a PDF, at most `limit` characters of it.

    `stop` is called before and during each page and may raise. A page that takes longer than
    `page_seconds` is left out. Raises `DocumentError` for a file that is locked, broken or has no
    text (a scan is named as such).
    """
    from pypdf.errors import DependencyError

    # pypdf warns about every oddity of a file; what matters is said in the notice.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    with path.open("rb") as file:
        try:
            reader, pages = within(page_seconds, partial(_open, file), stop)
        except LilaError:
            raise
        except OverdueError as problem:
            raise DocumentError("it takes too long to read") from problem
        except DependencyError as problem:
            raise DocumentError(f"locked in a way LILA cannot open ({problem})") from problem
        except Exception as problem:
            # A broken file makes pypdf raise nearly anything; it is the document that is at fault.
            raise DocumentError(f"not a readable PDF ({short(problem)})") from problem
        return _collect(reader, pages, _Bounds(stop, limit, page_seconds))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Who may end the reading, characters taken at most, and seconds for each page."""

    stop: Callable[[], None]
    limit: int
    seconds: float


def _open(file: BinaryIO) -> tuple[PdfReader, int]:
    from pypdf import PdfReader

    reader = PdfReader(file)
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentError("locked with a password")
    return reader, len(reader.pages)


def _collect(reader: PdfReader, pages: int, bounds: _Bounds) -> Loaded:
    headings = _outline(reader, pages, bounds)
    parts: list[Part] = []
    images: list[int] = []
    broken: list[int] = []
    overdue: list[int] = []
    taken = last = 0
    for index in range(pages):
        bounds.stop()
        if taken >= bounds.limit or len(overdue) == MOST_OVERDUE:
            break
        last = index + 1
        try:
            text, scanned = within(bounds.seconds, partial(_page, reader, index), bounds.stop)
        except OverdueError:
            overdue.append(last)
            continue
        if text is None:
            broken.append(last)
        elif text.strip():
            parts.append(Part(text[: bounds.limit - taken], heading=headings[index], page=last))
            taken += len(text)
        elif scanned:
            images.append(last)
    if not parts:
        raise DocumentError(SCANNED if images else _nothing([*broken, *overdue]))
    notices = [
        f"pages {_ranges(images)} are images without text" if images else "",
        f"pages {_ranges(broken)} could not be read" if broken else "",
        f"pages {_ranges(overdue)} took too long to read" if overdue else "",
        f"too long to take whole: of {pages} pages, the first {last} were taken"
        if last < pages or taken > bounds.limit
        else "",
    ]
    return Loaded("pdf", "", tuple(parts), "; ".join(notice for notice in notices if notice))


def _nothing(broken: list[int]) -> str:
    return "none of its pages could be read" if broken else "there is no text in it"


def _page(reader: PdfReader, index: int) -> tuple[str | None, bool]:
    """The page's text (None: it could not be read), and whether it shows an image."""
    try:
        page = reader.pages[index]
        text = tidy(page.extract_text())
        return text, not text.strip() and _shows_image(page)
    except Exception:
        # A broken page makes pypdf raise nearly anything; the others are still worth having.
        return None, False


def _shows_image(page: PageObject) -> bool:
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    if objects is None:
        return False
    return any(
        value.get_object().get("/Subtype") == "/Image" for value in objects.get_object().values()
    )


def _outline(reader: PdfReader, pages: int, bounds: _Bounds) -> list[tuple[str, ...]]:
    try:
        return within(bounds.seconds, partial(_headings, reader, pages), bounds.stop)
    except OverdueError:
        return [()] * pages


def _headings(reader: PdfReader, pages: int) -> list[tuple[str, ...]]:
    """For each page the path of the outline it starts under."""
    found: list[tuple[str, ...]] = [()] * pages
    try:
        entries = sorted(_entries(reader, reader.outline, ()), key=lambda entry: entry[0])
    except Exception:
        # An outline is a convenience; a broken one must not cost the text.
        return found
    path: tuple[str, ...] = ()
    position = 0
    for page in range(pages):
        if position < len(entries) and entries[position][0] <= page:
            path = entries[position][1]
        found[page] = path
        while position < len(entries) and entries[position][0] <= page:
            path = entries[position][1]
            position += 1
    return found


def _entries(
    reader: PdfReader, outline: object, above: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Page index and path of each outline entry; a list holds the children of what is before."""
    from pypdf.generic import Destination

    path = above
    for entry in cast("list[object]", outline) if isinstance(outline, list) else []:
        if isinstance(entry, Destination):
            title = " ".join(tidy(entry.title or "").split())[:LONGEST_HEADING]
            page = reader.get_destination_page_number(entry)
            if title and page is not None and len(above) < 6:
                path = (*above, title)
                yield page, path
        else:
            yield from _entries(reader, entry, path)


def _ranges(numbers: list[int]) -> str:
    """[1, 2, 3, 7] as "1-3, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)

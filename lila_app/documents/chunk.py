"""Documents cut into chunks along their own structure.

A chunk never crosses a heading or a page. Within a section whole blocks are packed up to the
target; a fence, a table or a list stays whole as long as it fits the cap. Past that a fence or a
table is cut between lines with its opening (the table's header, the fence's mark) repeated, and a
list between its items, each with what is under it; a paragraph is cut between sentences, then
lines, then words, then characters. A short line before one of these ("Bring along:") stays with it.
Text is taken from the source unchanged, and
the same source gives the same chunks.

What is embedded and indexed of a chunk is its path of headings, which begins with the document's
title, and its text. Cutting otherwise changes neither, so vectors of an existing store stay valid:
a document is cut anew when its file changes, and only then.

Why not semchunk: it knows neither headings nor fences nor tables, and what it does for prose
(sentences, then words) is the small part of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lila_app.documents.markdown import Block, BlockKind, blocks, paragraphs
from lila_app.documents.model import Chunk, Part
from lila_app.embedding.tokens import Counter

TARGET = 200
"""Tokens a chunk is packed up to: nearly all of it is then within the 256 word pieces that the
embedding model sees, and five of them fit a modest share of a small budget."""

CAP = 400
"""Tokens no chunk exceeds, its heading not counted."""

SEPARATOR = " › "

_ITEMS = re.compile(r"\n(?= ?(?:[-*+]|\d{1,9}[.)])[ \t])")
_SENTENCES = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？])|\n(?=[ \t]*(?:[-*+>|\[]|\d))")
_LINES = re.compile(r"\n")
_WORDS = re.compile(r"\s+")
_WHOLE = (BlockKind.FENCE, BlockKind.TABLE, BlockKind.LIST)
_LEVELS = (_SENTENCES, _LINES, _WORDS)


def chunk(
    parts: Iterable[Part], count: Counter, *, target: int = TARGET, cap: int = CAP
) -> tuple[Chunk, ...]:
    """Cut the parts of a document into chunks, in order.

    Every word of the source is in some chunk's heading or text. Sizes are tokens by `count`; only
    a single character can exceed `cap`. Headings with nothing under them become chunks of their
    own, so that they can be found.
    """
    cutter = _Cutter(count, target, cap)
    return tuple(piece for part in parts for piece in cutter.part(part))


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    start: int
    body: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    tokens: int


def _sections(part: Part) -> Iterator[_Section]:
    """The stretches between headings; a heading only above deeper ones is in their paths."""
    if not part.markdown:
        yield _Section(part.heading, 0, tuple(paragraphs(part.text)))
        return
    above: list[tuple[int, str]] = []
    start, body = 0, list[Block]()

    def path() -> tuple[str, ...]:
        return (*part.heading, *(title for _, title in above))

    for block in blocks(part.text):
        if block.kind is not BlockKind.HEADING:
            body.append(block)
            continue
        childless = bool(above) and block.level <= above[-1][0]
        if childless or any(part.text[b.start : b.end].strip() for b in body):
            yield _Section(path(), start, tuple(body))
        above = [(level, title) for level, title in above if level < block.level]
        above.append((block.level, block.title))
        start, body = block.start, []
    yield _Section(path(), start, tuple(body))


class _Cutter:
    """The sizes, and the counter by which they are measured."""

    def __init__(self, count: Counter, target: int, cap: int) -> None:
        self._count = count
        self._target = target
        self._cap = cap

    def part(self, part: Part) -> Iterator[Chunk]:
        line, seen = part.first_line, 0
        for section in _sections(part):
            heading = SEPARATOR.join(section.path)
            found = False
            for start, text in self._section(part.text, section.body):
                if line is not None:
                    line += part.text.count("\n", seen, start)
                    seen = start
                for piece in self._fit(text):
                    found = True
                    yield Chunk(heading, piece, self._count(piece), line, part.page)
            if not found and section.path != part.heading:
                title = section.path[-1]
                if line is not None:
                    line += part.text.count("\n", seen, section.start)
                    seen = section.start
                for piece in self._fit(title):
                    yield Chunk(heading, piece, self._count(piece), line, part.page)

    def _section(self, text: str, body: Iterable[Block]) -> Iterator[tuple[int, str]]:
        """Where each chunk of a section starts, and its text."""
        waiting: list[_Piece] = []
        for block in body:
            tokens = self._count(text[block.start : block.end])
            whole = block.kind in _WHOLE
            if tokens <= (self._cap if whole else self._target):
                waiting.append(_Piece(block.start, block.end, tokens))
                continue
            frame = _frame(text, block)
            if frame is not None and self._target >= 2 * self._count(frame.top + frame.bottom):
                yield from self._packed(text, waiting)
                waiting = []
                yield from self._framed(text, frame)
            elif block.kind is BlockKind.LIST:
                waiting += self._items(text, block)
            else:
                waiting += self._split(text, block.start, block.end)
        yield from self._packed(text, waiting)

    def _packed(self, text: str, pieces: list[_Piece]) -> Iterator[tuple[int, str]]:
        for group in self._groups(pieces):
            start, end = _trimmed(text, group[0].start, group[-1].end)
            if start < end:
                yield start, text[start:end]

    def _groups(self, pieces: list[_Piece]) -> list[list[_Piece]]:
        """Pieces packed up to the target; a small rest joins its neighbour if the cap allows."""
        few = self._target // 4
        groups: list[list[_Piece]] = []
        size = 0
        for piece in pieces:
            joined = size + piece.tokens
            if groups and (joined <= self._target or (size < few and joined <= self._cap)):
                groups[-1].append(piece)
                size = joined
            else:
                groups.append([piece])
                size = piece.tokens
        if len(groups) > 1 and size < few:
            before = sum(piece.tokens for piece in groups[-2])
            if before + size <= self._cap:
                groups[-2:] = [groups[-2] + groups[-1]]
        return groups

    def _items(self, text: str, block: Block) -> Iterator[_Piece]:
        """Tile a list with its items, the long ones among them cut like any text."""
        for first, last in _tiles(_ITEMS, text, block.start, block.end):
            tokens = self._count(text[first:last])
            if tokens <= self._target:
                yield _Piece(first, last, tokens)
            else:
                yield from self._split(text, first, last)

    def _split(self, text: str, start: int, end: int, level: int = 0) -> Iterator[_Piece]:
        """Tile a stretch with pieces within the target: sentences, lines, words, characters."""
        if level == len(_LEVELS):
            yield from self._characters(text, start, end)
            return
        for first, last in _tiles(_LEVELS[level], text, start, end):
            tokens = self._count(text[first:last])
            if tokens <= self._target:
                yield _Piece(first, last, tokens)
            else:
                yield from self._split(text, first, last, level + 1)

    def _characters(self, text: str, start: int, end: int) -> Iterator[_Piece]:
        while start < end:
            size = min(end - start, 4 * self._target)
            while (tokens := self._count(text[start : start + size])) > self._target and size > 1:
                size //= 2
            yield _Piece(start, start + size, tokens)
            start += size

    def _framed(self, text: str, frame: _Frame) -> Iterator[tuple[int, str]]:
        """A long fence or table in several of its kind."""
        room = self._target - self._count(frame.top + frame.bottom)
        inner = _Cutter(self._count, room, room)
        pieces = list(inner._split(text, frame.start, frame.end, _LEVELS.index(_LINES)))
        for group in inner._groups(pieces):
            start, end = _trimmed(text, group[0].start, group[-1].end)
            if start < end:
                yield start, frame.top + text[start:end] + "\n" + frame.bottom

    def _fit(self, text: str) -> Iterator[str]:
        """The text itself, or, where counting the whole gave more than its pieces, halves."""
        text = text.rstrip()
        if len(text) < 2 or self._count(text) <= self._cap:
            if text:
                yield text
            return
        middle = len(text) // 2
        space = max(text.rfind(" ", 1, middle), text.rfind("\n", 1, middle))
        at = space if space > 0 else middle
        yield from self._fit(text[:at])
        yield from self._fit(text[at:].lstrip())


@dataclass(frozen=True, slots=True)
class _Frame:
    """What every part of a cut fence or table repeats, and where its rows are."""

    top: str
    bottom: str
    start: int
    end: int


def _frame(text: str, block: Block) -> _Frame | None:
    first = text.find("\n", block.start, block.end) + 1
    if not first:
        return None
    if block.kind is BlockKind.TABLE:
        second = text.find("\n", first, block.end) + 1
        return _Frame(text[block.start : second], "", second, block.end) if second else None
    if block.kind is not BlockKind.FENCE:
        return None
    opening = text[block.start : first].strip()
    mark = opening[: len(opening) - len(opening.lstrip(opening[0]))]
    content = text[first : block.end].rstrip()
    last = content.rfind("\n") + 1
    closed = content[last:].strip()
    if closed.startswith(mark) and not closed.strip(mark[0]):
        return _Frame(text[block.start : first], closed, first, first + last)
    return _Frame(text[block.start : first], mark, first, first + len(content))


def _tiles(boundary: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for match in boundary.finditer(text, start, end):
        if match.end() > first:
            yield first, match.end()
            first = match.end()
    if first < end:
        yield first, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without blank lines before and white space after; the first line keeps its indentation."""
    content = text[start:end]
    body = content.lstrip()
    first = len(content) - len(body)
    line = content.rfind("\n", 0, first) + 1
    return start + line, start + len(content.rstrip())

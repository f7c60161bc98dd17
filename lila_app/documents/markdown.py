"""The little of Markdown that decides where a document may be cut.

Blocks tile the text: every character belongs to exactly one. Only what matters for cutting is
told apart (headings, fences, tables, lists, front matter, paragraphs); what looks odd is a
paragraph, so no input is refused and nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

LONGEST_HEADING = 120
"""Characters; a longer "heading" is a paragraph that happens to start with a number sign."""

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_CLOSING = re.compile(r"(?:^| )#+$")
_UNDERLINE = re.compile(r" {0,3}(={3,}|-{3,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")
_DELIMITER = re.compile(r":?-+:?$")
_LIST = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_INDENTED = re.compile(r" {2,}\S|\t")
_NOT_TITLE = re.compile(r"[ \t]*([-*+>|]|\d+[.)])[ \t]|    |\t")


class BlockKind(StrEnum):
    """What a block is, as far as cutting goes."""

    HEADING = "heading"
    FENCE = "fence"
    TABLE = "table"
    LIST = "list"
    """Items with what is indented under them, blank lines between them or not."""
    FRONT = "front"
    TEXT = "text"
    """A paragraph, with the blank lines after it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block, from character `start` to `end`; `level` and `title` are of headings."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text, in order, tiling it."""
    # Not `splitlines`, which also splits at marks that end no line in Markdown.
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    at = index = 0
    while index < len(lines):
        kind, after, level, title = _recognise(lines, index)
        while kind is not BlockKind.HEADING and after < len(lines) and not lines[after].strip():
            after += 1
        end = at + sum(len(line) for line in lines[index:after])
        yield Block(kind, at, end, level, title)
        at, index = end, after


def paragraphs(text: str) -> Iterator[Block]:
    """The paragraphs of plain text, in order, tiling it."""
    at = 0
    for match in re.finditer(r"\n(?:[ \t]*\n)+|\Z", text):
        if match.end() > at:
            yield Block(BlockKind.TEXT, at, match.end())
            at = match.end()


def _recognise(lines: list[str], index: int) -> tuple[BlockKind, int, int, str]:
    """Kind, index after it, heading level, heading title of the block that starts here."""
    line = lines[index]
    if index == 0 and line.rstrip() == "---" and (after := _front(lines)):
        return BlockKind.FRONT, after, 0, ""
    if not line.strip():
        return BlockKind.TEXT, index + 1, 0, ""
    if heading := _number_signs(line):
        return BlockKind.HEADING, index + 1, *heading
    if heading := _underlined(lines, index):
        return BlockKind.HEADING, index + 2, *heading
    if after := _fence_end(lines, index):
        return BlockKind.FENCE, after, 0, ""
    if after := _table_end(lines, index):
        return BlockKind.TABLE, after, 0, ""
    if _LIST.match(line):
        return BlockKind.LIST, _list_end(lines, index), 0, ""
    return BlockKind.TEXT, _paragraph_end(lines, index), 0, ""


def _front(lines: list[str]) -> int:
    """Where front matter ends; 0 when it is none."""
    for index in range(1, min(len(lines), 200)):
        if not lines[index].strip():
            return 0
        if lines[index].rstrip() in ("---", "..."):
            return index + 1
    return 0


def _number_signs(line: str) -> tuple[int, str] | None:
    """Level and title of a heading such as "## Title"."""
    match = _ATX.match(line)
    if match is None:
        return None
    title = _tidy(match[2])
    if len(title) <= LONGEST_HEADING:
        title = _CLOSING.sub("", title)
    return (len(match[1]), title) if _fits(title) else None


def _underlined(lines: list[str], index: int) -> tuple[int, str] | None:
    """Level and title of a one-line heading with a line of === or --- under it."""
    if index + 1 == len(lines) or not (match := _UNDERLINE.match(lines[index + 1])):
        return None
    title = _tidy(lines[index])
    if not _fits(title) or _NOT_TITLE.match(lines[index]) or _FENCE.match(lines[index]):
        return None
    return 1 if match[1][0] == "=" else 2, title


def _fits(title: str) -> bool:
    return 0 < len(title) <= LONGEST_HEADING


def _tidy(title: str) -> str:
    return " ".join(title.split())


def _fence_opens(line: str) -> str:
    """The mark of the fence that opens here, such as "```"; empty when none does."""
    match = _FENCE.match(line)
    return "" if match is None or (match[1][0] == "`" and "`" in match[2]) else match[1]


def _fence_end(lines: list[str], index: int) -> int:
    """Where the fence that opens here ends (an open one at the end); 0 when none opens."""
    mark = _fence_opens(lines[index])
    if not mark:
        return 0
    closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
    for after in range(index + 1, len(lines)):
        if closing.match(lines[after]):
            return after + 1
    return len(lines)


def _table_end(lines: list[str], index: int) -> int:
    """Where the table that starts here ends; 0 when none starts."""
    if index + 1 == len(lines) or "|" not in lines[index]:
        return 0
    cells = lines[index + 1].strip().strip("|").split("|")
    if "|" not in lines[index + 1] or not all(_DELIMITER.match(cell.strip()) for cell in cells):
        return 0
    after = index + 2
    while after < len(lines) and "|" in lines[after]:
        after += 1
    return after


def _list_end(lines: list[str], index: int) -> int:
    """Where the list that starts here ends: before what is neither an item nor under one."""
    after = index + 1
    while after < len(lines):
        line = lines[after]
        if not line.strip():
            following = _written(lines, after)
            if following == len(lines) or not _in_list(lines[following]):
                return after
            after = following
        elif _INDENTED.match(line):
            after = _inner_end(lines, after)
        elif _number_signs(line) or _fence_opens(line) or _table_end(lines, after):
            return after
        else:
            after += 1
    return after


def _inner_end(lines: list[str], index: int) -> int:
    """After an indented line of a list; where it opens a fence, after the fence or the list."""
    mark = _fence_opens(lines[index].lstrip())
    after = index + 1
    while mark and after < len(lines):
        line = lines[after].strip()
        if line and not _INDENTED.match(lines[after]):
            return after
        after += 1
        if line.startswith(mark) and not line.strip(mark[0]):
            return after
    return after


def _written(lines: list[str], index: int) -> int:
    """The next line that is not blank; past the end when there is none."""
    while index < len(lines) and not lines[index].strip():
        index += 1
    return index


def _in_list(line: str) -> bool:
    return bool(_INDENTED.match(line) or _LIST.match(line))


def _paragraph_end(lines: list[str], index: int) -> int:
    after = index + 1
    while after < len(lines) and lines[after].strip():
        if _number_signs(lines[after]) or _fence_opens(lines[after]) or _table_end(lines, after):
            break
        after += 1
    return after

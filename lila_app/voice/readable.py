"""A reply in Markdown as it is read where nothing renders it: a line of a terminal, a note.

Its pieces come as they are spoken, cut where a sentence ends and so within a line, within a list or
between the two ends of an emphasis. Each line is therefore read anew with every piece of it, and
what is shown of it goes on where it was: nothing that was shown is ever taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Style = Literal["bold", "italic", "struck", "code", "link"]

_FENCE = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})")
_RULE = re.compile(r"[ ]{0,3}(?:(?:[-*_][ \t]*){3,}|=+[ \t]*)$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)+$")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+[ \t]*)?$", re.DOTALL)
_BULLET = re.compile(r"([ \t]*)[-*+][ \t]+(.*)", re.DOTALL)
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+(.*)", re.DOTALL)
_ROW = re.compile(r"[ \t]*\|[ \t]*(.*?)[ \t]*\|?[ \t]*$", re.DOTALL)
_OPEN = re.compile(r"(?<![\w*`~])(?:\*{1,3}|`+|~~)(?=[^\s\d*`~])")
_CLOSE = re.compile(r"(?<=[^\s\d*`~])(?:\*{1,3}|`+|~~)(?![\w*`~])")
"""One end of an emphasis whose other end is in another line, or has not come yet."""

_TIMES = re.compile(r"(?<=\d)\*(?=\d)")
_A_TIMES = "\ufdd0"
"""Stands for the sign of "5*6*7", which is no emphasis here; no text may hold this character."""

_STYLES: dict[str, Style] = {"strong": "bold", "em": "italic", "s": "struck", "link": "link"}


@dataclass(frozen=True, slots=True)
class Run:
    """Text that is shown in one way; no marks are left in it."""

    text: str
    styles: frozenset[Style] = frozenset()


class Readable:
    """One reply, piece by piece; what `feed` gives is to be shown after what it gave before.

    White space at an end, and what is not shown at all (a fence, the rule of a table), shows once
    something comes after it.
    """

    def __init__(self) -> None:
        self._line = ""
        self._shown = ""
        """What is shown of it."""
        self._fenced = False
        self._gap = ""
        self._begun = False

    def feed(self, piece: str) -> list[Run]:
        """What is shown of the next piece. Pieces that join without a blank get one."""
        text = piece.replace("\r\n", "\n").replace("\r", "\n")
        if self._line and not self._line[-1].isspace() and text and not text[0].isspace():
            text = f" {text}"
        runs: list[Run] = []
        first, *others = text.split("\n")
        runs += self._within(first)
        for line in others:
            self._end_line()
            runs += self._within(line)
        return runs

    def interrupted(self) -> None:
        """Something else was shown meanwhile, and what follows begins a line of its own."""
        self._gap, self._begun = "", False

    def _within(self, more: str) -> list[Run]:
        self._line += more
        runs, shown = list(self._rendered()), self._shown
        whole = "".join(run.text for run in runs)
        if not whole.startswith(shown):  # a mark was whole only now: no word may be lost for it
            runs, whole = [Run(shown), *_inline(more)], shown + more
        self._shown = whole
        left, fresh = len(shown), list[Run]()
        for run in runs:
            text, left = run.text[left:], max(0, left - len(run.text))
            if text:
                fresh += self._spaced(Run(text, run.styles))
        return fresh

    def _spaced(self, run: Run) -> list[Run]:
        """Put white space off until something comes after it."""
        ends = len(run.text.rstrip())
        if not ends:
            self._gap += run.text
            return []
        gap, self._gap = self._gap, run.text[ends:]
        text = run.text[:ends]
        if not self._begun:
            self._begun = True
            return [Run(text.lstrip(), run.styles)]
        breaks = min(gap.count("\n"), 2)
        before = "\n" * breaks + gap[gap.rfind("\n") + 1 :]
        return [*([Run(before)] if before else []), Run(text, run.styles)]

    def _end_line(self) -> None:
        if _FENCE.match(self._line):
            self._fenced = not self._fenced
        elif not _hidden(self._line) or self._fenced:
            self._gap += "\n"
        self._line = self._shown = ""

    def _rendered(self) -> Iterator[Run]:
        line = self._line
        if _FENCE.match(line):
            return
        if self._fenced:
            yield Run(line, frozenset(("code",)))
        elif found := _HEADING.match(line):
            yield from _inline(found[1], frozenset(("bold",)))
        elif found := _QUOTE.match(line):
            yield Run("  ")
            yield from _inline(found[1])
        elif not _hidden(line):
            yield from _plain_line(line)


def plain(text: str) -> str:
    """A whole text without its marks."""
    return "".join(run.text for run in Readable().feed(text))


def _hidden(line: str) -> bool:
    """Whether a line is a mark alone."""
    return bool(line.strip() and (_RULE.match(line) or _TABLE_RULE.match(line)))


def _plain_line(line: str) -> Iterator[Run]:
    if found := _BULLET.match(line):
        yield Run(f"{found[1]}- ")
        yield from _inline(found[2])
    elif found := _ROW.match(line):
        yield from _inline(found[1])
    else:
        inside = line.lstrip()
        yield Run(line[: len(line) - len(inside)])
        yield from _inline(inside)


def _inline(text: str, styles: frozenset[Style] = frozenset()) -> Iterator[Run]:
    """Emphasis, code, links and images of one line; `styles` are those of all of it."""
    body = text.rstrip()
    open_, targets = list(styles), list[str]()
    for token in _parsed(body):
        name = token.type.removesuffix("_open").removesuffix("_close")
        if name in _STYLES and token.nesting > 0:
            open_.append(_STYLES[name])
            if name == "link":
                targets.append("" if token.info == "auto" else _address(token, "href"))
        elif name in _STYLES:
            open_.remove(_STYLES[name])
            if name == "link" and (target := targets.pop()):
                yield Run(f" ({target})", frozenset(styles))
        elif token.type == "code_inline":
            yield Run(token.content.replace(_A_TIMES, "*"), frozenset((*open_, "code")))
        else:
            yield Run(_shown(token), frozenset(open_))
    if len(body) < len(text):
        yield Run(text[len(body) :])


def _shown(token: Token) -> str:
    if token.type == "image":
        return f"{token.content} ({_address(token, 'src')})".strip()
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return _CLOSE.sub("", _OPEN.sub("", token.content)).replace(_A_TIMES, "*")


def _parsed(text: str) -> list[Token]:
    block = _parser().parseInline(_TIMES.sub(_A_TIMES, text))
    return list(block[0].children or ()) if block else []


def _address(token: Token, name: str) -> str:
    return str(token.attrs.get(name, "")).replace(quote(_A_TIMES), "*")


@cache
def _parser() -> MarkdownIt:
    """CommonMark; a tag of HTML is text to read, as it may be "<your name>"."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough")

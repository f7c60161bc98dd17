"""Markdown, HTML, code and named sources: what is written for the eye."""

from __future__ import annotations

import html
import re

from lila_app.voice.model import Spoken
from lila_app.voice.speakable import formulas
from lila_app.voice.speakable.rewriting import Part, keeping, removed, rewrite, saying

_GAP = re.compile(r"[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]{4,}")
"""More space than any rule looks at, and long runs of it would cost them time."""

_FENCE = re.compile(
    r"^[ ]{0,3}(?P<mark>`{3,}|~{3,})[^\n]*(?:\n(?s:.*?)(?:^[ ]{0,3}(?P=mark)[`~]*[ \t]*$|\Z)|\Z)",
    re.MULTILINE,
)
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_CODE_SIGNS = 0.35
"""A code span with a larger share of signs than this is nothing to read aloud."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|center|cite|code|dd|del|details|div|dl|dt|em|figure|font|h[1-6]"
    r"|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup"
    r"|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|video|wbr)(?:\s[^<>]*=[^<>]*)?\s?/?>",
    re.IGNORECASE,
)
"""The tags that format a text; "<your name>" and "a<b" are words."""

_PLACE = re.compile(r"(?<!\w)<([a-zA-Z][\w .-]{0,40})>")

_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_IMAGE = re.compile(r"!\[([^\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\]\n]*\])")
_DEFINITION = re.compile(r"^[ ]{0,3}\[\^?[^\]\n]+\]:[^\n]*$\n?", re.MULTILINE)
_FOOTNOTE = re.compile(r"[ \t]*\[\^[^\]\n]+\]")
_SOURCE = re.compile(
    r"[ \t]*[\[【](?:(?:see|sources?|from)\b[\s:]*)*#?"
    r"(?:[dmtrgn]\d{1,9}(?:\.\d{1,9})?|\d{1,3})(?![\w.])[^\[\]【】\n]{0,200}[\]】]",
    re.IGNORECASE,
)
_TASK = re.compile(r"^([ \t]*)[-*+][ \t]+\[[ xX]\][ \t]+", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+•▪‣◦][ \t]+", re.MULTILINE)
_NUMBER = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_RULE = re.compile(r"^[ ]{0,3}(?:[-*_=][ \t]*){3,}$\n?", re.MULTILINE)
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_TABLE_RULE = re.compile(
    r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$\n?", re.MULTILINE
)
_ROW = re.compile(r"^[ \t]*\|(.+?)\|?[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"[^|\n]*[^|\s]")
_BOLD = re.compile(r"\*{1,3}(?=\S)(.+?)(?<=\S)\*{1,3}(?!\*)", re.DOTALL)
_STRUCK = re.compile(r"~~")
_UNDERSCORE = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_SNAKE = re.compile(r"(?<=\w)_+(?=\w)")
_STRAY = re.compile(r"\*{2,}|(?<!\S)\*(?=[^\s\d*])|(?<=[^\s\d*])\*(?!\S)|`+")
_END = "\x1e"
"""Where an item, a heading or a row begins or ends, until `_LINE_END` has made a pause of it."""

_LINE_END = re.compile(r"[ \t]*[\n\x1e][\s\x1e]*")
_NEW_LINE = re.compile(r"\r\n?|[\u2028\u2029]")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060\ud800-\udfff\ufeff\ufffd]+"
)
_SENTENCE_END = ".!?…:;,"


def strip(spoken: Spoken, code_omitted: str) -> Spoken:
    """Take the markup off; whole pieces of code are named by `code_omitted` alone."""
    spoken = rewrite(spoken, _NEW_LINE, saying("\n"))
    spoken = rewrite(spoken, _CONTROL, removed)
    spoken = rewrite(spoken, _GAP, saying("   "))
    spoken = _code(spoken, code_omitted)
    spoken = _html(spoken)
    spoken = formulas.plain(spoken)
    spoken = _links(spoken)
    spoken = _lines(spoken)
    spoken = _emphasis(spoken)
    return rewrite(spoken, _LINE_END, _ended)


def _code(spoken: Spoken, code_omitted: str) -> Spoken:
    said = f"{_END}{code_omitted}.{_END}" if code_omitted else _END
    spoken = rewrite(spoken, _FENCE, saying(said))

    def inline(found: re.Match[str]) -> list[Part]:
        inside = found[2]
        signs = sum(not (char.isalnum() or char.isspace() or char in "_-.") for char in inside)
        if signs > _CODE_SIGNS * len(inside):
            return [code_omitted]
        return [found.span(2)]

    return rewrite(spoken, _SPAN, inline)


def _html(spoken: Spoken) -> Spoken:
    spoken = rewrite(spoken, _COMMENT, removed)
    spoken = rewrite(spoken, _AUTOLINK, keeping(1))
    spoken = rewrite(spoken, _BREAK, saying("\n"))
    spoken = rewrite(spoken, _TAG, removed)
    spoken = rewrite(spoken, _PLACE, keeping(1))
    # What it stands for may be anything: no control character comes in this way.
    return rewrite(spoken, _ENTITY, lambda found: _CONTROL.sub("", html.unescape(found[0])))


def _links(spoken: Spoken) -> Spoken:
    spoken = rewrite(spoken, _DEFINITION, removed)
    spoken = rewrite(spoken, _IMAGE, keeping(1))
    spoken = rewrite(spoken, _LINK, keeping(1))
    spoken = rewrite(spoken, _FOOTNOTE, removed)
    return rewrite(spoken, _SOURCE, removed)


def _lines(spoken: Spoken) -> Spoken:
    spoken = rewrite(spoken, _TABLE_RULE, removed)
    spoken = rewrite(spoken, _RULE, removed)
    spoken = rewrite(spoken, _QUOTE, removed)
    spoken = rewrite(spoken, _HEADING, lambda found: [_END, found.span(1), _END])
    spoken = rewrite(spoken, _TASK, saying(_END))
    spoken = rewrite(spoken, _BULLET, saying(_END))
    spoken = rewrite(spoken, _NUMBER, lambda found: [_END, found.span(1), ", "])
    return rewrite(spoken, _ROW, _row)


def _row(found: re.Match[str]) -> list[Part]:
    cells = [cell.span() for cell in _CELL.finditer(found.string, *found.span(1))]
    parts: list[Part] = [_END]
    for cell in cells:
        parts += [cell] if len(parts) == 1 else [", ", cell]
    return [*parts, _END]


def _emphasis(spoken: Spoken) -> Spoken:
    spoken = rewrite(spoken, _BOLD, keeping(1))
    for pattern in (_STRUCK, _UNDERSCORE, _STRAY):
        spoken = rewrite(spoken, pattern, removed)
    return rewrite(spoken, _SNAKE, saying(" "))


def _ended(found: re.Match[str]) -> str:
    """A line that ends without a mark ends a sentence: an item, a heading, a row.

    A line that was only broken to fit goes on with a small letter.
    """
    before = found.string[: found.start()].rstrip(" \t\"')]*_")
    after = found.string[found.end() :]
    if not before or before[-1] in _SENTENCE_END or not after:
        return " "
    hard = _END in found[0] or found[0].count("\n") > 1 or not after[0].islower()
    return ". " if hard else " "

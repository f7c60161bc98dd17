"""A reply, as it is written, cut into the pieces it is spoken in.

The first piece is short, because somebody is waiting for it: a sentence, a clause, or so many
words. Later ones are whole sentences. Nothing is added or lost: the pieces joined are the reply
(but for white space at its very end), so that what was heard of them has its place in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lila_app.voice.policy import ChunkRules

_NEVER_ENDS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "vs",
        "e.g",
        "i.e",
        "cf",
        "fig",
        "approx",
        "gen",
        "sen",
        "rep",
        "capt",
        "sgt",
        "rev",
        "hon",
        "mt",
        "z.b",
        "d.h",
        "u.a",
        "bzw",
        "ca",
        "hr",
        "fr",
        "evtl",
        "ggf",
        "inkl",
        "vgl",
        "s.o",
        "s.u",
        "tel",
        "abb",
    ]
)
"""Abbreviations that something always follows."""

_MAY_END = frozenset(
    [
        "etc",
        "inc",
        "ltd",
        "co",
        "corp",
        "jr",
        "sr",
        "dept",
        "est",
        "min",
        "max",
        "vol",
        "a.m",
        "p.m",
        "usw",
        "usf",
        "ph.d",
        "gmbh",
        "mio",
        "mrd",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
    ]
)
"""Abbreviations a sentence may end on: it does where a capital letter follows."""

_NUMBERED = frozenset(["no", "nr", "pp", "p", "fig", "art", "sec", "ch", "s"])
"""Abbreviations only before a number ("no. 5"), words otherwise ("The answer is no.")."""

_MONTHS = [
    "januar",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
]

_FENCE = re.compile(r"(?:^|\n)[ \t]*(```|~~~)[^\n]*(?:\n|$)")
_END = re.compile(r"\n|[.?!…]+[\"'”’»)\]*_`]*(?=\s)|[。！？]+[”’」』）]*")
_CLAUSE_END = re.compile(r"(?:[,;:][\"'”’»)\]*_]*|[–—])(?=\s)")
_MARKER = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|#{1,6})?\s*\Z")


@dataclass(frozen=True, slots=True)
class Buffer:
    """What is written and not yet cut; `begun`: a piece of this reply was cut already."""

    text: str = ""
    begun: bool = False


def feed(buffer: Buffer, piece: str, rules: ChunkRules) -> tuple[tuple[str, ...], Buffer]:
    """The pieces that are whole now, and the rest."""
    left = replace(buffer, text=buffer.text + piece)
    chunks: list[str] = []
    while (end := _cut(left, rules)) is not None:
        chunks.append(left.text[:end])
        left = Buffer(left.text[end:], begun=True)
    return tuple(chunks), left


def flush(buffer: Buffer, rules: ChunkRules) -> tuple[tuple[str, ...], Buffer]:
    """The reply is whole: everything that is left, in pieces."""
    chunks, left = feed(buffer, "\n", rules)
    last = left.text[:-1] if left.text.endswith("\n") else left.text
    if last.strip():
        chunks = (*chunks, last)
    elif chunks and chunks[-1].endswith("\n"):
        chunks = (*chunks[:-1], chunks[-1][:-1])
    return tuple(chunk for chunk in chunks if chunk.strip()), Buffer(begun=True)


def stalled(buffer: Buffer) -> tuple[tuple[str, ...], Buffer]:
    """Nothing new came for a while: what there is, up to the last whole word.

    Nothing of a block of code that is not whole, and no number or dash of a list alone.
    """
    text = buffer.text
    fence = _FENCE.search(text)
    end = fence.start() if fence else max(text.rfind(" "), text.rfind("\n")) + 1
    if _in_code(text, end):
        end = text.rfind("`", 0, end)
    if not text[:end].strip() or _MARKER.match(text[:end]):
        return (), buffer
    return (text[:end],), Buffer(text[end:], begun=True)


def _cut(buffer: Buffer, rules: ChunkRules) -> int | None:
    """Where the first piece of the buffer ends; None while that cannot be told."""
    text = buffer.text
    fence = _FENCE.search(text)
    if fence and not text[: fence.start()].strip():
        return _fenced(text, fence)
    limit = fence.start() + 1 if fence else len(text)
    end = _spoken_end(text, limit, buffer.begun, rules)
    if end is None and fence:
        return limit
    return end


def _fenced(text: str, fence: re.Match[str]) -> int | None:
    closing = re.compile(rf"\n[ \t]*{fence.group(1)}[ \t]*\n").search(text, fence.end() - 1)
    return closing.end() if closing else None


def _spoken_end(text: str, limit: int, begun: bool, rules: ChunkRules) -> int | None:
    whole = _sentence(text, limit)
    ends = [whole] if whole is not None else []
    if not begun:
        ends += [end for end in (_clause(text, limit, rules), _words(text, limit, rules)) if end]
    if ends and min(ends) <= rules.longest:
        return min(ends)
    return _forced(text[:limit], rules) if limit > rules.longest + 1 else None


def _sentence(text: str, limit: int) -> int | None:
    """Past the first end of a sentence or line, and one white space."""
    for match in _END.finditer(text, 0, limit):
        end = (
            match.end() + 1 if match.end() < limit and text[match.end()].isspace() else match.end()
        )
        ends = _line_ends(text, match) if match.group() == "\n" else _sentence_ends(text, match)
        if ends is None:
            return None
        if ends and not _MARKER.match(text[:end]):
            return end
    return None


def _line_ends(text: str, match: re.Match[str]) -> bool | None:
    """A line ends a piece, but for one of a table that goes on."""
    if not _in_table(text, match.start()):
        return True
    following = _following(text, match.end())
    return following != "|" if following else None


def _sentence_ends(text: str, match: re.Match[str]) -> bool | None:
    """Whether these marks end a sentence; None before the next word shows it."""
    if _in_code(text, match.start()) or _in_table(text, match.start()):
        return False
    following = _following(text, match.end())
    if not following:
        return None
    if following.islower():
        return False
    if not match.group().startswith(".") or match.group().startswith(".."):
        return True
    return _full_stop(text, match.start(), match.end(), following)


def _full_stop(text: str, stop: int, after: int, following: str) -> bool | None:
    word = _last_word(text[:stop])
    if word.isdigit():
        return _after_number(text, stop, after, word)
    low = word.casefold()
    initials = re.fullmatch(r"[A-HJ-Za-z]|(?:[A-Z]\.)+[A-Z]", word)
    if initials or low in _NEVER_ENDS:
        return False
    if low in _NUMBERED or low in _MAY_END:
        return not following.isdigit()
    return True


def _after_number(text: str, stop: int, after: int, number: str) -> bool | None:
    """A number at the beginning of a line counts it; one before a German month is an ordinal."""
    line = text[text.rfind("\n", 0, stop) + 1 : stop]
    if line.strip(" \t>*-_") == number:
        return False
    name = re.match(r"\s*(\w+)", text[after:])
    word = name.group(1).casefold() if name else ""
    if word in _MONTHS:
        return False
    unsure = name is not None and after + name.end() == len(text)
    return None if unsure and any(month.startswith(word) for month in _MONTHS) else True


def _clause(text: str, limit: int, rules: ChunkRules) -> int | None:
    for match in _CLAUSE_END.finditer(text, 0, limit):
        enough = len(text[: match.end()].strip()) >= rules.first_clause
        if enough and match.end() < limit and not _in_code(text, match.start()):
            return match.end() + 1
    return None


def _words(text: str, limit: int, rules: ChunkRules) -> int | None:
    words = [m for m in re.finditer(r"\S+(?=\s)", text[:limit]) if not _MARKER.match(m.group())]
    if len(words) < rules.first_words:
        return None
    end = words[rules.first_words - 1].end()
    return None if _in_code(text, end) else end + 1


def _forced(text: str, rules: ChunkRules) -> int | None:
    """A sentence longer than a piece: cut at its last comma that fits, else between two words."""
    if len(text.rstrip()) <= rules.longest + 1:
        return None
    head = text[: rules.longest]
    commas = [m.end() + 1 for m in _CLAUSE_END.finditer(text, 0, rules.longest)]
    fitting = [end for end in commas if rules.longest // 3 <= end <= rules.longest]
    if fitting:
        return fitting[-1]
    space = max(head.rfind(mark) for mark in " \t\n")
    if head[: space + 1].strip():
        return space + 1
    later = re.search(r"\s", text[len(head) - len(head.lstrip()) :])
    return len(head) - len(head.lstrip()) + later.end() if later else None


def _following(text: str, index: int) -> str:
    """The next character that is no white space, "" where none is there yet."""
    return text[index:].lstrip()[:1]


def _last_word(text: str) -> str:
    found = re.search(r"[^\s(\[\"'“„«*_/]+\Z", text)
    return found.group() if found else ""


def _in_table(text: str, index: int) -> bool:
    return text[text.rfind("\n", 0, index) + 1 : index].lstrip().startswith("|")


def _in_code(text: str, index: int) -> bool:
    """Whether a place is within `code` that began in its line."""
    return text.count("`", text.rfind("\n", 0, index) + 1, index) % 2 == 1

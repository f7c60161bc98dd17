"""Markdown: a file a session.

Where lines say who speaks ("## You", "**Assistant:** …", "User: …"), each stretch is a message, and
what stands before the first one is not imported but named. They are believed only if both sides
speak. Any other file is one message of the person: their notes are their words.

Its time is that of the front matter (`date`, `created`), else a date in its first heading, else one
in its name, else when the file was last written. People write times without a zone, so such a time
is read in the person's own. Front matter is read line by line as `key: value`; `title` names the
session, else the first heading does, else the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import PurePosixPath

from lila_app.importing import times
from lila_app.importing.model import (
    Conversation,
    Message,
    Record,
    RecordError,
    Role,
    Skip,
    refusal,
)
from lila_app.importing.values import shown

LARGEST_FILE = 16_000_000
"""Bytes of a Markdown file: a hundred novels are less."""

_PERSON = ("user", "human", "you", "me", "prompt", "question")
_ASSISTANT = (
    "assistant", "chatgpt", "claude", "gemini", "lila", "ai", "bot", "model", "response",
)  # fmt: skip
_ROLES: dict[str, Role] = {
    **dict.fromkeys(_PERSON, "user"),
    **dict.fromkeys(_ASSISTANT, "assistant"),
}
_NAMES = "|".join(sorted(_ROLES))
_MARK = re.compile(
    rf"(?:#{{1,6}}[ ]+(?P<a>{_NAMES})(?:[ ]said)?[ ]*:?[ ]*#*"
    rf"|(?:\*\*|__)(?P<b>{_NAMES})(?:[ ]said)?:?(?:\*\*|__)[ ]*:?[ ]*(?P<b_rest>.*)"
    rf"|(?P<c>{_NAMES}):(?:[ ]+(?P<c_rest>.*))?)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}[ ]+(.+?)[ ]*#*[ ]*$")
_DAY = re.compile(
    r"(?<!\d)(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?))?(?!\d)"
)


@dataclass(frozen=True, slots=True)
class File:
    """One file; `written` is when it was last written, `name` its path within what is imported."""

    name: str
    content: bytes
    written: datetime


def records(files: Iterator[File], zone: tzinfo) -> Iterator[Record]:
    """One record a file; `zone` is the person's."""
    for file in files:
        try:
            yield _record(file, zone)
        except RecordError as error:
            yield Record(skips=(Skip(file.name, "", error.message),))


def is_conversation(text: str) -> bool:
    """Whether two sides speak in a text, and nothing but headings stands before the first one."""
    _, lines = _front_matter(text.splitlines())
    stretches, before = _stretches(lines)
    return len(stretches) > 1 and not before


def _record(file: File, zone: tzinfo) -> Record:
    if len(file.content) > LARGEST_FILE:
        raise RecordError(f"it has more than {LARGEST_FILE:,} bytes")
    if b"\0" in file.content:
        raise RecordError("it is no text")
    try:
        lines = file.content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise RecordError(f"it is not UTF-8 (byte {error.start + 1})") from None
    front, lines = _front_matter(lines)
    heading = next((found[1] for line in lines if (found := _HEADING.fullmatch(line))), "")
    stem = PurePosixPath(file.name).stem
    at = _time(file, front, heading, zone)
    conversation = Conversation(file.name, front.get("title") or heading or stem, at)
    stretches, before = _stretches(lines)
    messages: list[Message] = []
    skips: list[Skip] = []
    if before:
        skips.append(Skip(f"{file.name}: line 1", "", "it stands before the first message", 0))
    for number, stretch in enumerate(stretches, 1):
        words = "\n".join(stretch.lines).strip("\n")
        refused = refusal(words)
        if refused:
            place = f"{file.name}: line {stretch.line}"
            skips.append(Skip(place, shown(conversation.title), refused))
            continue
        messages.append(Message(conversation, "", str(number), stretch.role, words, at))
    return Record(tuple(messages), tuple(skips))


def _front_matter(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    if not lines or lines[0].strip() != "---":
        return {}, lines
    found: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 1):
        if line.strip() in ("---", "..."):
            return found, lines[number + 1 :]
        name, colon, value = line.partition(":")
        if colon and not line[:1].isspace():
            found[name.strip().lower()] = value.strip().strip("\"'")
    return {}, lines  # never closed: a rule, not front matter


def _time(file: File, front: dict[str, str], heading: str, zone: tzinfo) -> str:
    for name in ("date", "created", "created_at", "create_time"):
        if found := times.optional(front.get(name), zone):
            return found
    for text in (*front.values(), heading, PurePosixPath(file.name).stem):
        if match := _DAY.search(text):
            day = match[1] + (f"T{match[2]}" if match[2] else "")
            if found := times.optional(day, zone):
                return found
    return times.read(file.written.isoformat())


@dataclass(slots=True)
class _Stretch:
    role: Role
    line: int
    lines: list[str] = field(default_factory=list[str])


def _stretches(lines: list[str]) -> tuple[list[_Stretch], bool]:
    """The messages of a file, and whether something stands before the first."""
    found: list[_Stretch] = []
    before = False
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = None if fence else _MARK.fullmatch(line)
        if mark is not None:
            name = mark["a"] or mark["b"] or mark["c"]
            rest = mark["b_rest"] or mark["c_rest"] or ""
            found.append(_Stretch(_ROLES[name.lower()], number, [rest] if rest else []))
            continue
        fence = _fenced(line, fence)
        if found:
            found[-1].lines.append(line)
        elif line.strip() and not _HEADING.fullmatch(line):
            before = True
    if len({stretch.role for stretch in found}) < 2:
        return [_Stretch("user", 1, lines)], False
    return found, before


def _fenced(line: str, fence: str) -> str:
    """The fence a line is in afterwards, "" for none: who speaks is not looked for in code."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    return "" if match[1].startswith(fence) else fence

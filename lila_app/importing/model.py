"""What every format is read into: records, each some messages of a conversation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lila_app.errors import UsageError

Format = Literal["chatgpt", "claude", "markdown", "jsonl"]

Role = Literal["user", "assistant"]

LONGEST_MESSAGE = 1_000_000
"""Characters of a message beyond which it is named and left out: it would be no message but a
document, and what every later search looks through. As much as may be said to LILA at once."""

UNUSABLE = 'it holds bytes that are not valid UTF-8, or half a character (a "lone surrogate")'


class RecordError(UsageError):
    """A record cannot be read; its message is the reason, `lila import` names it and goes on."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a session is made from; `id` names it within its source, `at` is "" if not known.

    `file` is the part of the source it is in, where ids are only that part's own.
    """

    id: str
    title: str = ""
    at: str = ""
    file: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """What it is known by within its source."""
        return self.file, self.id


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `at` is as the store keeps times.

    `id` is "" where the source gives none: it is then known by its `place`, which counts within
    the conversation (or is the line of the file). `speaker` is "" for the person and LILA.
    """

    conversation: Conversation
    id: str
    place: str
    role: Role
    text: str
    at: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that is left out: where it is (file, line or record), of which conversation, why.

    `count` is how many messages it stands for.
    """

    where: str
    conversation: str
    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Record:
    """One line, conversation or file, read whole."""

    messages: tuple[Message, ...] = ()
    skips: tuple[Skip, ...] = ()


Records = Iterator[Record]


def key(*parts: str) -> bytes:
    """What a message or conversation is known by: 16 bytes of SHA-256 over ids and places.

    Never over words: a key outlives what is forgotten. 2^64 messages make two alike likely.
    """
    whole = "\0".join(part.replace("\0", "\0\0") for part in parts)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()[:16]


def refusal(text: str) -> str:
    """Why a text can be no message; "" when it can."""
    if not text.strip():
        return "it is empty"
    if len(text) > LONGEST_MESSAGE:
        return f"it has {len(text):,} characters and at most {LONGEST_MESSAGE:,} are read"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return UNUSABLE
    return ""

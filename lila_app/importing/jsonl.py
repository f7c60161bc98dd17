"""JSONL: one message a line.

`{"id", "session", "at", "role" or "speaker", "text"}`: `role` is "user" or "assistant", and an
assistant's line answers the user's before it in its session; `speaker` is anybody's name, and makes
a turn of the line ("me", "user" and "assistant" are the two roles). `id` is kept as external id;
it is the file's own (`--source` gives files of other names the same ids). A line without one is
known by its number, so lines may be added at the end only. Without `session` the file is one.
`title` may name the session.
`at` is ISO 8601 with a zone or a Unix time; a time without a zone is refused, as a machine wrote
it and only a person can say what it meant (`--zone`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import PurePosixPath
from typing import Protocol

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
from lila_app.importing.values import Json, identifier, mapping, shown, text

LONGEST_LINE = 8_000_000
"""Bytes of a line: a message of a million characters of four bytes each, and as much around it."""

_ROLES: dict[str, Role] = {
    "user": "user", "human": "user", "assistant": "assistant", "model": "assistant",
}  # fmt: skip

_PERSON = frozenset({"me", "user"})
"""What a `speaker` who is the person is called."""


class Lines(Protocol):
    """A stream of bytes that reads lines."""

    def readline(self, size: int, /) -> bytes:
        """At most `size` bytes of a line with its end, none at the end."""
        ...


def records(
    stream: Lines, name: str, zone: tzinfo | None = None, *, one_of_many: bool = False
) -> Iterator[Record]:
    """One record a line; blank lines are records without anything, so that they count.

    As `one_of_many` files of a folder it has sessions and ids of its own.
    """
    number = 0
    whole = PurePosixPath(name).stem
    while line := stream.readline(LONGEST_LINE):
        number += 1
        where = f"{name}: line {number}"
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            _pass_over(stream)
            reason = f"the line has more than {LONGEST_LINE:,} bytes"
            yield Record(skips=(Skip(where, "", reason),))
        elif not line.strip():
            yield Record()
        else:
            place = _Place(where, number, whole, name if one_of_many else "")
            yield _record(line, place, zone)


@dataclass(frozen=True, slots=True)
class _Place:
    where: str
    number: int
    whole: str
    """What the file is called when it is one session."""
    file: str
    """Its name where it is one of many."""


def _pass_over(stream: Lines) -> None:
    while (rest := stream.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass


def _record(line: bytes, place: _Place, zone: tzinfo | None) -> Record:
    conversation = ""
    try:
        body = parsed(line)
        conversation = shown(identifier(body.get("session")))
        return Record((_message(body, place, zone),))
    except RecordError as error:
        return Record(skips=(Skip(place.where, conversation, error.message),))


def parsed(line: bytes) -> Json:
    """The object a line is. Raises `RecordError`."""
    try:
        value: object = json.loads(line.decode("utf-8-sig", "surrogateescape"))
    except json.JSONDecodeError as error:
        raise RecordError(f"it is no JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise RecordError("it is nested too deeply") from None
    except ValueError as error:  # a number with thousands of digits
        raise RecordError(f"it is no JSON: {error}") from None
    body = mapping(value)
    if not body:
        raise RecordError("it is no JSON object with anything in it")
    return body


def _message(body: Json, place: _Place, zone: tzinfo | None) -> Message:
    role, speaker = _who(body)
    words = body.get("text", body.get("content"))
    if not isinstance(words, str):
        raise RecordError("it has no text")
    refused = refusal(words) or (refusal(speaker) if speaker else "")
    if refused:
        raise RecordError(refused)
    session = identifier(body.get("session")) or place.whole
    title = text(body.get("title"))
    if any(refusal(name) for name in (session, title or "-", identifier(body.get("id")) or "-")):
        raise RecordError("its session, title or id cannot be stored as text")
    at = times.read(body.get("at"), zone)
    return Message(
        Conversation(session, title, file=place.file),
        identifier(body.get("id")),
        f"line {place.number}",
        role,
        words,
        at,
        speaker,
    )


def _who(body: Json) -> tuple[Role, str]:
    role, speaker = text(body.get("role")), text(body.get("speaker")).strip()
    if speaker.lower() in _PERSON:
        return "user", ""
    if speaker.lower() == "assistant":
        return "assistant", ""
    if speaker:
        return "user", speaker
    if role.lower() in _ROLES:
        return _ROLES[role.lower()], ""
    if role:
        raise RecordError(f"the role {shown(role, 20)!r} is neither user nor assistant")
    raise RecordError("it has neither role nor speaker")

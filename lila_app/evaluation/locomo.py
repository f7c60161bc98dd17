"""Conversations with labelled questions, read from a file in the form of LoCoMo.

A list of conversations: `sample_id`; `conversation` with `session_N_date_time` and `session_N`, a
list of messages {`dia_id`, `speaker`, `text`, `blip_caption`?}; `qa`, a list of {`question`,
`category`, `evidence` as ids of messages, `evidence_corrected`?}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from lila_app.errors import UsageError

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The categories with evidence to be found; 5 asks for what was never said."""

_TIME = "%I:%M %p on %d %B, %Y"
_SESSION = re.compile(r"session_(\d+)")
_ID = re.compile(r"D\d+:\d+")

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session; `at` is ISO 8601, `text` as it is searched, caption included."""

    id: str
    session: int
    at: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the ids of the messages that answer it, as labelled and as corrected."""

    text: str
    category: int
    evidence: frozenset[str]
    corrected: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in the order they were said, and the questions about them that have evidence."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Asked, ...]


def load(path: Path) -> tuple[Conversation, ...]:
    """Every conversation of a file. Raises UsageError naming the place of what is wrong."""
    try:
        data: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read as JSON: {error}", hint="name a file in the form of LoCoMo"
        ) from error
    return tuple(
        _conversation(f"{path}: [{place}]", one) for place, one in enumerate(_list(str(path), data))
    )


def _conversation(where: str, found: object) -> Conversation:
    table = _table(where, found)
    name = _text(where, table, "sample_id")
    place = f"{where}.conversation"
    messages = tuple(_messages(place, _table(place, table.get("conversation"))))
    known = {message.id for message in messages}
    questions = [
        _asked(f"{where}.qa[{number}]", one, known)
        for number, one in enumerate(_list(f"{where}.qa", table.get("qa")))
    ]
    kept = tuple(one for one in questions if one.category in CATEGORIES and one.evidence)
    return Conversation(name, messages, kept)


def _messages(where: str, table: Json) -> list[Message]:
    found: list[Message] = []
    numbers = sorted(int(m[1]) for key in table if (m := _SESSION.fullmatch(key)))
    for number in numbers:
        place = f"{where}.session_{number}"
        at = _time(place, _text(where, table, f"session_{number}_date_time"))
        for line, one in enumerate(_list(place, table[f"session_{number}"])):
            said = _table(f"{place}[{line}]", one)
            id, speaker, text = (
                _text(f"{place}[{line}]", said, key) for key in ("dia_id", "speaker", "text")
            )
            caption = said.get("blip_caption")
            shared = f" [shares {caption}]" if caption else ""
            found.append(Message(id, number, at, speaker, f"{text}{shared}".strip()))
    return found


def _asked(where: str, found: object, known: set[str]) -> Asked:
    table = _table(where, found)
    category = table.get("category")
    if not isinstance(category, int):
        raise _wrong(where, "category", category, "a number")
    evidence = _ids(where, table.get("evidence", []), known)
    corrected = table.get("evidence_corrected")
    return Asked(
        _text(where, table, "question"),
        category,
        evidence,
        evidence if corrected is None else _ids(where, corrected, known),
    )


def _ids(where: str, found: object, known: set[str]) -> frozenset[str]:
    """The messages named; some labels hold two ids in one text, or name what is not there."""
    named = [id for entry in _list(where, found) for id in _ID.findall(str(entry))]
    return frozenset(named) & known


def _time(where: str, text: str) -> str:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC).isoformat()
    except ValueError:
        raise _wrong(where, "date_time", text, 'a time such as "1:56 pm on 8 May, 2023"') from None


def _list(where: str, found: object) -> Sequence[object]:
    if not isinstance(found, list):
        raise _wrong(where, "", found, "a list")
    return cast("list[object]", found)


def _table(where: str, found: object) -> Json:
    if not isinstance(found, dict):
        raise _wrong(where, "", found, "a table")
    return cast(Json, found)


def _text(where: str, table: Json, key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise _wrong(where, key, value, "a text")
    return value


def _wrong(where: str, key: str, found: object, allowed: str) -> UsageError:
    shown = "nothing" if found is None else repr(found)
    place = f"{where}.{key}" if key else where
    return UsageError(
        f"{place}: found {shown[:60]}, and it must be {allowed}",
        hint="the form is that of LoCoMo's locomo10.json",
    )

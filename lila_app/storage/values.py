"""Ids and times in the one form the store keeps them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lila_app.errors import NotFoundError, UsageError

_ID = re.compile(r"([a-z])(\d{1,18})(?:\.(\d{1,18}))?")


def number(id: str, letter: str) -> int:
    """The row number of an id such as "m5"; any other shape is an id that does not exist."""
    match = _ID.fullmatch(id)
    if match is None or match[1] != letter or match[3] is not None:
        raise NotFoundError(
            f"there is nothing with the id {id!r}", hint=f"ids of this kind look like {letter}12"
        )
    return int(match[2])


def pair(id: str, letter: str) -> tuple[int, int]:
    """The two numbers of an id such as "d4.12"."""
    match = _ID.fullmatch(id)
    if match is None or match[1] != letter or match[3] is None:
        raise NotFoundError(
            f"there is nothing with the id {id!r}", hint=f"ids of this kind look like {letter}4.12"
        )
    return int(match[2]), int(match[3])


def optional_number(id: str | None, letter: str) -> int | None:
    """`number`, with None passed through."""
    return None if id is None else number(id, letter)


def optional_id(letter: str, value: int | None) -> str | None:
    """The id of a row number, with None passed through."""
    return None if value is None else f"{letter}{value}"


def sort_key(id: str) -> tuple[str, int, int]:
    """Orders ids by letter, then numerically: "m9" before "m10"."""
    match = _ID.fullmatch(id)
    if match is None:
        return id, 0, 0
    return match[1], int(match[2]), int(match[3] or 0)


def instant(text: str) -> str:
    """An ISO 8601 time with zone, as the store keeps it: UTC, whole seconds, `+00:00`.

    A time without a zone is refused, because guessing one would change what "latest" means.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a time LILA understands",
            hint="write it like 2026-11-30T11:58:33+00:00",
        ) from None
    if moment.tzinfo is None:
        raise UsageError(
            f"the time {text!r} has no zone", hint=f"add one, for example {text}+00:00 or {text}Z"
        )
    return moment.astimezone(UTC).replace(microsecond=0).isoformat()


def storable(text: str) -> str:
    """The text itself, once it is known that it can be written as UTF-8.

    Lone surrogates come from bytes that were not UTF-8; storing a replacement would silently
    change the person's words.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            "the text holds bytes that are not valid UTF-8",
            hint="convert it first, for example with `iconv -t utf-8`",
        ) from None
    return text

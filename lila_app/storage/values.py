"""Ids and times in the one form the store keeps them."""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from functools import lru_cache

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


@lru_cache(maxsize=4_096)
def sort_key(id: str) -> tuple[str, int, int]:
    """Orders ids by letter, then numerically: "m9" before "m10"."""
    # By hand and not by _ID, and remembered: a question asks some six hundred times, for an id two
    # or three times.
    row, _, number = id[1:].partition(".")
    if not row.isdecimal() or not (number or "0").isdecimal():
        return id, 0, 0
    return id[0], int(row), int(number or 0)


def instant(time: str | datetime) -> str:
    """A time as the store keeps it: UTC, whole seconds, `+00:00`. Raises UsageError."""
    return moment(time).astimezone(UTC).replace(microsecond=0).isoformat()


def moment(time: str | datetime) -> datetime:
    """An ISO 8601 time with its zone. Raises UsageError.

    One without a zone is refused, because guessing it would change what "latest" means; so is one
    in the first or the last year there is, which has no place in every zone.
    """
    try:
        found = datetime.fromisoformat(time) if isinstance(time, str) else time
    except ValueError:
        raise UsageError(
            f"{time!r} is not a time LILA understands",
            hint="write it in ISO 8601 with a zone, as in 2026-11-30T08:00:00+00:00",
        ) from None
    if found.tzinfo is None:
        raise UsageError(
            f"the time {found.isoformat()} has no zone",
            hint="add one, as in 2026-11-30T08:00:00+00:00",
        )
    if not MINYEAR < found.year < MAXYEAR:
        raise UsageError(
            f"the time {found.isoformat()} is out of range",
            hint=f"take one in a year from {MINYEAR + 1} to {MAXYEAR - 1}",
        )
    return found


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

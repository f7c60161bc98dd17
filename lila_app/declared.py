"""Reading a declared table: what it may hold, and the refusal that names file, key and cure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import cast

from lila_app.context import Source
from lila_app.errors import PolicyError

Table = Mapping[str, object]


def loaded(source: Source) -> Table:
    """The table a text is. Raises `PolicyError` for what is no TOML."""
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(
            file=source.name, key="", found=f"no TOML: {error}", allowed="a TOML table"
        ) from error


def inner(source: Source, key: str, found: object) -> Table:
    """A table within the table."""
    if not isinstance(found, dict):
        raise refused(source, key, found, "a table")
    return cast(Table, found)


def number(source: Source, key: str, value: object, allowed: tuple[int, int]) -> int:
    """A whole number from the least to the most that is allowed."""
    least, most = allowed
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise refused(source, key, value, f"a number from {least:,} to {most:,}")
    return value


def only(source: Source, path: str, table: Table, allowed: Sequence[str]) -> None:
    """Refuse any key that is not one of the allowed."""
    for key in table:
        if key not in allowed:
            where = f"{path}.{key}" if path else key
            raise refused(source, where, key, f"one of {', '.join(allowed)}", shown=key)


def refused(
    source: Source, key: str, found: object, allowed: str, *, shown: str = ""
) -> PolicyError:
    """The refusal; `shown` takes the place of the value as it would be written in Python."""
    text = shown or ("nothing" if found is None else repr(found))
    return PolicyError(file=source.name, key=key, found=text, allowed=allowed)

"""Reading JSON that somebody else wrote: what is not of the kind expected counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

Table = Mapping[str, object]


def table(value: object) -> Table:
    """An object; empty when it is none."""
    return cast(Table, value) if isinstance(value, Mapping) else {}


def tables(value: object) -> list[Table]:
    """The objects of an array; what else stands in it is passed over."""
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast(Table, item) for item in items if isinstance(item, Mapping)]


def text(value: object) -> str:
    """A string; empty when it is none."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int | None:
    """A whole number; None, which is not zero, when it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None

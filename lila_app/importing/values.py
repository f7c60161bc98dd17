"""Values of JSON somebody else wrote: of the kind they should be, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

Json = Mapping[str, object]

NOTHING: Json = {}


def mapping(value: object) -> Json:
    """The object, an empty one for anything else."""
    return cast("Json", value) if isinstance(value, dict) else NOTHING


def items(value: object) -> list[object]:
    """The list, an empty one for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def text(value: object) -> str:
    """The text, "" for anything else."""
    return value if isinstance(value, str) else ""


def identifier(value: object) -> str:
    """An id, which some write as a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)


def shown(value: str, longest: int = 60) -> str:
    """A name as a message for a person may quote it: one line, no half characters."""
    line = " ".join(value.encode("utf-8", "replace").decode().split())
    return line if len(line) <= longest else line[: longest - 1] + "…"

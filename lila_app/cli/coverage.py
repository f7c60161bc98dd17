"""How far vectors are, said where something is searched before all of them are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lila_app.cli.output import note

if TYPE_CHECKING:
    from lila_app.assistant import Lila


def say_missing(lila: Lila, table: Literal["turns", "memories"]) -> None:
    """A line on stderr if some rows can be found by their words alone yet."""
    found = lila.imports.coverage(table)
    if found.missing:
        note(
            f"vectors: {found.done:,} of {found.total:,}; the others are found by their words "
            "alone until they follow (`lila import vectors` does it now)"
        )

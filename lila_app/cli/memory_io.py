"""`lila memory io`: what was read from memory and written to it."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import document, local, note, table

SHOWN_IDS = 6
"""Ids of one line; a prompt holds dozens, and `--json` has them all."""


@click.command()
@click.option("--turn", metavar="ID", help="Only what was read and written for this turn.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    metavar="N",
    help="The newest so many.",
)
@options.as_json
def io(turn: str | None, limit: int, as_json: bool) -> None:
    """Every read and write of memory: when, what, by whom, for which turn.

    A read is a prompt that held memories or relations, or a tool that returned some; a write is
    something kept, learnt, changed or erased. What was forgotten is an id and nothing more.
    """
    with opened() as lila:
        found = lila.memory_io.list(turn, limit)
    if as_json:
        document(io=found)
    elif found:
        here = zone()
        rows = [
            (
                *(local(one.at, here), one.way, one.what, one.who or "-"),
                *(_named(one.ids), one.turn or "-"),
            )
            for one in found
        ]
        table(("at", "", "what", "who", "ids", "turn"), rows)
    else:
        note("nothing was read from memory or written to it yet")


def _named(ids: tuple[str, ...]) -> str:
    shown = ", ".join(ids[:SHOWN_IDS])
    return f"{shown} and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else shown or "-"

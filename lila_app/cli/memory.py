"""`lila memory`: what LILA knows about the person."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from lila_app.cli import memory_changes, memory_io, memory_why, options
from lila_app.cli.coverage import say_missing
from lila_app.cli.erasing import confirm, report_erased
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.errors import NotFoundError

if TYPE_CHECKING:
    from lila_app.assistant import Lila


as_of_then = click.option(
    "--as-of",
    "as_of",
    type=options.Then(),
    metavar="DATE",
    help="Only what LILA believed at the end of that day, or at a time.",
)


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def memory() -> None:
    """What LILA knows about you: add, list, search, explain, correct and forget it.

    A fact is recalled when it fits the question; a core memory is part of every conversation. What
    you say is looked through for facts; `candidates` shows what has not earned its place yet.
    """


for command in (*memory_changes.COMMANDS, *memory_why.COMMANDS, memory_io.io):
    memory.add_command(command)


@memory.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--core", is_flag=True, help="Make it part of every conversation.")
@click.option("--pinned", is_flag=True, help="Never let it be crowded out.")
@options.at_now
@options.as_json
def add(
    text: tuple[str, ...], core: bool, pinned: bool, now: datetime | None, as_json: bool
) -> None:
    """Let LILA remember something."""
    with opened() as lila:
        kind = "core" if core else "fact"
        made = lila.memory.keep(" ".join(text), kind=kind, pinned=pinned, now=now)
    if as_json:
        document(memory=made.memory, already=made.already)
    elif made.already:
        answer(f"kept already, as {made.memory.id}: {made.memory.text}")
    else:
        answer(made.memory.id)


@memory.command("list")
@click.option("--kind", type=click.Choice(["fact", "core"]), help="Only these.")
@as_of_then
@options.at_most(None)
@options.as_json
def list_memories(kind: str | None, as_of: str | None, limit: int | None, as_json: bool) -> None:
    """List memories; with --as-of what LILA believed then."""
    with opened() as lila:
        found = lila.memory.list(kind=kind, limit=limit, as_of=as_of)
    if as_json:
        document(memories=found)
        return
    here = zone()
    rows = [
        (
            m.id,
            m.kind,
            "pinned" if m.pinned else "",
            "" if m.status == "current" else m.status,
            local(m.at, here),
            m.superseded_by or "",
            m.text,
        )
        for m in found
    ]
    if rows:
        table(("id", "kind", "", "state", "since", "replaced by", "memory"), rows)
    elif as_of is not None:
        note(f"LILA remembered nothing yet on {as_of.replace('T', ' at ')}")
    else:
        note("there is no memory yet; `lila memory add TEXT` makes one")


@memory.command()
@click.argument("query", nargs=-1, required=True)
@as_of_then
@options.at_most(10)
@options.at_now
@options.as_json
def search(
    query: tuple[str, ...], as_of: str | None, limit: int, now: datetime | None, as_json: bool
) -> None:
    """Search memories, best match first."""
    with opened() as lila:
        hits = lila.memory.search(" ".join(query), limit=limit, now=now, as_of=as_of)
        say_missing(lila, "memories")
    if as_json:
        document(hits=hits)
    elif hits:
        table(("id", "score", "memory"), [(h.memory.id, h.score, h.memory.text) for h in hits])
    else:
        note("nothing was found")


@memory.command()
@click.argument("id", metavar="ID")
@options.without_asking
@options.as_json
def forget(id: str, yes: bool, as_json: bool) -> None:
    """Erase a memory (m12) or fact (f12) everywhere.

    It goes from the store, the search index, the graph, summaries, the words it was said in, and
    records and replies made with it.
    """
    with opened() as lila:
        confirm(f"Forget {id} for good: {_told(lila, id)}?", yes=yes)
        report = lila.memory.forget(id)
    report_erased(report, as_json=as_json)


def _told(lila: Lila, id: str) -> str:
    """What would be forgotten. Raises NotFoundError."""
    if id[:1] == "f":
        return lila.memory.why(id).facts[0].text
    known = [one for one in lila.memory.list() if one.id == id]
    if not known:
        raise NotFoundError(f"there is no memory {id}", hint="`lila memory list` shows them")
    return known[0].text

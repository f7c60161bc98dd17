"""`lila memory`: what LILA knows about the person."""

from __future__ import annotations

from datetime import datetime

import click

from lila_app.cli import options
from lila_app.cli.erasing import confirm, report_erased
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.errors import NotFoundError


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def memory() -> None:
    """Add, list, search and forget memories.

    A fact is recalled when it fits the question; a core memory is part of every conversation.
    """


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
        made = lila.memory.add(" ".join(text), kind=kind, pinned=pinned, now=now)
    if as_json:
        document(memory=made)
    else:
        answer(made.id)


@memory.command("list")
@click.option("--kind", type=click.Choice(["fact", "core"]), help="Only these.")
@options.at_most(None)
@options.as_json
def list_memories(kind: str | None, limit: int | None, as_json: bool) -> None:
    """List memories."""
    with opened() as lila:
        found = lila.memory.list(kind=kind, limit=limit)
    if as_json:
        document(memories=found)
        return
    here = zone()
    rows = [
        (
            m.id,
            m.kind,
            "pinned" if m.pinned else "",
            local(m.at, here),
            m.superseded_by or "",
            m.text,
        )
        for m in found
    ]
    if rows:
        table(("id", "kind", "", "since", "replaced by", "memory"), rows)
    else:
        note("there is no memory yet; `lila memory add TEXT` makes one")


@memory.command()
@click.argument("query", nargs=-1, required=True)
@options.at_most(10)
@options.at_now
@options.as_json
def search(query: tuple[str, ...], limit: int, now: datetime | None, as_json: bool) -> None:
    """Search memories, best match first."""
    with opened() as lila:
        hits = lila.memory.search(" ".join(query), limit=limit, now=now)
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
    """Erase a memory everywhere: the store, the search index, records and replies made with it."""
    with opened() as lila:
        known = [m for m in lila.memory.list() if m.id == id]
        if not known:
            raise NotFoundError(f"there is no memory {id}", hint="`lila memory list` shows them")
        confirm(f"Forget {id} for good: {known[0].text}?", yes=yes)
        report = lila.memory.forget(id)
    report_erased(report, as_json=as_json)

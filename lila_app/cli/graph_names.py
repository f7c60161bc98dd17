"""The commands of `lila graph` that say who is who."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table


@click.command()
@click.argument("entity")
@click.argument("name")
@options.as_json
def alias(entity: str, name: str, as_json: bool) -> None:
    """Say that ENTITY also goes by NAME."""
    with opened() as lila:
        made = lila.graph.alias(entity, name)
    if as_json:
        document(entity=made)
    else:
        note(f"{made.name} also goes by {', '.join(made.aliases)}")


@click.command()
@click.argument("entity", nargs=-1)
@options.as_json
def aliases(entity: tuple[str, ...], as_json: bool) -> None:
    """List people and things with their other names, and which were merged."""
    with opened() as lila:
        found = lila.graph.aliases(" ".join(entity) or None)
        merged = () if entity else lila.graph.merged()
        here = zone()
    if as_json:
        document(entities=found, merges=merged)
        return
    rows = [(one.id, one.name, ", ".join(one.aliases), one.relations) for one in found]
    table(("id", "name", "also", "relations"), rows)
    if merged:
        answer("")
        taken = [(one.id, one.gone, one.kept, one.why, local(one.at, here)) for one in merged]
        table(("merge", "name", "taken for", "why", "at"), taken)


@click.command()
@click.argument("kept", metavar="A")
@click.argument("gone", metavar="B")
@options.as_json
def merge(kept: str, gone: str, as_json: bool) -> None:
    """Take B for A: one person or thing with both names."""
    with opened() as lila:
        made = lila.graph.merge(kept, gone)
    if as_json:
        document(merge=made)
        return
    answer(made.id)
    note(f"{made.gone} is {made.kept} now; `lila graph unmerge {made.id}` takes it back")


@click.command()
@click.argument("id", metavar="ID")
@options.as_json
def unmerge(id: str, as_json: bool) -> None:
    """Take a merge back: each gets again what was said of it before."""
    with opened() as lila:
        parted = lila.graph.unmerge(id)
    if as_json:
        document(parted=parted)
        return
    answer(f"{parted.kept.name} and {parted.gone.name} are two again")
    if parted.later:
        note(
            f"learnt in between, so still {parted.kept.name}'s: {', '.join(parted.later)} "
            f"(`lila graph split` gives some of them to {parted.gone.name})"
        )


@click.command()
@click.argument("entity")
@click.argument("name")
@click.argument("relations", nargs=-1, metavar="[RELATION]...")
@options.as_json
def split(entity: str, name: str, relations: tuple[str, ...], as_json: bool) -> None:
    """Tell two of one name apart, as in: lila graph split Alex "Alex (work)" r4 r7.

    The relations named go to the second one, all others stay with the first.
    """
    with opened() as lila:
        made = lila.graph.split(entity, name, relations)
    if as_json:
        document(entity=made)
    else:
        answer(made.id)


@click.command()
@options.at_most(50)
@options.as_json
def suggest(limit: int | None, as_json: bool) -> None:
    """List people and things that may be one, and why; nothing is merged."""
    with opened() as lila:
        found = lila.graph.suggest()[:limit]
    if as_json:
        document(suggestions=found)
    elif found:
        rows = [(one.kept_name, one.kept, one.gone_name, one.gone, one.reason) for one in found]
        table(("name", "id", "may be", "id", "because"), rows)
        note("`lila graph merge A B` makes two of them one; `lila graph unmerge` takes it back")
    else:
        note("nothing looks like two names of one")


COMMANDS = (alias, aliases, merge, unmerge, split, suggest)

"""`lila graph`: how people and things are related. Who is who is in `graph_names`."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import click

from lila_app.cli import graph_names, options
from lila_app.cli.erasing import confirm, report_erased
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.errors import NotFoundError
from lila_app.views import RelationInfo
from lila_app.views.graph import relation_words


@click.group()
def graph() -> None:
    """Add relations and follow them."""


@graph.command()
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@click.option(
    "--from", "since", type=options.ValidityEnd(), metavar="DATE", help="Holds from here."
)
@click.option("--to", "until", type=options.ValidityEnd(), metavar="DATE", help="Holds up to here.")
@options.as_json
def add(
    subject: str, predicate: str, object: str, since: str | None, until: str | None, as_json: bool
) -> None:
    """Add a relation, as in: lila graph add Ana "works at" "Blue Harbor" --from 2024-03-01."""
    with opened() as lila:
        made = lila.graph.add(subject, predicate, object, valid_from=since, valid_to=until)
    if as_json:
        document(relation=made)
    else:
        answer(made.id)


@graph.command("list")
@options.at_most(None)
@options.as_json
def list_relations(limit: int | None, as_json: bool) -> None:
    """List relations, those that are over too."""
    with opened() as lila:
        found = lila.graph.list(limit=limit)
    _print(found, as_json=as_json, nothing="no relations yet; `lila graph add` makes one")


@graph.command()
@click.argument("entity", nargs=-1, required=True)
@click.option(
    "--as-of", type=options.Then(), metavar="DATE", help="What LILA believed on that day."
)
@options.at_now
@options.as_json
def show(entity: tuple[str, ...], as_of: str | None, now: datetime | None, as_json: bool) -> None:
    """Show the relations of one person or thing that hold now.

    A name that several have shows those of each.
    """
    name = " ".join(entity)
    with opened() as lila:
        found = lila.graph.show(name, now=now, as_of=as_of)
        meant = lila.graph.aliases(name)
    _print(found, as_json=as_json, nothing=f"nothing is known about {name} at that time")
    if len(meant) > 1:
        note(f"{name} can mean {', '.join(f'{one.name} ({one.id})' for one in meant)}")


@graph.command()
@click.argument("id", metavar="ID")
@options.without_asking
@options.as_json
def remove(id: str, yes: bool, as_json: bool) -> None:
    """Forget a relation and every trace of it."""
    with opened() as lila:
        known = [one for one in lila.graph.list() if one.id == id]
        if not known:
            raise NotFoundError(f"there is no relation {id}", hint="`lila graph list` shows them")
        told = f"{known[0].subject} {relation_words(known[0].predicate)} {known[0].object}"
        confirm(f"Forget {id} for good: {told}?", yes=yes)
        report = lila.graph.forget(id)
    report_erased(report, as_json=as_json)


@graph.command()
@click.argument("start", metavar="A")
@click.argument("end", metavar="B")
@options.at_now
@options.as_json
def path(start: str, end: str, now: datetime | None, as_json: bool) -> None:
    """Show the shortest path of relations between A and B."""
    with opened() as lila:
        found = lila.graph.path(start, end, now=now)
    _print(found, as_json=as_json, nothing=f"no path leads from {start} to {end}")


for command in graph_names.COMMANDS:
    graph.add_command(command)


def _print(found: tuple[RelationInfo, ...], *, as_json: bool, nothing: str) -> None:
    if as_json:
        document(relations=found)
    elif found:
        here = zone()
        rows = [
            (
                *(", ".join((r.id, *r.also)), r.subject, relation_words(r.predicate), r.object),
                *(_end(r.valid_from, here), _end(r.valid_to, here)),
                *("" if r.status == "current" else r.status, r.source),
            )
            for r in found
        ]
        columns = ("id", "subject", "relation", "object", "from", "to", "status", "source")
        table(columns, rows)
    else:
        note(nothing)


def _end(moment: str | None, zone: ZoneInfo) -> str:
    """One end of the interval; a day without a time is shown as the day."""
    if moment is None or moment.endswith("T00:00:00+00:00"):
        return (moment or "")[:10]
    return local(moment, zone)

"""`lila graph`: how people and things are related."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import click

from lila_app.cli import options
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, table
from lila_app.views import RelationInfo


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


@graph.command()
@click.argument("entity", nargs=-1, required=True)
@options.at_now
@options.as_json
def show(entity: tuple[str, ...], now: datetime | None, as_json: bool) -> None:
    """Show the relations of one person or thing."""
    with opened() as lila:
        found = lila.graph.show(" ".join(entity), now=now)
    _print(found, as_json=as_json, nothing=f"nothing is known about {' '.join(entity)}")


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


def _print(found: tuple[RelationInfo, ...], *, as_json: bool, nothing: str) -> None:
    if as_json:
        document(relations=found)
    elif found:
        here = zone()
        rows = [
            (
                *(r.id, r.subject, r.predicate, r.object),
                *(_end(r.valid_from, here), _end(r.valid_to, here)),
            )
            for r in found
        ]
        table(("id", "subject", "relation", "object", "from", "to"), rows)
    else:
        note(nothing)


def _end(moment: str | None, zone: ZoneInfo) -> str:
    """One end of the interval; the beginning of a day is shown as the day."""
    return local(moment, zone).removesuffix(" 00:00") if moment else ""

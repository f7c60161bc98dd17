"""`lila context`: what the model saw."""

from __future__ import annotations

from datetime import datetime

import click

from lila_app.cli import options
from lila_app.cli.context_table import print_calls, print_citations, print_record
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document
from lila_app.cli.pick import named

_of_session = click.option("--session", metavar="ID", help="The latest record of this session.")
_at_time = click.option(
    "--at", type=options.ZonedTime(), metavar="TIME", help="The latest record at this time."
)


@click.group(cls=NounGroup, default="show", default_if_no_args=True)
def context() -> None:
    """See what the model saw, replay it, compare it.

    ID is a record such as c41, or `last`.
    """


@context.command()
@click.argument("id", default="last", metavar="[ID]")
@_of_session
@_at_time
@options.as_json
def show(id: str, session: str | None, at: datetime | None, as_json: bool) -> None:
    """Show one record: what each layer was granted, used and gave back, and what was dropped."""
    with opened() as lila:
        record = lila.contexts.show(id, session=named(lila, session), at=at)
        calls = lila.contexts.calls(record["meta"]["record_id"])
        citations = lila.contexts.citations(record["meta"]["record_id"])
    if as_json:
        document(**record, calls=calls, citations=citations)
    else:
        print_record(record, zone())
        print_calls(calls)
        print_citations(citations)


@context.command()
@click.argument("id", default="last", metavar="[ID]")
@_of_session
@_at_time
@options.as_json
def replay(id: str, session: str | None, at: datetime | None, as_json: bool) -> None:
    """Assemble a recorded turn again and compare the bytes; exits 1 unless they are identical."""
    with opened() as lila:
        outcome = lila.contexts.replay(id, session=named(lila, session), at=at)
    identical = outcome.status == "identical"
    if as_json:
        document(
            record_id=outcome.record_id,
            status=outcome.status,
            reason=outcome.reason,
            differences=outcome.differences,
        )
    else:
        answer(f"{outcome.status}{': ' if outcome.reason else ''}{outcome.reason}")
        for difference in outcome.differences:
            answer(f"  {difference}")
    if not identical:
        click.get_current_context().exit(1)


@context.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@options.as_json
def diff(a: str, b: str, as_json: bool) -> None:
    """Say what changed between two records."""
    with opened() as lila:
        found = lila.contexts.diff(a, b)
    if as_json:
        document(a=found.a, b=found.b, lines=found.lines)
    else:
        answer("\n".join(found.lines) or "nothing changed")

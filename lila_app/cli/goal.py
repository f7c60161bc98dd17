"""`lila goal`: what LILA keeps in view."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, note, table
from lila_app.cli.pick import named

_for_session = click.option(
    "--session", metavar="ID", help="For this session (or `last`) only; for all by default."
)


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def goal() -> None:
    """Set, list and finish goals LILA keeps in view."""


@goal.command("set")
@click.argument("text", nargs=-1, required=True)
@_for_session
@options.as_json
def set_goal(text: tuple[str, ...], session: str | None, as_json: bool) -> None:
    """Pin a goal: it is in front of the model on every turn until it is done."""
    with opened() as lila:
        made = lila.goals.set(" ".join(text), session=named(lila, session))
    if as_json:
        document(goal=made)
    else:
        answer(made.id)


@goal.command("list")
@_for_session
@click.option("--all", "everything", is_flag=True, help="Also those that are done.")
@options.as_json
def list_goals(session: str | None, everything: bool, as_json: bool) -> None:
    """List goals."""
    with opened() as lila:
        found = lila.goals.list(session=named(lila, session), include_done=everything)
    if as_json:
        document(goals=found)
    elif found:
        rows = [(g.id, g.status, g.session_id or "all", g.text) for g in found]
        table(("id", "status", "session", "goal"), rows)
    else:
        note("there is no goal; `lila goal set TEXT` pins one")


@goal.command()
@click.argument("id", metavar="ID")
@options.as_json
def done(id: str, as_json: bool) -> None:
    """Finish a goal."""
    with opened() as lila:
        finished = lila.goals.done(id)
    if as_json:
        document(goal=finished)
    else:
        answer(f"{finished.id} is done")

"""`lila policy`: the tables that decide what the model sees."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import home, opened
from lila_app.cli.output import answer, document, note
from lila_app.cli.policy_table import print_boundaries, print_policy
from lila_app.paths import shipped


@click.group(cls=NounGroup, default="show", default_if_no_args=True)
def policy() -> None:
    """Show and check the tables that decide what the model sees."""


@policy.command()
@click.argument("use_case", required=False)
@options.as_json
def show(use_case: str | None, as_json: bool) -> None:
    """Show the policy in force, for one use case or all."""
    with opened() as lila:
        found = lila.policy.show(use_case)
    if as_json:
        document(policy=found)
    else:
        print_policy(found)


@policy.command()
@options.as_json
def check(as_json: bool) -> None:
    """Check every table, yours and the shipped ones; a wrong one is named with its key.

    Lists the places where a model's answer feeds code, with what is checked there.
    """
    with opened() as lila:
        concerns = lila.policy.check()
        boundaries = lila.policy.boundaries()
    if as_json:
        document(ok=True, concerns=concerns, boundaries=boundaries)
        return
    print_boundaries(boundaries)
    for concern in concerns:
        answer(concern)
    answer("the tables can be used as they are" if concerns else "the tables are in order")


@policy.command()
@options.as_json
def path(as_json: bool) -> None:
    """Show the folder for your own tables, and the one with those they replace."""
    own, original = home().policies_dir, shipped("policies")
    if as_json:
        document(own=own, shipped=original)
    else:
        answer(f"{own}\n{original}")
        note("the first is yours and is laid over the second, which LILA came with")

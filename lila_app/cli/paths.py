"""`lila paths`: where everything lives."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.opening import home, profile
from lila_app.cli.output import answer, document, table


def print_store(as_json: bool) -> None:
    """The file that holds everything of the profile."""
    store = home().profile_db(profile())
    if as_json:
        document(path=store)
    else:
        answer(str(store))


@click.command()
@options.as_json
def paths(as_json: bool) -> None:
    """Show where everything lives; edit persona.md to say who LILA is for you."""
    places = home().listing(profile())
    if as_json:
        document(paths=places)
    else:
        table(("what", "where"), list(places.items()))

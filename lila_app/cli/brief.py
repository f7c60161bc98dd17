"""`lila brief`: what the briefing policy retrieves, composed by the model."""

from __future__ import annotations

from datetime import datetime

import click

from lila_app.cli import options
from lila_app.cli.first_start import have_model
from lila_app.cli.opening import opened, zone
from lila_app.cli.turns import Asked, answer_once, print_prompt
from lila_app.moments import day, resolve, system_clock


@click.command()
@options.answering
def brief(
    model: str | None, budget: int | None, now: datetime | None, dry_run: bool, as_json: bool
) -> None:
    """Have the day's briefing composed from what LILA knows.

    The briefing policy decides what is retrieved; the model writes it up and names its sources.
    """
    asked = Asked(request(resolve(now, system_clock)), "briefing", None, model, budget, now)
    with opened() as lila:
        if dry_run:
            print_prompt(lila, asked, as_json=as_json)
            return
        have_model(lila, model)
        answer_once(lila, asked, as_json=as_json)


def request(now: datetime) -> str:
    """What the model is asked: names of day and month so that dated material is found."""
    return (
        f"Brief me for today, {day(now, zone())}: appointments and deadlines, open goals and "
        "promises, and anything that changed. Only what the material says; say so if there is "
        "nothing."
    )

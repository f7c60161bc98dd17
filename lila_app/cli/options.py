"""Options and argument types several commands share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, TypeVar

import click

from lila_app.moments import resolve, system_clock

_Command = TypeVar("_Command", bound=Callable[..., Any])


class ZonedTime(click.ParamType[datetime]):
    """An ISO 8601 time that says its zone; one without would mean another moment elsewhere."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Parse `value`; `UsageError` when it is no time or has no zone."""
        del param, ctx
        return resolve(str(value), system_clock)


class ValidityEnd(click.ParamType[str]):
    """One end of a validity interval: a date, or a time with its zone."""

    name = "date"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Keep a date as it is; a time is checked for its zone."""
        del param, ctx
        text = str(value)
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            return resolve(text, system_clock).isoformat()


class Then(ValidityEnd):
    """A moment that is over: a day, or a time, which without a zone is the person's own."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Keep a day and a time without a zone as they are."""
        try:
            time = datetime.fromisoformat(str(value))
        except ValueError:
            return super().convert(value, param, ctx)
        return str(value) if time.tzinfo is None else super().convert(value, param, ctx)


as_json = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
at_now = click.option(
    "--now", type=ZonedTime(), metavar="TIME", help="Take this for the present; ISO with zone."
)
in_session = click.option(
    "--session", metavar="ID", help="The session to go on with; a new one by default."
)
about_session = click.option(
    "--session", metavar="ID", help="Which session; the latest by default."
)
go_on = click.option(
    "--continue", "-c", "go_on", is_flag=True, help="Go on with the latest session."
)
with_model = click.option(
    "--model", metavar="NAME", help="The model that answers; see `lila models list`."
)
without_asking = click.option("--yes", "-y", is_flag=True, help="Do not ask first.")


def at_most(default: int | None) -> Callable[[_Command], _Command]:
    """How many rows to show; None is all."""
    return click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=default,
        show_default=default is not None,
        metavar="N",
        help="Show at most N.",
    )


def answering(command: _Command) -> _Command:
    """The options of every command that has a model answer."""
    for option in (
        as_json,
        click.option("--dry-run", is_flag=True, help="Print the exact prompt; call no model."),
        at_now,
        click.option(
            "--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Largest prompt."
        ),
        with_model,
    ):
        command = option(command)
    return command

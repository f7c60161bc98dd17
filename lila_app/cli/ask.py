"""`lila ask`: one message, one answer."""

from __future__ import annotations

from datetime import datetime

import click

from lila_app.cli import message, options
from lila_app.cli.first_start import have_model
from lila_app.cli.opening import opened
from lila_app.cli.pick import latest, session_to_continue
from lila_app.cli.turns import Asked, answer_once, print_prompt
from lila_app.errors import UsageError


@click.command()
@click.argument("words", nargs=-1, metavar="[TEXT]... [-]")
@click.option("--use-case", default="chat", show_default=True, metavar="NAME", help="Which policy.")
@options.in_session
@options.go_on
@click.option("--retry", is_flag=True, help="Ask the last turn again that got no whole reply.")
@options.answering
def ask(
    words: tuple[str, ...],
    use_case: str,
    session: str | None,
    go_on: bool,
    retry: bool,
    model: str | None,
    budget: int | None,
    now: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Ask one thing; the answer goes to stdout.

    What is piped in is appended to TEXT; `-` reads standard input even from a terminal. Without
    --session or --continue it starts a session of its own; with --retry and neither, the latest
    session is meant.
    """
    if retry:
        if words or dry_run or now is not None or use_case != "chat":
            raise UsageError(
                "--retry asks the same thing again, as it was asked",
                hint="leave out the text, --use-case, --now and --dry-run",
            )
        with opened() as lila:
            chosen = session_to_continue(lila, session, go_on) or latest(lila)
            have_model(lila, model)
            again = Asked("", session=chosen, model=model, budget=budget, again=True)
            answer_once(lila, again, as_json=as_json)
        return
    text = message.gather(words)
    with opened() as lila:
        chosen = session_to_continue(lila, session, go_on)
        asked = Asked(text, use_case, chosen, model, budget, now)
        if dry_run:
            print_prompt(lila, asked, as_json=as_json)
            return
        have_model(lila, model)
        answer_once(lila, asked, as_json=as_json)

"""`lila chat`: the full-screen chat, or a plain one for pipes and screen readers."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from functools import partial

import click

from lila_app.cli import options
from lila_app.cli.first_start import have_model
from lila_app.cli.opening import opened, zone
from lila_app.cli.pick import session_to_continue


@click.command()
@click.option("--plain", is_flag=True, help="Lines of text: no full screen, no drawing.")
@options.in_session
@options.go_on
@options.with_model
def chat(plain: bool, session: str | None, go_on: bool, model: str | None) -> None:
    """Talk with LILA.

    Without a terminal, or with --plain, each line read is a message; a line that ends in a
    backslash goes on.
    """
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with opened() as lila:
        chosen = session_to_continue(lila, session, go_on)
        if plain or not terminal or os.environ.get("TERM") == "dumb":
            from lila_app.cli.repl import Repl

            have_model(lila, model)
            if terminal and model is None:
                lila.warm(session=chosen)
            Repl(lila, zone(), session=chosen, model=model, interactive=terminal).run()
            return
        from lila_app.tui import run
        from lila_app.tui.talking import Voice
        from lila_app.voice.opener import Opener
        from lila_app.voice.session import fetch_notice

        with closing(Opener(lila)) as opener:
            voice = Voice(opener.open, partial(fetch_notice, lila))
            code = run(lila, session=chosen, model=model, zone=zone(), voice=voice)
    click.get_current_context().exit(code)

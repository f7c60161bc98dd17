"""`lila doctor`: what this machine has and lacks."""

from __future__ import annotations

import click

from lila_app.cli import options
from lila_app.cli.opening import home, profile
from lila_app.cli.output import answer, document
from lila_app.views import Check


@click.command()
@options.as_json
def doctor(as_json: bool) -> None:
    """Check this machine and say what to do about what is missing.

    Exits 1 when something LILA needs is wrong. Sound, a keyring and other model servers are not
    needed: chat works without.
    """
    from lila_app import logs
    from lila_app.doctor import examine

    with logs.writing(home()):
        found = examine(home(), profile())
    if as_json:
        document(checks=found)
    else:
        for check in found:
            answer(f"{_mark(check)} {check.name}: {check.detail}")
            if check.hint:
                answer(f"     {check.hint}")
    if any(check.needed and not check.ok for check in found):
        click.get_current_context().exit(1)


def _mark(check: Check) -> str:
    if check.ok:
        return "ok  "
    return "FAIL" if check.needed else "note"

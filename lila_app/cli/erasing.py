"""What `forget` and `delete` have in common: asking first, and saying what is gone."""

from __future__ import annotations

import sys

import click

from lila_app.cli.output import answer, document, note, one_line
from lila_app.views import ForgetReport


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person at a terminal; a script has decided already."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    click.confirm(one_line(question), abort=True, err=True)


def report_erased(report: ForgetReport, *, as_json: bool) -> None:
    """Say what was erased, and name the backups that still hold it."""
    if as_json:
        document(
            erased=report.erased,
            records=report.records,
            turns=report.turns,
            backups=report.backups,
            remaining=report.remaining,
        )
    else:
        answer(f"erased {', '.join(report.erased) or 'nothing'}")
        if report.records:
            note(f"records that held it can no longer be replayed: {', '.join(report.records)}")
        if report.turns:
            note(f"words or answers that repeated it were erased in: {', '.join(report.turns)}")
    if report.remaining:
        note(
            "these say or mention it on their own and were left (`lila sessions delete`, "
            f"`lila memory forget`): {', '.join(report.remaining)}"
        )
    for backup in report.backups:
        note(f"this backup still holds it; delete it yourself: {backup}")

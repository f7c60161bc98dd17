"""`lila ingest`: documents in."""

from __future__ import annotations

from pathlib import Path

import click

from lila_app.cli import options
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, note
from lila_app.cli.progress import progress
from lila_app.errors import Cancelled, DocumentError
from lila_app.views import IngestReport


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@options.as_json
def ingest(paths: tuple[Path, ...], as_json: bool) -> None:
    """Let LILA read files and folders: Markdown, text, PDF, HTML, DOCX.

    Reading a folder again takes only what changed and drops what is gone. A file that cannot be
    read is named and the rest is done.
    """
    with opened() as lila, progress("reading") as report:
        try:
            outcome = lila.documents.ingest(paths, report)
        except KeyboardInterrupt as stop:
            raise Cancelled(
                "stopped", hint="what was read by now stays; run it again for the rest"
            ) from stop
    for problem in outcome.problems:
        note(f"{problem.path}: {problem.reason}")
    if as_json:
        document(
            added=outcome.added,
            changed=outcome.changed,
            unchanged=outcome.unchanged,
            removed=outcome.removed,
            chunks=outcome.chunks,
            problems=outcome.problems,
        )
    else:
        answer(_sentence(outcome))
    done = outcome.added + outcome.changed + outcome.unchanged + outcome.removed
    if outcome.problems and not done:
        raise DocumentError("nothing could be read", hint="the lines above say why for each file")


def _sentence(outcome: IngestReport) -> str:
    return (
        f"{outcome.added} added, {outcome.changed} changed, {outcome.unchanged} unchanged, "
        f"{outcome.removed} removed; {outcome.chunks} passages"
    )

"""`lila db`: the store as a file."""

from __future__ import annotations

from pathlib import Path

import click

from lila_app.cli import options
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, profile
from lila_app.cli.output import answer, document, table
from lila_app.cli.paths import print_store
from lila_app.cli.progress import progress
from lila_app.errors import DamagedStoreError


@click.group(cls=NounGroup, default="check", default_if_no_args=True)
def db() -> None:
    """Check, back up, export and restore the store."""


@db.command()
@options.as_json
def check(as_json: bool) -> None:
    """Check the event chain, foreign keys, and search rows against their tables."""
    with opened() as lila:
        report = lila.db.check()
    if as_json:
        document(problems=report.problems, counts=dict(report.counts), pending=report.pending)
    else:
        for problem in report.problems:
            answer(f"{problem.kind}: {problem.where}: {problem.detail}")
        table(("rows", "table"), [(count, name) for name, count in report.counts])
        if report.pending:
            answer(f"{report.pending} vectors are still to be computed")
    if report.problems:
        raise DamagedStoreError(
            f"the check found {len(report.problems)} problems",
            hint="restore a backup with `lila db restore FILE`",
        )
    if not as_json:
        answer("clean")


@db.command()
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
def backup(file: Path, as_json: bool) -> None:
    """Write a whole copy of the store to FILE, also while LILA is in use."""
    with opened() as lila:
        made = lila.db.backup(file)
    if as_json:
        document(path=made)
    else:
        answer(str(made))


@db.command()
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
def restore(file: Path, as_json: bool) -> None:
    """Put the store in FILE in place of the present one, which is kept beside it."""
    from lila_app.assistant import restore as put_back

    # Not through an open assistant: the store it would open may be what has to be replaced.
    kept = put_back(file, profile=profile())
    old = kept if kept.exists() else None
    if as_json:
        document(restored=file, kept=old)
    else:
        answer(f"restored {file}" + (f"; what was there is kept at {old}" if old else ""))


@db.command()
@click.argument("place", type=click.Path(path_type=Path), metavar="FOLDER")
@options.as_json
def export(place: Path, as_json: bool) -> None:
    """Write everything in open formats to a new FOLDER (or FILE.zip).

    `lila import FOLDER` puts it back into an empty profile; messages.jsonl in it holds what was
    said. No key is in it. It is as private as the store.
    """
    with opened() as lila, progress("exporting") as bar:
        made = lila.db.export(place, progress=bar)
    if as_json:
        document(path=made.path, rows=dict(made.rows))
    else:
        table(("rows", "file"), [(count, name) for name, count in made.rows if count])
        answer(made.path)


@db.command()
@options.as_json
def path(as_json: bool) -> None:
    """Show the store's file."""
    print_store(as_json)

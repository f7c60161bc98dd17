"""`lila import`: conversations from elsewhere in."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click
from click_default_group import DefaultGroup

from lila_app.cli import options
from lila_app.cli.opening import home, opened, profile, zone
from lila_app.cli.output import answer, document, local, note, one_line, table
from lila_app.cli.progress import progress
from lila_app.errors import Cancelled, UsageError

if TYPE_CHECKING:
    from lila_app.assistant import Lila
    from lila_app.views.importing import ImportReport, RestoreReport, SkipInfo

SHOWN = 20
"""Skipped records that are printed; `--report` names them all."""

_LEARN = "lila memory learn"

FORMATS = ("chatgpt", "claude", "markdown", "jsonl")


@click.group("import", cls=DefaultGroup, default="files", invoke_without_command=False)
def import_() -> None:
    """Bring in conversations from ChatGPT, Claude, Markdown or JSONL: `lila import PATH...`.

    PATH is a data export (the zip, its folder or conversations.json), a folder or file of Markdown
    or JSONL, or what `lila db export` wrote. Importing again adds what is new and nothing twice.
    `lila import files --help` lists the options.
    """


@import_.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option("--format", "kind", type=click.Choice(FORMATS), help="Found out by looking else.")
@click.option("--dry-run", is_flag=True, help="Count what would be imported; write nothing.")
@click.option("--no-learn", is_flag=True, help="Keep it for searching; learn no facts from it.")
@click.option("--source", default="", metavar="NAME", help="Whose ids they are (JSONL, Markdown).")
@click.option(
    "--zone", "assumed", metavar="ZONE", help="Zone of times that have none (JSONL, Claude)."
)
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Name every record that is left out in FILE, as JSONL.",
)  # fmt: skip
@options.as_json
def files(
    paths: tuple[Path, ...],
    kind: str | None,
    dry_run: bool,
    no_learn: bool,
    source: str,
    assumed: str | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Import files, zips and folders. `lila import PATH...` is short for this."""
    from functools import partial

    read_in = None if assumed is None else _zone(assumed)
    done: list[ImportReport | RestoreReport] = []
    following = ""
    with _named(report) as named:
        chosen = {"kind": kind, "source": source, "zone": read_in, "named": named}
        if dry_run:
            from lila_app.facade.importing import is_export, rehearse, rehearse_restore

            with progress("counting", size=True) as bar:
                work = partial(rehearse, home(), profile(), progress=bar, **chosen)
                done = [rehearse_restore(path) if is_export(path) else work(path) for path in paths]
        else:
            with opened() as lila, progress("importing", size=True) as bar:
                done = [
                    _one(lila, path, partial(lila.imports.run, learn=not no_learn, **chosen), bar)
                    for path in paths
                ]
                following = _following(lila)
    if as_json:
        document(dry_run=dry_run, imports=done)
    else:
        for one in done:
            _say(one, dry_run)
    if following:
        note(following)


def _following(lila: Lila) -> str:
    """What the background does after an import, and what does it now; "" where all is done."""
    left = lila.imports.following()
    both = (("vectors", "lila import vectors", left.vectors), ("learning", _LEARN, left.turns))
    found = [(what, command) for what, command, number in both if number]
    if not found:
        return ""
    what = " and ".join(what for what, _ in found)
    commands = " and ".join(f"`{command}`" for _, command in found)
    follows = "follow" if left.vectors else "follows"
    do = "do" if len(found) > 1 else "does"
    return f"{what} {follows} while LILA is open; {commands} {do} it now"


def _one(
    lila: Lila,
    path: Path,
    run: Callable[..., ImportReport],
    bar: Callable[[int, int, str], None],
) -> ImportReport | RestoreReport:
    from lila_app.facade.importing import is_export

    try:
        if is_export(path):
            return lila.imports.restore(path, progress=bar)
        return run(path, progress=bar)
    except KeyboardInterrupt as stop:
        raise Cancelled(
            "stopped", hint="what was imported by now stays; run it again to go on from there"
        ) from stop


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UsageError(f"{name!r} is no time zone", hint="write it as in Europe/Berlin") from None


@contextmanager
def _named(report: Path | None) -> Generator[Callable[[SkipInfo], None] | None]:
    """What is called for each record left out: it goes to the report."""
    if report is None:
        yield None
        return
    import os

    # Conversations are named in it: nobody else's business.
    descriptor = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:

        def write(skip: SkipInfo) -> None:
            file.write(json.dumps(asdict(skip), ensure_ascii=False) + "\n")

        yield write


def _say(done: ImportReport | RestoreReport, dry: bool) -> None:
    from lila_app.views.importing import RestoreReport

    if isinstance(done, RestoreReport):
        total = sum(count for _, count in done.rows)
        put = "would be put back" if dry else "put back"
        answer(f"{done.path}: an export of LILA's own, {put}: {_many(total, 'row')}")
        if done.warning:
            note(f"warning: {done.warning}")
        return
    _say_left(done)
    answer(_sentence(done, dry))


def _say_left(done: ImportReport) -> None:
    """What was left out, each once: the first ones, and all of them by reason if there are more."""
    left = [one for one in done.named if one.count][:SHOWN]
    for one in left:
        many = f" ({_many(one.count, 'message')})" if one.count > 1 else ""
        note(f"left out: {_place(one)}: {one.reason}{many}")
    more = done.skipped - sum(one.count for one in left)
    if more:
        note(f"and {more:,} more; `--report FILE` names every one. Left out are:")
        for reason, count in done.reasons:
            note(f"{count:,} × {reason}")
    besides = [one for one in done.named if not one.count]
    if sum(count for _, count in done.besides) <= SHOWN:
        for one in besides:
            note(f"not read: {_place(one)}: {one.reason}")
        return
    for reason, count in done.besides:
        note(f"not read: {count:,} × {reason}")


def _place(skip: SkipInfo) -> str:
    return f"{skip.where} ({skip.conversation})" if skip.conversation else skip.where


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _sentence(done: ImportReport, dry: bool) -> str:
    would = "would be " if dry else ""
    sessions = "" if dry else f" in {_many(done.sessions, 'new session')}"
    # In less than a second, or with next to nothing new, a rate says nothing.
    quick = done.seconds <= 1 or done.messages < done.seconds
    rate = "" if quick else f", {done.messages / done.seconds:,.0f} a second"
    went_on = f" (went on after record {done.resumed_at:,})" if done.resumed_at else ""
    were = "was" if done.known == 1 else "were"
    return (
        f"{done.path}: {done.kind}, {_many(done.messages, 'message')} {would}imported{sessions}, "
        f"{done.known:,} {were} here, {done.skipped:,} left out{rate}{went_on}"
    )


@import_.command()
@options.as_json
def status(as_json: bool) -> None:
    """List what was imported, and how far vectors and learning are."""
    with opened() as lila:
        found = lila.imports.status()
    if as_json:
        document(imports=found.imports, vectors=found.vectors, unlearned=found.unlearned)
        return
    here = zone()
    rows = [
        (one.id, one.kind, one.state, one.messages, one.sessions, one.skipped,
         local(one.last_at, here), one_line(one.path))
        for one in found.imports
    ]  # fmt: skip
    if rows:
        columns = ("id", "format", "state", "messages", "sessions", "left out", "last", "path")
        table(columns, rows)
    else:
        note("nothing was imported yet; `lila import PATH` does it")
    answer(f"vectors: {found.vectors.done:,} of {_many(found.vectors.total, 'turn')}")
    answer(f"to learn from: {_many(found.unlearned, 'turn')}")


@import_.command()
@options.as_json
def vectors(as_json: bool) -> None:
    """Compute the vectors that are missing now, rather than while you chat."""
    with opened() as lila, progress("embedding") as bar:
        try:
            made = lila.db.catch_up(bar)
        except KeyboardInterrupt as stop:
            raise Cancelled("stopped", hint="run it again for the rest") from stop
    if as_json:
        document(made=made)
    else:
        answer(_many(made, "vector"))

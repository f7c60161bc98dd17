"""What a person does to memories: edit, pin, promote, confirm, undo; and having LILA learn now."""

from __future__ import annotations

from datetime import datetime

import click

from lila_app.cli import options
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, note
from lila_app.cli.progress import progress
from lila_app.errors import Cancelled


@click.command()
@click.argument("id", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@options.at_now
@options.as_json
def edit(id: str, text: tuple[str, ...], now: datetime | None, as_json: bool) -> None:
    """Put other words in a memory's place; the old ones are kept as superseded."""
    with opened() as lila:
        made = lila.memory.edit(id, " ".join(text), now=now)
    if as_json:
        document(memory=made)
    else:
        answer(made.id)


@click.command()
@click.argument("id", metavar="ID")
@options.as_json
def pin(id: str, as_json: bool) -> None:
    """Never let a memory be crowded out or fade."""
    _pinned(id, True, as_json)


@click.command()
@click.argument("id", metavar="ID")
@options.as_json
def unpin(id: str, as_json: bool) -> None:
    """Treat a pinned memory like any other again."""
    _pinned(id, False, as_json)


@click.command()
@click.argument("id", metavar="ID")
@click.option("--core", is_flag=True, help="Make it part of every conversation to come.")
@options.at_now
@options.as_json
def promote(id: str, core: bool, now: datetime | None, as_json: bool) -> None:
    """Make a memory of a fact that waits (f12), or a core memory with --core."""
    with opened() as lila:
        made = lila.memory.promote(id, core=core, now=now)
    if as_json:
        document(memory=made)
    else:
        answer(f"{made.id} is a {'core memory' if made.kind == 'core' else 'memory'}")


@click.command()
@click.argument("id", metavar="ID")
@options.at_now
@options.as_json
def demote(id: str, now: datetime | None, as_json: bool) -> None:
    """Take a core memory out of every conversation; stop offering any other memory."""
    with opened() as lila:
        made = lila.memory.demote(id, now=now)
    if as_json:
        document(memory=made)
    else:
        answer(f"{made.id} is {'not offered any more' if made.status == 'closed' else 'a memory'}")


@click.command()
@click.argument("id", metavar="ID")
@options.at_now
@options.as_json
def confirm(id: str, now: datetime | None, as_json: bool) -> None:
    """Say that a memory or fact is right; what contradicts it is closed."""
    _settled(id, now, as_json)


@click.command()
@click.argument("id", metavar="ID")
@options.at_now
@options.as_json
def resolve(id: str, now: datetime | None, as_json: bool) -> None:
    """Decide a conflict: keep this one and close what contradicts it."""
    _settled(id, now, as_json)


@click.command()
@click.argument("id", metavar="[ID]", required=False)
@options.at_now
@options.as_json
def undo(id: str | None, now: datetime | None, as_json: bool) -> None:
    """Take back the last change to memory, or the last one of a memory or fact."""
    with opened() as lila:
        done = lila.memory.undo(id, now=now)
    if as_json:
        document(undone=done)
    else:
        answer(f"took back: {done.what} ({', '.join(done.ids)})")


@click.command()
@options.as_json
def learn(as_json: bool) -> None:
    """Look through what was said and not looked through yet, now."""
    with opened() as lila, progress("learning") as report:
        try:
            done = lila.memory.learn(report)
        except KeyboardInterrupt as stop:
            raise Cancelled(
                "stopped", hint="what was learned by now stays; run it again for the rest"
            ) from stop
    if as_json:
        document(learned=done)
        return
    answer(f"{done.turns} turns looked through, {done.facts} new facts")
    if done.waiting:
        note(f"{done.waiting} turns still wait")


def _pinned(id: str, pinned: bool, as_json: bool) -> None:
    with opened() as lila:
        made = lila.memory.pin(id, pinned)
    if as_json:
        document(memory=made)
    else:
        answer(f"{made.id} is {'pinned' if made.pinned else 'not pinned'}")


def _settled(id: str, now: datetime | None, as_json: bool) -> None:
    with opened() as lila:
        closed = lila.memory.confirm(id, now=now)
    if as_json:
        document(confirmed=id, closed=closed)
    else:
        answer(f"{id} holds" + (f"; closed {', '.join(closed)}" if closed else ""))


COMMANDS = (edit, pin, unpin, promote, demote, confirm, resolve, undo, learn)

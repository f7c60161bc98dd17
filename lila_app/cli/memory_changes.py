"""What a person does to memories: edit, pin, promote, confirm, undo; and having LILA learn now."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from lila_app.cli import options
from lila_app.cli.opening import opened
from lila_app.cli.output import answer, document, note, one_line
from lila_app.cli.progress import progress
from lila_app.errors import Cancelled

if TYPE_CHECKING:
    from lila_app.views.memory import UndoInfo


@click.command()
@click.argument("id", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@options.at_now
@options.as_json
def edit(id: str, text: tuple[str, ...], now: datetime | None, as_json: bool) -> None:
    """Put other words in a memory's place; the old ones are kept as superseded."""
    with opened() as lila:
        had = bool(lila.memory.why(id).facts)
        made = lila.memory.edit(id, " ".join(text), now=now)
        read = bool(lila.memory.why(made.id).facts)
    if as_json:
        document(memory=made)
    else:
        answer(made.id)
    if made.id == id:
        note("it says so already; nothing was changed")
    elif had and not read:
        note("nothing could be read from it; it is kept as a sentence")


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
        before = lila.memory.why(id).memory
        made = lila.memory.promote(id, core=core, now=now)
    kind = "core memory" if made.kind == "core" else "memory"
    same = before is not None and (before.kind, before.status) == (made.kind, made.status)
    if as_json:
        document(memory=made)
    else:
        answer(f"{made.id} is a {kind}{' already' if same else ''}")
    if same and made.kind != "core":
        note(f"`lila memory promote {made.id} --core` makes it a part of every conversation")


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
    _settled(id, now, as_json, deciding=True)


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
        answer(one_line(f"took back: {_taken_back(done)}"))


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


def _taken_back(done: UndoInfo) -> str:
    """What is gone and what holds again, in words; else what it was about."""
    parts = [f"{one.id} ‘{one.text}’ is gone" for one in done.gone]
    parts += [f"{one.id} ‘{one.text}’ holds again" for one in done.again]
    if parts:
        return ", ".join(parts)
    about = ", ".join(f"{one.id} ‘{one.text}’" for one in done.other) or ", ".join(done.ids)
    return f"{done.what} ({about})"


def _pinned(id: str, pinned: bool, as_json: bool) -> None:
    with opened() as lila:
        made = lila.memory.pin(id, pinned)
    if as_json:
        document(memory=made)
    else:
        answer(f"{made.id} is {'pinned' if made.pinned else 'not pinned'}")


def _settled(id: str, now: datetime | None, as_json: bool, *, deciding: bool = False) -> None:
    with opened() as lila:
        doubted = any(fact.status == "conflict" for fact in lila.memory.why(id).facts)
        closed = lila.memory.confirm(id, now=now)
    if as_json:
        document(confirmed=id, closed=closed)
    else:
        answer(f"{id} holds" + (f"; closed {', '.join(closed)}" if closed else ""))
    if deciding and not doubted:
        note(f"nothing contradicts {id}, so there was nothing to decide")


COMMANDS = (edit, pin, unpin, promote, demote, confirm, resolve, undo, learn)

"""`lila sessions`: conversations."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import click

from lila_app.cli import options
from lila_app.cli.coverage import say_missing
from lila_app.cli.erasing import confirm, report_erased
from lila_app.cli.groups import NounGroup
from lila_app.cli.opening import opened, zone
from lila_app.cli.output import answer, document, local, note, one_line, table
from lila_app.cli.paths import print_store
from lila_app.cli.pick import named_or_latest
from lila_app.views import SessionDetail, SessionInfo


@click.group(cls=NounGroup, default="list", default_if_no_args=True)
def sessions() -> None:
    """List, show, search, fork and delete conversations.

    ID is a session such as s12, or `last`.
    """


@sessions.command("list")
@options.at_most(50)
@options.as_json
def list_sessions(limit: int, as_json: bool) -> None:
    """List the latest sessions, newest first."""
    with opened() as lila:
        found = lila.sessions.list(limit=limit)
    if as_json:
        document(sessions=found)
    elif found:
        print_sessions(found, zone())
    else:
        note("there is no session yet; `lila chat` starts one")


def print_sessions(found: tuple[SessionInfo, ...], zone: ZoneInfo) -> None:
    """One session a line."""
    table(
        ("id", "last used", "turns", "for", "title"),
        [(s.id, local(s.last_at, zone), s.turns, s.use_case, s.title) for s in found],
    )


@sessions.command()
@click.argument("session", default="last", metavar="[ID]")
@options.as_json
def show(session: str, as_json: bool) -> None:
    """Show a session, turn by turn."""
    with opened() as lila:
        detail = lila.sessions.show(named_or_latest(lila, session))
    if as_json:
        document(session=detail.info, turns=detail.turns, tools=detail.tools)
    else:
        _print_turns(detail, zone())


def _print_turns(detail: SessionDetail, zone: ZoneInfo) -> None:
    info = detail.info
    answer(f"{info.id}  {info.title or 'untitled'}")
    for turn in detail.turns:
        answer(f"\n{turn.id}  {local(turn.at, zone)}\nYou: {turn.user}")
        for used in (one for one in detail.tools if one.turn_id == turn.id):
            came = "no result" if used.result is None else used.result
            answer(f"[tool {used.name} {one_line(used.arguments)}: {one_line(came)}]")
        if turn.reply is not None:
            answer(f"LILA: {turn.reply}{' [stopped]' if turn.stopped else ''}")
        else:
            answer("[no answer]")


@sessions.command()
@click.argument("session", metavar="ID")
@click.option("--through", metavar="TURN", help="Last turn to keep; all of them by default.")
@options.as_json
def fork(session: str, through: str | None, as_json: bool) -> None:
    """Start a session that begins as a copy of another; the other stays as it is."""
    with opened() as lila:
        made = lila.sessions.fork(named_or_latest(lila, session), through_turn=through)
    if as_json:
        document(session=made)
    else:
        answer(made.id)


@sessions.command()
@click.argument("session", metavar="ID")
@options.without_asking
@options.as_json
def delete(session: str, yes: bool, as_json: bool) -> None:
    """Erase a session with everything that was said in it."""
    with opened() as lila:
        detail = lila.sessions.show(session)
        title = detail.info.title or "untitled"
        confirm(f"Erase {session} ({title}, {len(detail.turns)} turns) for good?", yes=yes)
        report = lila.sessions.delete(session)
    report_erased(report, as_json=as_json)


@sessions.command()
@click.argument("session", metavar="ID")
@click.argument("title", nargs=-1, required=True)
@options.as_json
def rename(session: str, title: tuple[str, ...], as_json: bool) -> None:
    """Give a session another title."""
    with opened() as lila:
        info = lila.sessions.rename(named_or_latest(lila, session), " ".join(title))
    if as_json:
        document(session=info)
    else:
        answer(f"{info.id}  {info.title}")


@sessions.command()
@click.argument("query", nargs=-1, required=True)
@options.as_json
def search(query: tuple[str, ...], as_json: bool) -> None:
    """Search what was said in all sessions, best match first."""
    with opened() as lila:
        hits = lila.sessions.search(" ".join(query))
        say_missing(lila, "turns")
    if as_json:
        document(hits=hits)
        return
    here = zone()
    rows = [(h.session_id, h.turn.id, h.score, local(h.turn.at, here), h.turn.user) for h in hits]
    if rows:
        table(("session", "turn", "score", "when", "you said"), rows)
    else:
        note("nothing was found")


@sessions.command("note")
@click.argument("text", nargs=-1, required=True)
@options.about_session
@options.as_json
def add_note(text: tuple[str, ...], session: str | None, as_json: bool) -> None:
    """Leave a working note in a session (the latest by default); it expires when idle."""
    with opened() as lila:
        made = lila.sessions.note(" ".join(text), named_or_latest(lila, session))
    if as_json:
        document(note=made)
    else:
        answer(made.id)


@sessions.command("open")
@click.argument("text", nargs=-1, required=True)
@options.about_session
@options.as_json
def add_open(text: tuple[str, ...], session: str | None, as_json: bool) -> None:
    """Say what is open now in a session (the latest by default)."""
    with opened() as lila:
        made = lila.sessions.open(" ".join(text), named_or_latest(lila, session))
    if as_json:
        document(open=made)
    else:
        answer(made.id)


@sessions.command()
@options.as_json
def path(as_json: bool) -> None:
    """Show the file that holds the sessions."""
    print_store(as_json)

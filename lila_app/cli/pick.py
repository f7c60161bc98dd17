"""Which session a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lila_app.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from lila_app.assistant import Lila


def named(lila: Lila, session: str | None) -> str | None:
    """The session named; `last` is the one used last, None stays None."""
    return latest(lila) if session == "last" else session


def session_to_continue(lila: Lila, session: str | None, go_on: bool) -> str | None:
    """The session named, the latest when asked to go on, else None for a new one."""
    if not go_on:
        return named(lila, session)
    if session is not None:
        raise UsageError("--session and --continue say two different things", hint="give one")
    return latest(lila)


def latest(lila: Lila) -> str:
    """The session used last; `NotFoundError` when there is none."""
    found = lila.sessions.latest()
    if found is None:
        raise NotFoundError("there is no session yet", hint="start one with `lila chat`")
    return found.id


def named_or_latest(lila: Lila, session: str | None) -> str:
    """The session named, or the latest when it is not named or named `last`."""
    return named(lila, session) or latest(lila)

"""A turn's beginning: the person's words are durable before anything else happens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lila_app import moments
from lila_app.composing import title, usable, use_case
from lila_app.events import Uttered
from lila_app.resources import Resources
from lila_app.storage import sessions, spoken, turns
from lila_app.storage.driver import Connection
from lila_app.storage.turns import TurnRow


@dataclass(frozen=True, slots=True)
class Said:
    """What the person said and how it is to be answered."""

    text: str
    use_case: str
    session_id: str | None
    now: datetime
    budget: int | None
    live: bool
    """Whether the deadline holds; a turn with a given time is a rehearsal and waits for all."""
    uttered: Uttered | None = None
    """How it was spoken, where the words may still change."""


def begin(resources: Resources, said: Said) -> TurnRow:
    """Store the words as a turn, or in the place of a spoken turn's earlier ones. Blocking.

    Raises LilaError; nothing is stored then.
    """
    text = usable(said.text)
    use_case(resources.policy, said.use_case)
    at = moments.stored(said.now)
    with resources.store.write() as connection:
        if said.uttered is None:
            session = said.session_id or _session(connection, said, at)
            return turns.begin(connection, session, text, use_case=said.use_case, at=at)
        if said.uttered.revises:
            return _revised(connection, said.uttered.revises, text, at)
        session = said.session_id or _session(connection, said, at)
        row = spoken.begin(connection, session, text, use_case=said.use_case, at=at)
        _name(connection, row, "", at)  # what it was named after may have been withdrawn
        return row


def _session(connection: Connection, said: Said, at: str) -> str:
    named = title(said.text)
    return sessions.create(connection, at=at, use_case=said.use_case, title=named).id


def _revised(connection: Connection, turn_id: str, text: str, at: str) -> TurnRow:
    before = turns.get(connection, turn_id)
    row = spoken.revise(connection, turn_id, text, at=at)
    _name(connection, row, title(before.user), at)
    return row


def _name(connection: Connection, row: TurnRow, before: str, at: str) -> None:
    """Name a session after its first turn's words, if it was named after what they replace."""
    session = sessions.get(connection, row.session_id)
    if session.turns == 1 and session.title == before != title(row.user):
        naming = sessions.Naming(title(row.user))
        sessions.name(connection, session.id, naming, instead_of=before, at=at)

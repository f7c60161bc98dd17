"""`lila.sessions`: conversations, their state, and what comes in from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from lila_app import composing, moments
from lila_app.context import token_limit
from lila_app.errors import UsageError
from lila_app.facade import convert
from lila_app.facade.asking import plain_question
from lila_app.resources import Resources
from lila_app.storage import calls, sessions, state, turns
from lila_app.summarising import cut_now
from lila_app.views import ForgetReport, NoteInfo, SessionDetail, SessionInfo, TurnHit, TurnInfo


class Sessions:
    """Sessions of one profile."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def list(self, limit: int = 50) -> tuple[SessionInfo, ...]:
        """The last used first."""
        return tuple(convert.session(row) for row in sessions.list_sessions(self._store, limit))

    def latest(self) -> SessionInfo | None:
        """The session used last."""
        row = sessions.latest(self._store)
        return convert.session(row) if row else None

    def show(self, id: str) -> SessionDetail:
        """A session with all its turns. Raises NotFoundError."""
        row = sessions.get(self._store, id)
        shown = turns.window(self._store, id)
        used = calls.of_turns(self._store, [turn.id for turn in shown])
        return SessionDetail(
            convert.session(row),
            tuple(convert.turn(turn) for turn in shown),
            tuple(convert.tool_use(call) for call in used),
        )

    def turn(self, id: str) -> TurnInfo:
        """One turn, of whatever session. Raises NotFoundError."""
        return convert.turn(turns.get(self._store, id))

    def create(
        self, title: str = "", *, use_case: str = "chat", now: datetime | str | None = None
    ) -> SessionInfo:
        """Start a session without a turn. Raises UsageError for an unknown use case."""
        known = composing.use_case(self._resources.policy, use_case).name
        return convert.session(
            sessions.create(self._store, at=self._at(now), use_case=known, title=title)
        )

    def fork(self, id: str, through_turn: str | None = None) -> SessionInfo:
        """A new session that shows this one's turns up to and with `through_turn`."""
        return convert.session(
            sessions.fork(self._store, id, at=self._at(None), through_turn=through_turn)
        )

    def rename(self, id: str, title: str) -> SessionInfo:
        """Give a session another title."""
        return convert.session(sessions.rename(self._store, id, title, at=self._at(None)))

    def delete(self, id: str) -> ForgetReport:
        """Forget a session and everything only it shows."""
        return convert.forgotten(sessions.delete(self._store, id, at=self._at(None)))

    def note(self, text: str, session: str) -> NoteInfo:
        """Keep a working note in a session; it expires when nobody touches it."""
        return self._keep(text, session, "note")

    def open(self, text: str, session: str) -> NoteInfo:
        """Say what is open now in a session (a file, a page, a task)."""
        return self._keep(text, session, "open")

    def append(
        self,
        session: str | None,
        role: str,
        text: str,
        *,
        at: datetime | str | None = None,
        external_id: str = "",
    ) -> TurnInfo:
        """Add a message that was said elsewhere; `role` is "user" or "assistant".

        Without a session it starts one; the turn says which.
        """
        if role not in ("user", "assistant"):
            raise UsageError(f"{role!r} is not a role", hint="use user or assistant")
        kind: Literal["user", "assistant"] = "user" if role == "user" else "assistant"
        text, moment = composing.usable(text), self._at(at)
        with self._store.write() as connection:
            if session is None:
                named = composing.title(text)
                session = sessions.create(connection, at=moment, use_case="chat", title=named).id
            row = turns.append_message(
                connection, session, kind, text, at=moment, external_id=external_id
            )
        self._resources.learn()
        return convert.turn(row)

    def notes(self, session: str, now: datetime | str | None = None) -> tuple[NoteInfo, ...]:
        """The working notes and open things of a session that have not expired, by id."""
        idle = self._resources.policy.window.idle_minutes
        rows = state.list_notes(self._store, session, now=self._at(now), idle_minutes=idle)
        return tuple(convert.note(row) for row in rows)

    def heard(self, record_id: str, text: str) -> TurnInfo:
        """Replace a spoken reply by what was really heard of it."""
        return convert.turn(turns.heard(self._store, record_id, text, at=self._at(None)))

    def summarise(self, session: str) -> str:
        """Cut the window now if it outgrew its share, and return the summary in force.

        By a capable model where one may be asked, which takes its time.
        """
        resources = self._resources
        policy = resources.policy
        row = composing.use_case(policy, sessions.get(self._store, session).use_case)
        limit = token_limit(policy, row, resources.roster.limits(None))
        at = self._at(None)
        # In a thread: whoever calls this may be inside an event loop.
        resources.pool.submit(cut_now, resources, session, row, limit, at).result()
        summary = resources.conversation.summary(session)
        return summary.text if summary else ""

    def search(self, query: str, limit: int = 10) -> tuple[TurnHit, ...]:
        """Turns of all sessions that answer a query, best first."""
        from lila_app.layers.search import Finder

        resources = self._resources
        finder = Finder(self._store, resources.embedder.model_id)
        question = plain_question(resources, query)
        found = finder.turns(question, resources.scales().turns, k=limit)
        return tuple(TurnHit(hit.row.session_id, convert.turn(hit.row), hit.score) for hit in found)

    def _keep(self, text: str, session: str, kind: state.NoteKind) -> NoteInfo:
        return convert.note(
            state.add_note(
                self._store,
                composing.usable(text),
                session_id=session,
                at=self._at(None),
                kind=kind,
            )
        )

    def _at(self, now: datetime | str | None) -> str:
        return moments.stored(moments.resolve(now, self._resources.clock))

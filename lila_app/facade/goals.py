"""`lila.goals`: what the person wants to get done, pinned above the conversation."""

from __future__ import annotations

from lila_app import moments
from lila_app.composing import usable
from lila_app.facade import convert
from lila_app.resources import Resources
from lila_app.storage import state
from lila_app.views import GoalInfo


class Goals:
    """Goals of a profile; one set without a session stands in every session."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    def set(self, text: str, session: str | None = None) -> GoalInfo:
        """Pin a goal."""
        at = moments.stored(self._resources.clock())
        return convert.goal(
            state.set_goal(self._store, " ".join(usable(text).split()), session_id=session, at=at)
        )

    def list(self, session: str | None = None, include_done: bool = False) -> tuple[GoalInfo, ...]:
        """Goals of the profile and, if given, of a session."""
        rows = state.list_goals(self._store, session, include_done=include_done)
        return tuple(convert.goal(row) for row in rows)

    def done(self, id: str) -> GoalInfo:
        """Mark a goal as reached; it leaves the prompt."""
        at = moments.stored(self._resources.clock())
        return convert.goal(state.finish_goal(self._store, id, at=at))

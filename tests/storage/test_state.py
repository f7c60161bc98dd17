from __future__ import annotations

import pytest

from lila_app.errors import NotFoundError
from lila_app.storage import cuts, state
from lila_app.storage.connection import Store
from tests.storage.builders import AT, session


def test_a_goal_stands_until_it_is_done(store: Store) -> None:
    one = session(store)
    goal = state.set_goal(store, "write the report", session_id=one, at=AT)
    assert state.list_goals(store, one) == [goal]
    done = state.finish_goal(store, goal.id, at=AT)
    assert done.status == "done"
    assert state.list_goals(store, one) == []
    assert state.list_goals(store, one, include_done=True) == [done]
    assert state.finish_goal(store, goal.id, at=AT) == done


def test_setting_and_finishing_a_goal_break_the_prefix_once_each(store: Store) -> None:
    one = session(store)
    goal = state.set_goal(store, "write the report", session_id=one, at=AT)
    state.finish_goal(store, goal.id, at=AT)
    state.finish_goal(store, goal.id, at=AT)
    assert [row.reason for row in cuts.prefix_breaks(store, one)] == ["goal set", "goal done"]


def test_a_goal_of_the_profile_stands_in_every_session(store: Store) -> None:
    goal = state.set_goal(store, "sleep more", at=AT)
    assert state.list_goals(store, session(store)) == [goal]
    assert state.list_goals(store) == [goal]


def test_notes_expire_when_they_lie_idle(store: Store) -> None:
    one = session(store)
    idle = state.add_note(store, "idle", session_id=one, at="2026-11-30T10:00:00Z")
    used = state.add_note(store, "used", session_id=one, at="2026-11-30T10:00:00Z", kind="open")
    state.touch(store, used.id, at="2026-11-30T10:45:00Z")

    def left(now: str) -> list[str]:
        return [note.id for note in state.list_notes(store, one, now=now, idle_minutes=30)]

    assert left("2026-11-30T10:30:00Z") == [idle.id, used.id]
    assert left("2026-11-30T10:30:01Z") == [used.id]
    assert left("2026-11-30T12:15:00+01:00") == [used.id]
    assert left("2026-11-30T11:15:01Z") == []


def test_touching_never_turns_time_back(store: Store) -> None:
    note = state.add_note(store, "x", session_id=session(store), at=AT)
    assert state.touch(store, note.id, at="2020-01-01T00:00:00Z").touched_at == AT


def test_what_does_not_exist_is_not_found(store: Store) -> None:
    for call in (
        lambda: state.finish_goal(store, "g9", at=AT),
        lambda: state.touch(store, "n9", at=AT),
        lambda: state.set_goal(store, "x", session_id="s9", at=AT),
        lambda: state.add_note(store, "x", session_id="s9", at=AT),
    ):
        with pytest.raises(NotFoundError):
            call()

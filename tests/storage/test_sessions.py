from __future__ import annotations

import pytest

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import cuts, erasure, events, sessions, state, turns
from lila_app.storage.connection import Store
from lila_app.storage.erasure import OvertakenError
from lila_app.storage.sessions import Naming
from tests.storage.builders import AT, LATER, exchange, session


def _said(store: Store, id: str) -> list[str]:
    return [turn.user for turn in turns.window(store, id)]


def test_a_session_is_listed_with_its_turns_the_last_used_first(store: Store) -> None:
    first, second = session(store, "tea"), session(store, "coffee")
    turns.begin(store, first, "hello", use_case="chat", at=LATER)
    listed = sessions.list_sessions(store)
    assert [(row.id, row.title, row.turns) for row in listed] == [
        (first, "tea", 1),
        (second, "coffee", 0),
    ]
    assert listed[0].last_at == LATER
    latest = sessions.latest(store)
    assert latest is not None
    assert latest.id == first
    assert len(sessions.list_sessions(store, limit=1)) == 1


def test_without_sessions_there_is_no_latest(store: Store) -> None:
    assert sessions.latest(store) is None


def test_a_session_can_be_renamed(store: Store) -> None:
    one = session(store)
    assert sessions.rename(store, one, "Garden", at=AT).title == "Garden"
    assert sessions.get(store, one).title == "Garden"


@pytest.mark.parametrize("id", ["s9", "t1", "nonsense", "s1.2", "", "s99999999999999999999999"])
def test_an_id_that_is_none_is_not_found(store: Store, id: str) -> None:
    session(store)
    with pytest.raises(NotFoundError):
        sessions.get(store, id)


def test_ids_are_never_given_twice(store: Store) -> None:
    first = session(store)
    sessions.delete(store, first, at=AT)
    assert session(store) == "s2"


def test_two_sessions_of_one_process_never_see_each_others_state(store: Store) -> None:
    one, other = session(store), session(store)
    exchange(store, one, "words of one", "reply to one")
    exchange(store, other, "words of other", "reply to other")
    state.set_goal(store, "goal of one", session_id=one, at=AT)
    state.set_goal(store, "goal of other", session_id=other, at=AT)
    state.set_goal(store, "goal of all", at=AT)
    state.add_note(store, "note of one", session_id=one, at=AT)
    state.add_note(store, "open in other", session_id=other, at=AT, kind="open")
    cuts.cut(store, one, upto_sequence=9, summary="summary of one", reason="cap", at=AT)
    sessions.enter_epoch(store, one, "limits", body={"pack": ["m1"]}, at=AT)

    for mine, theirs, name in ((one, other, "other"), (other, one, "one")):
        seen = [
            *_said(store, mine),
            *(turn.reply for turn in turns.window(store, mine)),
            *(goal.text for goal in state.list_goals(store, mine)),
            *(note.text for note in state.list_notes(store, mine, now=AT, idle_minutes=60)),
        ]
        assert seen
        assert not [text for text in seen if text and name in text.split()]
        assert "goal of all" in seen
        assert {turn.session_id for turn in turns.window(store, mine)} == {mine}
        assert theirs != mine
    assert cuts.latest_cut(store, other) is None
    assert sessions.current_epoch(store, other) is None
    assert [row.reason for row in cuts.prefix_breaks(store, other)] == ["goal set", "goal set"]


def test_a_fork_shows_the_turns_up_to_its_point_and_then_its_own(store: Store) -> None:
    parent = session(store)
    kept = exchange(store, parent, "one", "first")
    exchange(store, parent, "two", "second")
    fork = sessions.fork(store, parent, at=AT, through_turn=kept.id)
    exchange(store, parent, "three", "third")
    exchange(store, fork.id, "other two", "other second")
    assert _said(store, fork.id) == ["one", "other two"]
    assert _said(store, parent) == ["one", "two", "three"]
    assert fork.forked_from == parent
    assert sessions.get(store, fork.id).turns == 2
    assert turns.window(store, fork.id)[0] == kept


def test_a_fork_without_a_point_shows_all_there_is(store: Store) -> None:
    parent = session(store)
    exchange(store, parent, "one", "first")
    fork = sessions.fork(store, parent, at=AT)
    exchange(store, parent, "two", "second")
    assert _said(store, fork.id) == ["one"]


def test_a_fork_of_a_fork_can_go_back_behind_the_first_fork(store: Store) -> None:
    first = session(store)
    early = exchange(store, first, "one", "a")
    exchange(store, first, "two", "b")
    second = sessions.fork(store, first, at=AT)
    exchange(store, second.id, "three", "c")
    third = sessions.fork(store, second.id, at=AT, through_turn=early.id)
    exchange(store, third.id, "four", "d")
    fourth = sessions.fork(store, second.id, at=AT)
    assert _said(store, third.id) == ["one", "four"]
    assert _said(store, fourth.id) == ["one", "two", "three"]
    with pytest.raises(NotFoundError, match="has no turn"):
        sessions.fork(store, third.id, at=AT, through_turn="t2")


def test_a_fork_has_copies_of_goals_and_notes(store: Store) -> None:
    parent = session(store)
    goal = state.set_goal(store, "ship it", session_id=parent, at=AT)
    state.add_note(store, "tests are red", session_id=parent, at=AT)
    fork = sessions.fork(store, parent, at=AT)
    state.finish_goal(store, goal.id, at=AT)
    assert [one.text for one in state.list_goals(store, fork.id)] == ["ship it"]
    assert state.list_goals(store, parent) == []
    (note,) = state.list_notes(store, fork.id, now=AT, idle_minutes=5)
    assert (note.text, note.session_id) == ("tests are red", fork.id)


def test_a_fork_lives_with_earlier_cuts_and_not_with_later_ones(store: Store) -> None:
    parent = session(store)
    one, two = (exchange(store, parent, text, "…") for text in ("one", "two"))
    cuts.cut(store, parent, upto_sequence=one.sequence, summary="early", reason="cap", at=AT)
    fork = sessions.fork(store, parent, at=AT)
    before = sessions.fork(store, parent, at=AT, through_turn=one.id)
    cuts.cut(store, parent, upto_sequence=two.sequence, summary="late", reason="cap", at=AT)

    def summary(id: str) -> str | None:
        cut = cuts.latest_cut(store, id)
        return cut.summary if cut else None

    assert (summary(parent), summary(fork.id), summary(before.id)) == ("late", "early", "early")
    cuts.cut(store, fork.id, upto_sequence=two.sequence, summary="own", reason="cap", at=AT)
    assert (summary(parent), summary(fork.id)) == ("late", "own")
    after_one = sessions.fork(store, parent, at=AT, through_turn=one.id)
    assert summary(after_one.id) == "early"


def test_deleting_a_session_keeps_what_a_fork_still_shows(store: Store) -> None:
    parent = session(store)
    exchange(store, parent, "shared words", "shared reply")
    fork = sessions.fork(store, parent, at=AT)
    only = exchange(store, parent, "only in the parent", "yes")
    report = sessions.delete(store, parent, at=AT)
    assert report.turns == (only.id,)
    with pytest.raises(NotFoundError):
        sessions.get(store, parent)
    assert [row.id for row in sessions.list_sessions(store)] == [fork.id]
    assert _said(store, fork.id) == ["shared words"]
    last = sessions.delete(store, fork.id, at=AT)
    assert last.turns == ("t1",)
    with store.read() as connection:
        assert connection.execute("select count(*) from turns").fetchone() == (0,)
        assert events.verify(connection) == []


def test_a_fork_keeps_the_cut_it_lives_with_when_the_ancestor_is_deleted(store: Store) -> None:
    parent = session(store)
    one = exchange(store, parent, "one", "a")
    cuts.cut(store, parent, upto_sequence=one.sequence, summary="early", reason="cap", at=AT)
    fork = sessions.fork(store, parent, at=AT)
    two = exchange(store, parent, "two", "b")
    cuts.cut(store, parent, upto_sequence=two.sequence, summary="late", reason="cap", at=AT)
    before = cuts.latest_cut(store, fork.id)
    sessions.delete(store, parent, at=AT)
    assert before is not None
    assert cuts.latest_cut(store, fork.id) == before
    with store.read() as connection:
        left = connection.execute("select summary from cuts").fetchall()
        assert left == [("early",)]
        bodies = [event.body for event in events.list_events(connection, kind="prefix_break")]
    assert [body["summary"] if body else None for body in bodies][:2] == ["early", None]
    sessions.delete(store, fork.id, at=AT)
    with store.read() as connection:
        assert connection.execute("select count(*) from cuts").fetchone() == (0,)


def test_an_epoch_lasts_while_its_fingerprint_does(store: Store) -> None:
    one = session(store)
    assert sessions.current_epoch(store, one) is None
    first = sessions.enter_epoch(store, one, "a", body={"pack": ["m1"]}, at=AT)
    again = sessions.enter_epoch(store, one, "a", body={"pack": ["m1", "m2"]}, at=LATER)
    assert again == first
    assert first.body == {"pack": ["m1"]}
    second = sessions.enter_epoch(store, one, "b", body={}, at=LATER)
    assert (first.number, second.number) == (1, 2)
    assert sessions.get(store, one).epoch == 2
    assert sessions.current_epoch(store, one) == second


def test_times_without_zone_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="no zone"):
        sessions.create(store, at="2026-11-30T11:58:33", use_case="chat")
    assert sessions.list_sessions(store) == []


def test_a_title_nobody_gave_is_replaced_and_the_log_says_who_made_it(store: Store) -> None:
    one = session(store, "tea")
    made = Naming("On tea", "some/model", ("t1",))
    assert not sessions.name(store, one, made, instead_of="coffee", at=AT), "it is another by now"
    assert sessions.name(store, one, made, instead_of="tea", at=AT)
    assert sessions.get(store, one).title == "On tea"
    with store.read() as connection:
        (event,) = events.list_events(connection, session_id=one, kind="session_named")
        assert event.body == {"title": "On tea", "made_by": "some/model", "turns": ["t1"]}
        assert sessions.named_by_models(connection) == [(event.sequence, one, made)]


def test_what_the_person_named_is_named_by_nothing_else(store: Store) -> None:
    one = session(store, "tea")
    assert not sessions.renamed(store, one)
    sessions.rename(store, one, "tea", at=AT)
    assert sessions.renamed(store, one)
    assert not sessions.name(store, one, Naming("On tea"), instead_of="tea", at=AT)
    assert sessions.get(store, one).title == "tea"


def test_a_name_made_while_something_was_forgotten_is_not_given(store: Store) -> None:
    one, before = session(store, "tea"), erasure.generation(store)
    with store.write() as connection:
        erasure.bump(connection)
    made = Naming("On tea", "some/model", ("t1",))
    with pytest.raises(OvertakenError):
        sessions.name(store, one, made, instead_of="tea", at=AT, generation=before)
    assert sessions.get(store, one).title == "tea"


def test_a_fork_says_itself_what_its_title_was_made_of(store: Store) -> None:
    one = session(store, "tea")
    exchange(store, one, "tea?", "yes")
    sessions.name(store, one, Naming("On tea", "some/model", ("t1",)), instead_of="tea", at=AT)
    fork = sessions.fork(store, one, at=LATER).id
    sessions.rename(store, one, "Mine", at=LATER)
    other = sessions.fork(store, one, at=LATER).id
    with store.read() as connection:
        named = {id: naming for _, id, naming in sessions.named_by_models(connection)}
    assert named[fork] == Naming("On tea", "some/model", ("t1",))
    assert other not in named, "its title is the person's"
    assert not sessions.renamed(store, fork)

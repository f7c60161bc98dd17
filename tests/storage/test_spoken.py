"""Turns whose words may still change: revised, settled, withdrawn, forgotten with every reading."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import (
    backup,
    check,
    episodes,
    erasure,
    events,
    forget,
    memories,
    records,
    search,
    sessions,
    spoken,
    turns,
    vectors,
)
from lila_app.storage.connection import Store
from lila_app.storage.erasure import OvertakenError
from lila_app.storage.turns import TurnRow
from tests.storage.builders import AT, LATER, places_of, save, session

FIRST, SECOND = "my cat Zebulon is", "my cat Quince is ill"


def said(store: Store, text: str = FIRST, title: str = "") -> TurnRow:
    return spoken.begin(store, session(store, title), text, use_case="voice", at=AT)


def replied(store: Store, turn: str, reply: str, record: str | None = None) -> TurnRow:
    return turns.finish(
        store, turn, reply, stopped=True, record_id=record, model="fake/one", at=AT, again=True
    )


def whole(store: Store) -> None:
    assert check.check(store).problems == ()


def waiting(store: Store) -> list[str]:
    return [turn.id for turn in episodes.waiting(store, 10)]


def found(store: Store, query: str) -> list[str]:
    return [hit.id for hit in search.search_text(store, "turns", query, k=5)]


def embedded(store: Store, turn: str, generation: int) -> None:
    one = np.ones((1, 4), dtype=np.float32)
    vectors.add(store, "turns", [turn], one, "m", generation=generation)


def test_a_revised_turn_keeps_its_id_its_place_and_its_time_and_is_unanswered(store: Store) -> None:
    turn = said(store)
    replied(store, turn.id, "Is what?")
    revised = spoken.revise(store, turn.id, SECOND, at=LATER)
    assert (revised.id, revised.sequence, revised.at) == (turn.id, turn.sequence, turn.at)
    assert (revised.user, revised.reply, revised.stopped) == (SECOND, None, False)
    assert (revised.record_id, revised.model) == (None, None)
    assert revised.digest != turn.digest
    whole(store)


def test_the_log_keeps_every_reading_and_says_which_came_when(store: Store) -> None:
    turn = said(store)
    spoken.revise(store, turn.id, SECOND, at=LATER)
    with store.read() as connection:
        logged = [
            (event.kind, event.body)
            for event in events.list_events(connection)
            if event.subject == turn.id
        ]
    assert [kind for kind, _ in logged] == ["turn_began", "turn_revised"]
    assert [body and body["text"] for _, body in logged] == [FIRST, SECOND]


def test_only_the_last_words_are_found(store: Store) -> None:
    turn = said(store)
    spoken.revise(store, turn.id, SECOND, at=LATER)
    assert found(store, "Zebulon") == []
    assert found(store, "Quince") == [turn.id]


def test_vectors_of_earlier_words_go_and_one_under_way_is_overtaken(store: Store) -> None:
    turn = said(store)
    replied(store, turn.id, "Is what?")
    generation = erasure.generation(store)
    embedded(store, turn.id, generation)
    spoken.revise(store, turn.id, SECOND, at=LATER)
    with store.read() as connection:
        assert connection.execute("select count(*) from vector_rows").fetchone()[0] == 0
    with pytest.raises(OvertakenError):
        embedded(store, turn.id, generation)


def test_nothing_is_learned_from_an_open_turn_until_it_is_settled(store: Store) -> None:
    turn = said(store)
    replied(store, turn.id, "Is what?")
    assert waiting(store) == []
    spoken.settle(store, turn.id)
    assert waiting(store) == [turn.id]


def test_settling_twice_does_not_have_a_turn_learned_from_twice(store: Store) -> None:
    turn = said(store)
    spoken.settle(store, turn.id)
    with store.write() as connection:
        assert episodes.learned(connection, turn.id)
    spoken.settle(store, turn.id)
    assert waiting(store) == []


def test_what_a_process_left_open_is_settled_by_the_next(store: Store) -> None:
    one, other = said(store), said(store)
    replied(store, one.id, "Yes.")
    replied(store, other.id, "Yes.")
    assert spoken.settle_before(store, AT) == 0, "they have just begun"
    assert spoken.settle_before(store, LATER) == 2
    assert waiting(store) == [one.id, other.id]
    assert spoken.settle_before(store, LATER) == 0


def test_a_settled_turn_is_neither_revised_nor_withdrawn(store: Store) -> None:
    turn = said(store)
    spoken.settle(store, turn.id)
    with pytest.raises(UsageError, match="final"):
        spoken.revise(store, turn.id, SECOND, at=LATER)
    with pytest.raises(UsageError, match="final"):
        spoken.withdraw(store, turn.id, at=LATER)
    assert turns.get(store, turn.id).user == FIRST


def test_a_turn_that_was_typed_cannot_be_revised(store: Store) -> None:
    typed = turns.begin(store, session(store), FIRST, use_case="chat", at=AT)
    with pytest.raises(UsageError, match="final"):
        spoken.revise(store, typed.id, SECOND, at=LATER)


def test_words_that_are_none_do_not_take_the_place_of_any(store: Store) -> None:
    turn = said(store)
    with pytest.raises(UsageError, match="empty"):
        spoken.revise(store, turn.id, "  ", at=LATER)
    assert turns.get(store, turn.id).user == FIRST


def test_a_turn_nobody_said_is_nowhere_afterwards(store: Store, path: Path) -> None:
    turn = said(store, "Zebulon pelargonium", title="Zebulon pelargonium")
    record = save(store, turn.session_id, [], turn=turn)
    replied(store, turn.id, "Quince?", record)
    spoken.withdraw(store, turn.id, at=LATER)
    with pytest.raises(NotFoundError):
        turns.get(store, turn.id)
    assert sessions.get(store, turn.session_id).title == ""
    assert found(store, "Zebulon") == []
    with pytest.raises(NotFoundError, match="forgotten"):
        records.get_inputs(store, record)
    whole(store)
    store.scrub()
    for word in ("zebulon", "pelargonium", "quince"):
        assert places_of(path, word) == [], word


def test_withdrawing_leaves_the_file_as_it_is_until_something_is_forgotten(store: Store) -> None:
    spoken.withdraw(store, said(store).id, at=LATER)
    with store.read() as connection:
        due = connection.execute("select value from counters where name = 'scrub_due'").fetchone()[
            0
        ]
    assert due == 0


def test_a_name_the_session_has_from_elsewhere_stays(store: Store) -> None:
    turn = said(store, "Zebulon", title="Cats")
    spoken.withdraw(store, turn.id, at=LATER)
    assert sessions.get(store, turn.session_id).title == "Cats"


def revised_and_forgotten(store: Store, final: str, reply: str = "I see.") -> TurnRow:
    """A turn whose first reading says what is forgotten then."""
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    turn = said(store, "Zebulon keeps pelargoniums", title="Zebulon keeps pelargoniums")
    record = save(store, turn.session_id, [], turn=turn)
    replied(store, turn.id, "So Zebulon keeps pelargoniums.", record)
    spoken.revise(store, turn.id, "Zebulon keeps pelargoniums and a cat", at=LATER)
    spoken.revise(store, turn.id, final, at=LATER)
    replied(store, turn.id, reply)
    report = forget.forget_memory(store, memory.id, at=LATER)
    assert report.turns == (turn.id,)
    with pytest.raises(NotFoundError, match="forgotten"):
        records.get_inputs(store, record)
    whole(store)
    return turns.get(store, turn.id)


def test_forgetting_what_only_earlier_readings_said_leaves_the_final_words(
    store: Store, path: Path
) -> None:
    turn = revised_and_forgotten(store, "Zenobia keeps begonias")
    assert (turn.user, turn.reply) == ("Zenobia keeps begonias", "I see.")
    assert sessions.get(store, turn.session_id).title == ""
    assert found(store, "begonias") == [turn.id]
    for word in ("zebulon", "pelargonium"):
        assert places_of(path, word) == [], word


def test_final_words_that_keep_a_part_of_what_is_forgotten_go_with_every_reading(
    store: Store, path: Path
) -> None:
    turn = revised_and_forgotten(store, "someone keeps pelargoniums, not he")
    assert turn.user == turns.FORGOTTEN
    for word in ("zebulon", "pelargonium"):
        assert places_of(path, word) == [], word


def test_a_reply_to_the_final_words_that_tells_what_an_earlier_reading_said_goes(
    store: Store, path: Path
) -> None:
    turn = revised_and_forgotten(store, "Zenobia keeps begonias", "Not Zebulon and pelargoniums?")
    assert (turn.user, turn.reply) == ("Zenobia keeps begonias", turns.FORGOTTEN)
    for word in ("zebulon", "pelargonium"):
        assert places_of(path, word) == [], word


def test_the_final_words_can_be_forgotten_after_a_reading_was(store: Store, path: Path) -> None:
    turn = revised_and_forgotten(store, "Zenobia keeps begonias")
    memory = memories.add(store, "Zenobia keeps begonias", at=LATER)
    forget.forget_memory(store, memory.id, at=LATER)
    assert turns.get(store, turn.id).user == turns.FORGOTTEN
    for word in ("zenobia", "begonia", "zebulon"):
        assert places_of(path, word) == [], word
    whole(store)


def test_deleting_a_session_takes_every_reading_with_it(store: Store, path: Path) -> None:
    turn = said(store, "Zebulon keeps pelargoniums")
    spoken.revise(store, turn.id, "the quince is ripe", at=LATER)
    forget.forget_session(store, turn.session_id, at=LATER)
    for word in ("zebulon", "pelargonium", "quince"):
        assert places_of(path, word) == [], word
    whole(store)


def test_a_turn_of_which_something_was_forgotten_is_not_revised(store: Store) -> None:
    memory = memories.add(store, "Zebulon keeps pelargoniums", at=AT)
    turn = said(store, "Zebulon keeps pelargoniums")
    forget.forget_memory(store, memory.id, at=LATER)
    with pytest.raises(UsageError, match="forgotten"):
        spoken.revise(store, turn.id, SECOND, at=LATER)


def test_what_was_heard_takes_the_place_of_the_reply(store: Store) -> None:
    turn = said(store)
    replied(store, turn.id, "It is late, so go to bed.")
    assert spoken.heard(store, turn.id, "It is late,", at=LATER).reply == "It is late,"
    after = spoken.heard(store, turn.id, "", at=LATER)
    assert (after.reply, after.stopped) == ("", True)
    whole(store)


def test_what_was_heard_of_a_reply_nobody_stored_is_stored(store: Store) -> None:
    heard = spoken.heard(store, said(store).id, "It is", at=LATER)
    assert (heard.reply, heard.stopped) == ("It is", True)


def test_the_check_notices_a_row_that_says_what_an_earlier_reading_said(store: Store) -> None:
    turn = said(store)
    spoken.revise(store, turn.id, SECOND, at=LATER)
    with store.write() as connection:
        connection.execute("update turns set user = ?", (FIRST,))
    problems = check.check(store).problems
    assert [(one.kind, one.where) for one in problems] == [("log", turn.id)]


def test_a_backup_brings_back_the_readings(store: Store, path: Path, tmp_path: Path) -> None:
    turn = said(store)
    spoken.revise(store, turn.id, SECOND, at=LATER)
    copy = tmp_path / "copy.db"
    backup.backup(store, copy, at=LATER)
    with Store.open(copy) as other:
        assert turns.get(other, turn.id).user == SECOND
        whole(other)


@pytest.mark.usefixtures("copied_stores")
@settings(max_examples=10)
@given(st.lists(st.sampled_from(["revise", "reply", "heard", "settle", "withdraw"]), max_size=12))
def test_whatever_happens_to_a_spoken_turn_the_store_is_whole(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "a.db") as store:
        turn = said(store)
        for step in steps:
            try:
                match step:
                    case "revise":
                        spoken.revise(store, turn.id, SECOND, at=LATER)
                    case "reply":
                        replied(store, turn.id, "Yes.")
                    case "heard":
                        spoken.heard(store, turn.id, "Ye", at=LATER)
                    case "settle":
                        spoken.settle(store, turn.id)
                    case _:
                        spoken.withdraw(store, turn.id, at=LATER)
            except (UsageError, NotFoundError):
                continue
        whole(store)

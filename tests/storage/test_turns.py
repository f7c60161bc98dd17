from __future__ import annotations

import pytest

from lila_app.errors import NotFoundError, UsageError
from lila_app.storage import cuts, erasure, turns
from lila_app.storage.connection import Store
from tests.storage.builders import AT, LATER, answered, exchange, session


def test_the_persons_words_are_there_before_any_reply(store: Store, path: object) -> None:
    one = session(store)
    turn = turns.begin(store, one, "remember the milk", use_case="chat", at=AT)
    assert turn.reply is None
    other = Store.open(store.path)
    assert turns.window(other, one) == [turn]
    other.close()


def test_a_finished_turn_has_everything(store: Store) -> None:
    one = session(store)
    begun = turns.begin(store, one, "hello", use_case="voice", at=AT, external_id="msg-1")
    turn = turns.finish(
        store,
        begun.id,
        "hi there",
        stopped=True,
        record_id=None,
        model="fake/one",
        at=LATER,
        external_id="msg-2",
    )
    assert (turn.user, turn.reply, turn.stopped, turn.model) == (
        "hello",
        "hi there",
        True,
        "fake/one",
    )
    assert (turn.use_case, turn.at, turn.external_ids) == ("voice", AT, ("msg-1", "msg-2"))
    assert turn.sequence == begun.sequence
    assert turn.digest != begun.digest


def test_a_turn_is_finished_once(store: Store) -> None:
    turn = exchange(store, session(store), "hello", "hi")
    with pytest.raises(UsageError, match="reply already"):
        turns.finish(store, turn.id, "again", stopped=False, record_id=None, model=None, at=AT)


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_message_is_refused(store: Store, text: str) -> None:
    one = session(store)
    with pytest.raises(UsageError, match="empty"):
        turns.begin(store, one, text, use_case="chat", at=AT)
    assert turns.window(store, one) == []


def test_words_that_are_not_utf8_are_refused_whole(store: Store) -> None:
    one = session(store)
    with pytest.raises(UsageError, match="UTF-8"):
        turns.begin(store, one, "caf\udce9", use_case="chat", at=AT)
    assert turns.window(store, one) == []
    assert turns.begin(store, one, "café", use_case="chat", at=AT).id == "t1"


def test_the_window_begins_after_a_sequence(store: Store) -> None:
    one = session(store)
    first, second = exchange(store, one, "one", "a"), exchange(store, one, "two", "b")
    assert turns.window(store, one, first.sequence) == [second]
    assert turns.window(store, one, second.sequence) == []


def test_appended_messages_pair_up(store: Store) -> None:
    one = session(store)
    turns.append_message(store, one, "assistant", "Welcome", at=AT, external_id="a")
    turns.append_message(store, one, "user", "Hello", at=AT, external_id="b")
    turns.append_message(store, one, "assistant", "Hi", at=AT, external_id="c")
    turns.append_message(store, one, "assistant", "Anything else?", at=AT)
    turns.append_message(store, one, "user", "No", at=AT)
    assert [(turn.user, turn.reply, turn.external_ids) for turn in turns.window(store, one)] == [
        ("", "Welcome", ("a",)),
        ("Hello", "Hi", ("b", "c")),
        ("", "Anything else?", ()),
        ("No", None, ()),
    ]


def test_later_turns_see_what_was_heard_of_a_reply(store: Store) -> None:
    one = session(store)
    turn, record_id = answered(store, one, "tell me", "A long story. And its end.", [])
    heard = turns.heard(store, record_id, "A long story.", at=LATER)
    assert (heard.reply, heard.stopped) == ("A long story.", True)
    assert heard.digest != turn.digest
    assert turns.window(store, one) == [heard]


def test_a_partial_reply_gives_way_to_another_and_a_whole_one_does_not(store: Store) -> None:
    one = session(store)
    turn = turns.begin(store, one, "tell me", use_case="chat", at=AT)
    assert turns.unfinished(store, one) == turn
    part = turns.finish(store, turn.id, "Once", stopped=True, record_id=None, model="a/b", at=AT)
    assert turns.unfinished(store, one) == part
    whole = turns.finish(
        store, turn.id, "Once upon.", stopped=False, record_id=None, model="a/b", at=LATER,
        again=True,
    )  # fmt: skip
    assert (whole.reply, whole.stopped, whole.user) == ("Once upon.", False, "tell me")
    assert whole.digest != part.digest
    with pytest.raises(UsageError, match="reply already"):
        turns.finish(
            store, turn.id, "x", stopped=False, record_id=None, model=None, at=AT, again=True
        )
    with pytest.raises(UsageError, match="nothing to ask again"):
        turns.unfinished(store, one)


def test_hearing_a_record_without_reply_is_refused(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no reply"):
        turns.heard(store, "c9", "what?", at=AT)


def test_a_cut_and_its_summary_are_one_event(store: Store) -> None:
    one = session(store)
    turn = exchange(store, one, "one", "a")
    cut = cuts.cut(
        store, one, upto_sequence=turn.sequence, summary="They met.", reason="window", at=AT
    )
    assert cuts.latest_cut(store, one) == cut
    (brk,) = cuts.prefix_breaks(store, one)
    assert (brk.reason, brk.session_id) == ("window", one)


def test_a_summary_prepared_before_a_forgetting_is_not_taken(store: Store) -> None:
    one = session(store)
    before = erasure.generation(store)
    with store.write() as connection:
        erasure.bump(connection)
    with pytest.raises(erasure.OvertakenError):
        cuts.cut(
            store, one, upto_sequence=1, summary="old", reason="window", at=AT, generation=before
        )
    assert cuts.latest_cut(store, one) is None
    assert cuts.prefix_breaks(store, one) == []


def test_turns_come_back_in_the_order_asked_for(store: Store) -> None:
    one = session(store)
    first, second = exchange(store, one, "one", "a"), exchange(store, one, "two", "b")
    assert turns.by_ids(store, [second.id, "t99", first.id]) == [second, first]
    with pytest.raises(NotFoundError):
        turns.get(store, "t99")

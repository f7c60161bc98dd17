"""Calls of tools and what they returned: in the log, and gone with what they told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lila_app.storage import calls, check, erasure, forget, memories, sessions, turns
from lila_app.storage.calls import Asked, Returned
from lila_app.storage.connection import Store
from lila_app.storage.erasure import OvertakenError
from tests.storage.builders import AT, LATER, ingest, places_of, save, session

SECRET = 'Zebulon keeps "pelargoniums" at 17 Quince Lane'


def begun(store: Store, text: str = "Where is it?") -> Asked:
    turn = turns.begin(store, session(store), text, use_case="chat", at=AT)
    return Asked(turn.id, turn.session_id, "c1", 1, 1, "memory_search", '{"query":"it"}')


def test_a_call_and_its_return_are_read_back_in_order(store: Store) -> None:
    asked = begun(store)
    calls.called(store, asked, at=AT)
    (row,) = calls.of_turns(store, [asked.turn_id])
    assert (row.name, row.arguments, row.returned) == ("memory_search", '{"query":"it"}', None)
    calls.returned(store, asked, Returned("[m1] It is here.", False, ("m1",)), at=AT, generation=0)
    (row,) = calls.of_turns(store, [asked.turn_id])
    assert row.returned == Returned("[m1] It is here.", False, ("m1",))
    assert check.check(store).problems == ()


def test_a_return_that_was_overtaken_by_a_forgetting_is_not_stored(store: Store) -> None:
    memory = memories.add(store, SECRET, at=AT)
    asked = begun(store)
    generation = erasure.generation(store)
    forget.forget_memory(store, memory.id, at=LATER)
    with pytest.raises(OvertakenError):
        calls.returned(store, asked, Returned(SECRET, False), at=AT, generation=generation)
    calls.called(store, asked, at=AT)
    assert calls.of_turns(store, [asked.turn_id])[0].returned is None


def test_forgetting_a_memory_takes_what_a_tool_returned_of_it(store: Store, path: Path) -> None:
    memory = memories.add(store, SECRET, at=AT)
    kept = memories.add(store, "Anna likes tea", at=AT)
    asked = begun(store)
    # A part of it is enough: the tool may have shortened what it showed.
    for number, (text, items) in enumerate(
        [("At 17 Quince Lane.", (memory.id,)), ("Anna likes tea", (kept.id,))], 1
    ):
        one = Asked(asked.turn_id, asked.session_id, "c1", 1, number, "show_source", "{}")
        calls.called(store, one, at=AT)
        calls.returned(store, one, Returned(text, False, items), at=AT, generation=0)
    forget.forget_memory(store, memory.id, at=LATER)
    assert places_of(path, "quince") == []
    first, second = calls.of_turns(store, [asked.turn_id])
    assert first.returned is None
    assert second.returned == Returned("Anna likes tea", False, (kept.id,))
    assert check.check(store).problems == ()


def test_forgetting_a_memory_takes_calls_that_say_it_even_as_json_within_json(
    store: Store, path: Path
) -> None:
    memory = memories.add(store, SECRET, at=AT)
    asked = begun(store)
    arguments = json.dumps({"text": SECRET})
    said = Asked(asked.turn_id, asked.session_id, "c1", 1, 1, "memory_add", arguments)
    calls.called(store, said, at=AT)
    calls.returned(store, said, Returned("The person said no.", True), at=AT, generation=0)
    forget.forget_memory(store, memory.id, at=LATER)
    assert places_of(path, "zebulon") == []


def test_a_record_whose_tools_showed_an_item_loses_its_inputs_with_it(store: Store) -> None:
    from lila_app.storage import records

    memory = memories.add(store, SECRET, at=AT)
    turn = turns.begin(store, session(store), "Where?", use_case="chat", at=AT)
    record = save(store, turn.session_id, [], turn=turn, shown=[memory.id])
    report = forget.forget_memory(store, memory.id, at=LATER)
    assert report.records == (record,)
    assert records.get_record(store, record)["erased"]


def test_a_record_in_which_it_stands_as_json_within_json_is_found(store: Store, path: Path) -> None:
    memory = memories.add(store, SECRET, at=AT)
    said = session(store)
    record = save(store, said, [], filling=json.dumps({"text": SECRET}))
    assert forget.forget_memory(store, memory.id, at=LATER).records == (record,)
    assert places_of(path, "zebulon") == []


def test_deleting_a_session_takes_its_calls(store: Store, path: Path) -> None:
    asked = begun(store)
    calls.called(store, asked, at=AT)
    calls.returned(store, asked, Returned("pelargoniums", False), at=AT, generation=0)
    sessions.delete(store, asked.session_id, at=LATER)
    assert places_of(path, "pelargonium") == []
    assert check.check(store).problems == ()


def test_forgetting_a_document_takes_what_tools_returned_of_it(store: Store, path: Path) -> None:
    document = ingest(store, ["Zebulon grows the pelargoniums behind the old shed"])
    chunk = f"{document.id}.1"
    turn = turns.begin(store, session(store), "What grows?", use_case="chat", at=AT)
    save(store, turn.session_id, [], turn=turn, shown=[chunk])
    asked = Asked(turn.id, turn.session_id, "c1", 1, 1, "document_search", '{"query":"grows"}')
    calls.called(store, asked, at=AT)
    text = f"[{chunk}] Zebulon grows the pelargoniums"
    calls.returned(store, asked, Returned(text, False, (chunk,)), at=AT, generation=0)
    forget.forget_document(store, document.id, at=LATER)
    assert places_of(path, "pelargonium") == []


def test_deleting_a_session_takes_what_tools_of_other_sessions_showed_of_it(
    store: Store, path: Path
) -> None:
    told = turns.begin(store, session(store), "On pelargoniums", use_case="chat", at=AT)
    asked = begun(store)
    calls.called(store, asked, at=AT)
    shown = Returned(f"[{told.id}] They: On pelargoniums", False, (told.id,))
    calls.returned(store, asked, shown, at=AT, generation=0)
    sessions.delete(store, told.session_id, at=LATER)
    assert places_of(path, "pelargonium") == []

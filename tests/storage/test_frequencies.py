from __future__ import annotations

import random

import pytest

from lila_app.storage import memories, search, turns
from lila_app.storage.connection import Store
from lila_app.storage.frequencies import Frequencies
from tests.storage.builders import AT, exchange, session

WORDS = ("zork", "blim", "quat", "dorf")


def _held(store: Store, frequencies: Frequencies, table: str = "memories") -> dict[str, int]:
    with store.read() as connection:
        return frequencies.state(connection, table).holding(connection, WORDS, 1_000)


def test_what_is_remembered_is_what_is_there_after_every_kind_of_change(store: Store) -> None:
    chance = random.Random(5)
    remembered = Frequencies()
    texts: dict[int, str] = {}
    for _ in range(150):
        kind = chance.choice(("add", "add", "change", "delete"))
        text = " ".join(chance.sample(WORDS, 2))
        row = chance.choice(sorted(texts)) if texts else 0
        with store.write() as connection:
            if kind == "add" or not texts:
                row = int(memories.add(connection, text, at=AT).id[1:])
                texts[row] = text
            elif kind == "change":
                connection.execute("update memories set text = ? where id = ?", (text, row))
                texts[row] = text
            else:
                connection.execute("delete from memories where id = ?", (row,))
                del texts[row]
        there = {word: sum(word in text for text in texts.values()) for word in WORDS}
        assert _held(store, remembered) == there
        with store.read() as connection:
            assert remembered.state(connection, "memories").rows == len(texts)


def test_a_reply_that_arrives_later_is_counted(store: Store) -> None:
    remembered = Frequencies()
    one = session(store)
    said = turns.begin(store, one, "zork", use_case="chat", at=AT)
    assert _held(store, remembered, "turns") == {"zork": 1, "blim": 0, "quat": 0, "dorf": 0}
    turns.finish(store, said.id, "blim", stopped=False, record_id=None, model=None, at=AT)
    exchange(store, one, "zork", "quat")
    assert _held(store, remembered, "turns") == {"zork": 2, "blim": 1, "quat": 1, "dorf": 0}


def test_nothing_is_counted_again_while_nothing_changes(store: Store) -> None:
    memories.add(store, "zork blim", at=AT)
    remembered = Frequencies()
    asked: list[str] = []
    with store.read() as connection:
        connection.set_trace_callback(asked.append)
        for _ in range(3):
            remembered.state(connection, "memories").holding(connection, WORDS, 1_000)
        connection.set_trace_callback(None)
    assert sum("match" in statement for statement in asked) == len(WORDS)


def test_a_count_ends_one_past_its_limit_and_limits_are_kept_apart(store: Store) -> None:
    for _ in range(5):
        memories.add(store, "zork", at=AT)
    remembered = Frequencies()
    with store.read() as connection:
        state = remembered.state(connection, "memories")
        assert state.holding(connection, ["zork"], 3) == {"zork": 4}
        assert state.holding(connection, ["zork"], 9) == {"zork": 5}


def test_words_are_searched_for_from_the_rarest_until_they_match_enough_rows(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MATCHED_ROWS", 5)
    for text in ("zork", "blim", "blim", "blim", "quat", "quat", "quat", "quat"):
        memories.add(store, text, at=AT)

    def found(query: str) -> set[str]:
        hits = search.search_text(store, "memories", query, k=50)
        return {memories.get(store, hit.id).text for hit in hits}

    assert found("zork blim quat") == {"zork", "blim"}
    monkeypatch.setattr(search, "MATCHED_ROWS", 1)
    assert found("quat blim") == {"blim"}

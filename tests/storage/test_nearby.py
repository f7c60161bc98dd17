"""Turns as a search looks at them: neighbours in their session, words without names, cosines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lila_app.storage import nearby, search, sessions, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.search import Held

AT = "2026-11-30T08:00:00+00:00"


def say(store: Store, session: str, *texts: str) -> None:
    for text in texts:
        turns.append_message(store, session, "user", text, at=AT, speaker="Ana", origin="import:1")


@pytest.fixture
def filled(tmp_path: Path) -> Store:
    """Turns 1 to 4 of one session, 5 of another, 6 of the first again."""
    store = Store.open(tmp_path / "test.db")
    one, other = (sessions.create(store, at=AT, use_case="chat").id for _ in range(2))
    say(store, one, "first", "second", "third", "fourth")
    say(store, other, "elsewhere")
    say(store, one, "sixth")
    return store


def test_neighbours_are_of_the_same_session_and_within_reach(filled: Store) -> None:
    with filled as store:
        assert nearby.around(store, [1], 2) == [2, 3]
        assert nearby.around(store, [4], 2) == [2, 3, 6]
        assert nearby.around(store, [5], 2) == []
        assert nearby.around(store, [1, 2], 1) == [3]
        assert nearby.around(store, [], 2) == []
        assert nearby.around(store, [4], 2, exclude_session="s1") == []


def test_messages_are_read_by_row_number(filled: Store) -> None:
    with filled as store:
        found = nearby.read(store, [5, 2, 99])
        assert [(one.row, one.session, one.user, one.reply) for one in found] == [
            (2, 1, "second", ""),
            (5, 2, "elsewhere", ""),
        ]


def test_what_a_row_holds_is_told_for_each_side_and_without_the_words_left_out(
    filled: Store,
) -> None:
    with filled as store:
        texts = {7: ("The kiln is warm", "Bricks hold heat"), 8: ("nothing", "")}
        held = search.covered(store, "turns", "kiln bricks", texts)
        # Neither word is in any row, so both weigh the same.
        assert held == {7: Held(1.0, 0.5), 8: Held(0.0, 0.0)}
        assert search.covered(store, "turns", "kiln Ana", texts, without={"ana"})[7].own == 1.0
        assert search.covered(store, "turns", "Ana", texts, without={"ana"})[7] == Held(0.0, 0.0)


def test_cosines_are_those_a_search_gives(filled: Store) -> None:
    with filled as store:
        some = np.array([[1, 0, 0], [3, 4, 0], [0, 0, 1]], np.float32)
        vectors.add(store, "turns", ["t1", "t2", "t4"], some, "model")
        query = np.array([1, 0, 0], np.float32)
        found = vectors.cosines(store, "turns", query, [2, 1, 3, 99], "model")
        assert found == pytest.approx({1: 10_000, 2: 6_000}, abs=1)
        hits = vectors.search(store, "turns", query, k=9, model_id="model")
        assert found == {int(h.id[1:]): h.cosine_bp for h in hits if h.id in ("t1", "t2")}
        assert vectors.cosines(store, "turns", query, [1], "another") == {}

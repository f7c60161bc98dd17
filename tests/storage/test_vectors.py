from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lila_app.errors import UsageError
from lila_app.storage import erasure, matrix, memories, sessions, turns, vectors
from lila_app.storage.connection import Store
from lila_app.storage.matrix import Floats
from tests.processes import child, outcome
from tests.storage.builders import AT, exchange, files_of, session
from tests.waiting import PATIENCE


def _noise(rows: int, seed: int = 1, dimensions: int = 32) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)


def _fill(store: Store, given: Floats, model: str = "one") -> list[str]:
    with store.write() as connection:
        ids = [memories.add(connection, f"memory {n}", at=AT).id for n in range(len(given))]
    vectors.add(store, "memories", ids, given, model)
    return ids


def _exact(one: list[int], other: list[int]) -> int:
    """The cosine in basis points by whole numbers only, rounded towards zero."""
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    squares = sum(a * a for a in one) * sum(b * b for b in other)
    if squares == 0:
        return 0
    low, high = 0, 10_000
    while low < high:  # the largest n with (n/10,000)^2 <= dot^2/squares
        middle = (low + high + 1) // 2
        if Fraction(middle * middle, 10**8) <= Fraction(dot * dot, squares):
            low = middle
        else:
            high = middle - 1
    return low if dot >= 0 else -low


@settings(max_examples=50)
@given(
    base=st.lists(st.integers(-100, 100), min_size=8, max_size=8),
    nudges=st.lists(st.lists(st.integers(-2, 2), min_size=8, max_size=8), min_size=1, max_size=40),
    k=st.integers(1, 12),
)
def test_the_best_k_are_those_of_exact_arithmetic_over_all_rows(
    tmp_path_factory: pytest.TempPathFactory, base: list[int], nudges: list[list[int]], k: int
) -> None:
    # Near-duplicates of the query: exactly where float rounding would decide the order.
    rows = np.array([np.array(base) * 1000 + nudge for nudge in nudges], np.float32)
    query = np.array(base, np.float32)
    with Store.open(tmp_path_factory.mktemp("vectors") / "default.db") as store:
        ids = _fill(store, rows)
        hits = vectors.search(store, "memories", query, k=k, model_id="one")
    whole = [[round(float(x) * 32767) for x in row] for row in matrix.unit(rows)]
    asked = [round(float(x) * 32767) for x in matrix.unit(query)]
    wanted = [(id, _exact(row, asked)) for id, row in zip(ids, whole, strict=True)]
    wanted.sort(key=lambda hit: (-hit[1], int(hit[0][1:])))
    assert [hit.id for hit in hits] == [id for id, _ in wanted[:k]]
    assert [hit.cosine_bp for hit in hits] == [score for _, score in wanted[:k]]


def test_scores_are_close_to_the_real_cosine() -> None:
    rows, query = matrix.unit(_noise(200, dimensions=384)), matrix.unit(_noise(1, 2, 384)[0])
    real = rows.astype(np.float64) @ query.astype(np.float64)
    found = matrix.scores(matrix.quantise(rows), matrix.quantise(query))
    assert np.abs(np.array(found) / 10_000 - real).max() < 7.5e-4


def test_a_score_is_what_integers_say_where_a_double_cannot() -> None:
    # Neighbours in Fibonacci's row span an area of 1: |v|²|q|² = (vq)² + 1, and so the cosine is
    # less than 1 by 1e-18, which a double takes for 1.
    row, query = np.array([[28657, 17711]], np.int16), np.array([17711, 10946], np.int16)
    assert matrix.scores(row, query) == [9_999]
    assert matrix.scores(row, -query) == [-9_999]
    assert matrix.scores(row, row[0]) == [10_000]


def test_a_vector_is_its_own_best_neighbour_and_the_opposite_its_worst(store: Store) -> None:
    given = _noise(3)
    given[2] = -5 * given[0]
    _fill(store, given)
    hits = vectors.search(store, "memories", given[0] * 100, k=3, model_id="one")
    assert [(hits[0].id, hits[0].cosine_bp)] == [("m1", 10_000)]
    assert [(hits[2].id, hits[2].cosine_bp)] == [("m3", -10_000)]


def test_a_zero_vector_is_neither_near_nor_far(store: Store) -> None:
    _fill(store, np.array([[0, 0], [1, 0]], np.float32))
    hits = vectors.search(store, "memories", np.array([1, 0], np.float32), k=2, model_id="one")
    assert [hit.cosine_bp for hit in hits] == [10_000, 0]
    zero = np.zeros(2, np.float32)
    assert [hit.id for hit in vectors.search(store, "memories", zero, k=2, model_id="one")] == [
        "m1",
        "m2",
    ]


_SEARCH = """
import sys
from pathlib import Path
import numpy as np
from lila_app.storage import vectors
from lila_app.storage.connection import Store
with Store.open(Path(sys.argv[1])) as store:
    for seed in range(20):
        query = np.random.default_rng(seed).standard_normal(384).astype(np.float32)
        print(vectors.search(store, "memories", query, k=30, model_id="one"))
"""


def test_results_are_the_same_under_any_number_of_threads(path: Path) -> None:
    import os

    with Store.open(path) as store:
        _fill(store, _noise(3000, dimensions=384))
    seen = {
        outcome(child(_SEARCH, str(path), env={**os.environ, "OPENBLAS_NUM_THREADS": threads}))
        for threads in ("1", "2", "5")
    }
    assert len(seen) == 1


def test_the_matrix_follows_what_another_process_changes(store: Store, path: Path) -> None:
    given = _noise(6)
    _fill(store, given[:4])

    def near(row: int) -> str:
        (hit,) = vectors.search(store, "memories", given[row], k=1, model_id="one")
        return hit.id if hit.cosine_bp == 10_000 else ""

    assert [near(row) for row in range(6)] == ["m1", "m2", "m3", "m4", "", ""]
    with Store.open(path) as other:
        _fill(other, given[4:])
        assert [near(row) for row in (0, 4, 5)] == ["m1", "m5", "m6"]
        vectors.add(other, "memories", ["m1"], given[1:2], "one")
        assert near(0) == ""
        assert near(1) == "m1"
        vectors.delete(other, "memories", ["m1", "m6"])
        assert [near(row) for row in (1, 5)] == ["m2", ""]
        vectors.add(other, "memories", ["m6"], given[5:], "one")
        assert near(5) == "m6"


def test_an_older_snapshot_does_not_spoil_the_matrix(store: Store) -> None:
    given = _noise(3)
    _fill(store, given[:2])
    ready, done = threading.Event(), threading.Event()

    def old_reader() -> None:
        with store.read() as connection:
            memories.list_memories(connection)
            ready.set()
            done.wait(PATIENCE)

    reader = threading.Thread(target=old_reader)
    reader.start()
    assert ready.wait(PATIENCE)
    _fill(store, given[2:])
    assert len(vectors.search(store, "memories", given[0], k=9, model_id="one")) == 3
    done.set()
    reader.join()
    assert len(vectors.search(store, "memories", given[0], k=9, model_id="one")) == 3


def test_reading_blocks_gives_what_reading_rows_gives(store: Store) -> None:
    _fill(store, _noise(2500, dimensions=16))
    vectors.delete(store, "memories", [f"m{n}" for n in range(1, 2500, 7)])
    with store.read() as connection:
        rows = connection.execute("select id, embedding from vec_memories_1").fetchall()
        held: dict[int, bytes] = {}
        for ids, found in matrix.read_all(connection, "vec_memories_1", 16):
            held |= {int(id): row.tobytes() for id, row in zip(ids, found, strict=True)}
    assert held == dict(rows)


def test_rows_are_pending_until_they_have_a_vector(store: Store) -> None:
    one = session(store)
    exchange(store, one, "hello", "hi")
    turns.begin(store, one, "unanswered", use_case="chat", at=AT)
    waiting = vectors.pending(store, "turns", "one", 10)
    assert (waiting.ids, waiting.texts) == (("t1",), ("hello\nhi",))
    assert vectors.pending_count(store, "turns", "one") == 1
    assert vectors.add(store, "turns", waiting.ids, _noise(1), "one") == 1
    assert vectors.pending(store, "turns", "one", 10).ids == ()
    assert vectors.pending_count(store, "turns", "one") == 0
    assert vectors.pending(store, "turns", "two", 10).ids == ("t1",)


def test_both_indexes_live_until_the_old_one_is_dropped(store: Store) -> None:
    given = _noise(3)
    ids = _fill(store, given, "old")
    vectors.add(store, "memories", ids[:1], _noise(1, 7, 48), "new")
    assert vectors.models(store, "memories") == {"old": 3, "new": 1}
    assert len(vectors.search(store, "memories", given[0], k=9, model_id="old")) == 3
    assert vectors.pending(store, "memories", "new", 9).ids == ("m2", "m3")
    vectors.drop_model(store, "memories", "old")
    assert vectors.search(store, "memories", given[0], k=9, model_id="old") == []
    assert len(vectors.search(store, "memories", _noise(1, 7, 48)[0], k=9, model_id="new")) == 1
    vectors.add(store, "memories", ids[1:2], given[1:2], "old")
    assert [hit.id for hit in vectors.search(store, "memories", given[1], k=9, model_id="old")] == [
        "m2"
    ]


def test_a_model_nobody_used_has_no_neighbours(store: Store) -> None:
    memories.add(store, "x", at=AT)
    assert vectors.search(store, "memories", _noise(1)[0], k=3, model_id="none") == []


def test_rows_asked_for_are_among_the_hits_whatever_their_rank(store: Store) -> None:
    given = _noise(9)
    ids = _fill(store, given)
    everything = vectors.search(store, "memories", given[2], k=9, model_id="one")
    last = [hit.id for hit in everything[-2:]]
    # Row 4 is embedded last, so that the rows do not stand in the order of their numbers.
    vectors.delete(store, "memories", ids[3:4])
    vectors.add(store, "memories", ids[3:4], given[3:4], "one")
    rows = [int(id[1:]) for id in last]
    some = vectors.search(store, "memories", given[2], k=2, model_id="one", also=[*rows, 77, 0])
    assert some == [*everything[:2], *everything[-2:]]
    best = [int(everything[0].id[1:])]
    assert (
        vectors.search(store, "memories", given[2], k=2, model_id="one", also=best)
        == everything[:2]
    )
    assert (
        vectors.search(store, "memories", given[2], k=0, model_id="one", also=rows)
        == (everything[-2:])
    )


def test_a_row_asked_for_by_number_is_left_out_with_its_session(store: Store) -> None:
    one = session(store)
    exchange(store, one, "a", "b")
    exchange(store, session(store), "c", "d")
    vectors.add(store, "turns", ["t1", "t2"], _noise(2), "one")
    hits = vectors.search(
        store, "turns", _noise(1)[0], k=1, model_id="one", exclude_session=one, also=[1, 2]
    )
    assert [hit.id for hit in hits] == ["t2"]


def test_a_session_can_be_left_out_with_what_it_inherited(store: Store) -> None:
    one = session(store)
    exchange(store, one, "a", "b")
    fork = sessions.fork(store, one, at=AT)
    exchange(store, one, "c", "d")
    exchange(store, session(store), "e", "f")
    vectors.add(store, "turns", ["t1", "t2", "t3"], _noise(3), "one")

    def found(left_out: str | None) -> set[str]:
        hits = vectors.search(
            store, "turns", _noise(1)[0], k=3, model_id="one", exclude_session=left_out
        )
        return {hit.id for hit in hits}

    assert found(None) == {"t1", "t2", "t3"}
    assert found(one) == {"t3"}
    assert found(fork.id) == {"t2", "t3"}


def test_a_shortened_reply_needs_a_new_vector(store: Store) -> None:
    from tests.storage.builders import answered

    _, record_id = answered(store, session(store), "tell me", "a long story", [])
    vectors.add(store, "turns", ["t1"], _noise(1), "one")
    turns.heard(store, record_id, "a long", at=AT)
    assert vectors.pending(store, "turns", "one", 5).texts == ("tell me\na long",)
    assert vectors.search(store, "turns", _noise(1)[0], k=3, model_id="one") == []


def test_rows_that_went_meanwhile_get_no_vector(store: Store) -> None:
    memories.add(store, "stays", at=AT)
    assert vectors.add(store, "memories", ["m1", "m2"], _noise(2), "one") == 1
    assert vectors.models(store, "memories") == {"one": 1}


def test_vectors_that_a_forgetting_overtook_are_not_stored(store: Store) -> None:
    memories.add(store, "x", at=AT)
    waiting = vectors.pending(store, "memories", "one", 5)
    with store.write() as connection:
        erasure.bump(connection)
    with pytest.raises(erasure.OvertakenError):
        vectors.add(store, "memories", waiting.ids, _noise(1), "one", generation=waiting.generation)
    assert vectors.models(store, "memories") == {}


def test_a_deleted_vector_leaves_no_bytes(store: Store, path: Path) -> None:
    given = _noise(2)
    _fill(store, given)
    bytes_of = [row.tobytes()[:64] for row in matrix.unit(given)]
    assert any(bytes_of[0] in raw for raw in files_of(path).values())
    vectors.delete(store, "memories", ["m1"])
    store.scrub()
    assert not any(bytes_of[0] in raw for raw in files_of(path).values())
    assert any(bytes_of[1] in raw for raw in files_of(path).values())


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(3, np.float32),
        np.zeros((2, 3), np.float32),
        np.array([[np.nan, 1]], np.float32),
        np.array([[np.inf, 1]], np.float32),
    ],
)
def test_vectors_that_are_none_are_refused(store: Store, wrong: Any) -> None:
    memories.add(store, "x", at=AT)
    with pytest.raises(UsageError):
        vectors.add(store, "memories", ["m1"], wrong, "one")


def test_a_model_cannot_change_its_dimensions(store: Store) -> None:
    _fill(store, _noise(1, dimensions=8))
    with pytest.raises(UsageError, match="dimensions"):
        vectors.add(store, "memories", ["m1"], _noise(1, dimensions=9), "one")

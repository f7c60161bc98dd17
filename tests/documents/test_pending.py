from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lila_app.documents.pending import BATCH, embed_pending
from lila_app.storage import erasure, memories, sessions, turns, vectors
from lila_app.storage.connection import Store
from tests.documents.conftest import Digests

NOW = "2026-11-30T12:00:00+00:00"


def remember(store: Store, count: int) -> None:
    for number in range(count):
        memories.add(store, f"fact {number}", kind="fact", pinned=False, at=NOW)


def test_memories_and_answered_turns_are_caught_up(store: Store, digests: Digests) -> None:
    remember(store, 2)
    session = sessions.create(store, at=NOW, use_case="chat")
    turn = turns.begin(store, session.id, "hello", use_case="chat", at=NOW)
    turns.begin(store, session.id, "unanswered", use_case="chat", at=NOW)
    turns.finish(store, turn.id, "hi", stopped=False, record_id=None, model="m", at=NOW)
    assert embed_pending(store, digests) == 3
    assert digests.seen == ["fact 0", "fact 1", "hello\nhi"]
    assert embed_pending(store, digests) == 0


def test_only_the_tables_asked_for_are_caught_up(store: Store, digests: Digests) -> None:
    remember(store, 1)
    assert embed_pending(store, digests, tables=("chunks", "turns")) == 0
    assert vectors.pending_count(store, "memories", "digests") == 1


def test_a_new_model_gets_vectors_of_its_own(store: Store, digests: Digests) -> None:
    remember(store, 1)
    embed_pending(store, digests)
    other = Digests()
    other.model_id = "other"
    assert embed_pending(store, other) == 1
    assert vectors.models(store, "memories") == {"digests": 1, "other": 1}


def test_a_forgetting_meanwhile_drops_the_batch_and_embeds_what_is_left(store: Store) -> None:
    remember(store, BATCH + 2)

    class Forgetful(Digests):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if not self.seen:
                with store.write() as connection:
                    connection.execute("delete from memories where id = 1")
                    connection.execute("update memories set text = '[forgotten]' where id = 2")
                    erasure.bump(connection)
            return super().embed(texts)

    model = Forgetful()
    assert embed_pending(store, model) == BATCH + 1
    assert model.seen[BATCH] == "[forgotten]"  # a vector of what was there is never stored
    forgotten = Digests().embed(["[forgotten]"])[0]
    (nearest,) = vectors.search(store, "memories", forgotten, k=1, model_id="digests")
    assert (nearest.id, nearest.cosine_bp) == ("m2", 10_000)


def test_two_at_once_leave_one_vector_a_row(store: Store, digests: Digests) -> None:
    remember(store, 5)

    class Beside(Digests):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            embed_pending(store, digests)
            return super().embed(texts)

    embed_pending(store, Beside())
    assert vectors.models(store, "memories") == {"digests": 5}


def test_progress_ends_at_the_total(store: Store, digests: Digests) -> None:
    remember(store, BATCH + 1)
    calls: list[tuple[int, int, str]] = []
    embed_pending(store, digests, progress=lambda *call: calls.append(call))
    assert [(done, total) for done, total, _ in calls] == [
        (0, BATCH + 1),
        (BATCH, BATCH + 1),
        (BATCH + 1, BATCH + 1),
    ]


def test_a_text_that_stands_in_many_rows_is_embedded_once_a_batch(
    store: Store, digests: Digests
) -> None:
    for _ in range(BATCH):
        memories.add(store, "the same line of a log", kind="fact", pinned=False, at=NOW)
    assert embed_pending(store, digests) == BATCH
    assert digests.seen == ["the same line of a log"]
    assert vectors.pending_count(store, "memories", "digests") == 0

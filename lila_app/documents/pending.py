"""Vectors for whatever has none yet: after an ingest, a crash, or a change of model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lila_app.embedding.port import Embedder
from lila_app.storage import vectors
from lila_app.storage.connection import Store
from lila_app.storage.erasure import OvertakenError
from lila_app.storage.vectors import Pending, Table
from lila_app.views import Progress

TABLES: tuple[Table, ...] = ("memories", "turns", "chunks")
"""In the order they are caught up: what is few and said by the person first."""

FETCHED = 256
BATCH = 16
"""Texts embedded and stored at once: about a second of chunks on two cores, which is how long
stopping takes and what a crash loses."""


def embed_pending(
    store: Store,
    embedder: Embedder,
    *,
    tables: Sequence[Table] = TABLES,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Embed every row of the tables that has no vector of this model; returns how many got one.

    Blocking, for a worker thread; safe to run in several threads and processes at once. Between
    batches `cancelled` is asked, and what is stored by then stays. If something is forgotten
    meanwhile, the batch under way is dropped and the work goes on with what is left. Raises
    `WeightsError` and `StorageError`.
    """
    stopped = cancelled or (lambda: False)
    report = progress or _silent
    total = sum(vectors.pending_count(store, table, embedder.model_id) for table in tables)
    done = 0
    if total:
        report(done, total, "embedding")
    for table in tables:
        for stored in _batches(store, embedder, table, stopped):
            done += stored
            report(min(done, total), total, "embedding")
    return done


def _batches(
    store: Store, embedder: Embedder, table: Table, stopped: Callable[[], bool]
) -> Iterator[int]:
    """Embed a table batch by batch, yielding how many vectors each stored."""
    while True:
        waiting = vectors.pending(store, table, embedder.model_id, FETCHED)
        stored = 0
        try:
            for start in range(0, len(waiting.ids), BATCH):
                if stopped():
                    return
                count = _embed(store, embedder, table, waiting, slice(start, start + BATCH))
                stored += count
                yield count
        except OvertakenError:
            continue
        if not stored:
            # Nothing is left, or nothing of it can be stored: the next round would be the same.
            return


def _silent(_done: int, _total: int, _label: str) -> None:
    """For callers that do not watch."""


def _embed(store: Store, embedder: Embedder, table: Table, waiting: Pending, batch: slice) -> int:
    texts = waiting.texts[batch]
    # A log says the same thing many times; each text costs the model 40 ms.
    unique = list(dict.fromkeys(texts))
    place = {text: row for row, text in enumerate(unique)}
    found = embedder.embed(unique)
    return vectors.add(
        store,
        table,
        waiting.ids[batch],
        found[[place[text] for text in texts]],
        embedder.model_id,
        generation=waiting.generation,
    )

"""The vectors of one table and model in memory, and the exact arithmetic that ranks them.

A float product over the whole matrix is fast, but its last bits depend on the processor and the
library. It only chooses candidates, with a margin wider than any such difference; the scores
that are returned come from integers and are the same everywhere.

Importing this module imports NumPy.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from lila_app.storage import driver
from lila_app.storage.driver import Connection

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

SCALE = 32_767
"""Components of a unit vector are rounded to integers of this scale: they fit in 16 bits."""

MARGIN = np.float32(0.002)
"""Twice the largest possible distance between a float cosine and an integer score.

Rounding a component is off by at most 0.5/32767, so a dot product of two unit vectors of 384
dimensions by at most 2·√384·0.5/32767 ≈ 6.0e-4; float32 summation adds at most
384·2⁻²⁴ ≈ 2.3e-5 and flooring the score to basis points 1e-4: together below 7.5e-4.
"""

TOP = 10_000
_ROWS_READ = 64


def unit(vectors: Floats) -> Floats:
    """Rows scaled to length 1; a row of zeros stays one. No BLAS: the bits never vary."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=-1, keepdims=True))
    scaled: NDArray[np.float64] = wide / np.where(lengths == 0, 1.0, lengths)
    return scaled.astype(np.float32)


def quantise(vectors: Floats) -> Integers:
    """Unit vectors as integers."""
    return np.rint(vectors.astype(np.float64) * SCALE).astype(np.int64)


def scores(candidates: Floats, query: Floats) -> list[int]:
    """Cosines in basis points, -10,000..10,000, rounded towards zero, by integers alone."""
    rows, one = quantise(candidates), quantise(query)
    dots: list[int] = (rows @ one).tolist()
    squares: list[int] = np.square(rows).sum(axis=1).tolist()
    own: int = int(np.square(one).sum())
    return [_cosine(dot, square * own) for dot, square in zip(dots, squares, strict=True)]


def _cosine(dot: int, squares: int) -> int:
    if squares == 0:
        return 0
    size = isqrt(dot * dot * TOP * TOP // squares)
    return size if dot >= 0 else -size


@dataclass(frozen=True, slots=True)
class State:
    """What the store says of a table and model: every change moves one of these numbers.

    `incarnation` changes when a backup is put back and nothing known before counts.
    """

    generation: int
    removals: int
    incarnation: int


class Matrix:
    """Rows by row number, brought up to the state of the connection that asks."""

    def __init__(self, index: str, kind: str, model: int, dimensions: int) -> None:
        self.lock = threading.Lock()
        self._index = index
        self._set = (kind, model)
        self._state: State = State(0, 0, 0)
        self._vectors: Floats = np.empty((0, dimensions), np.float32)
        self._ids: Integers = np.empty(0, np.int64)
        self._used = 0
        self._order: Integers | None = None
        """Places by row number; worked out when asked for, until the rows change."""

    def candidates(
        self,
        connection: Connection,
        query: Floats,
        k: int,
        excluded: Sequence[int],
        also: Sequence[int] = (),
    ) -> tuple[list[int], Floats]:
        """Row numbers and copied vectors that certainly hold the best k, and the rows `also`.

        The lock must be held.
        """
        self.refresh(connection)
        # Row by row and not as one matrix product: it waits for memory, so BLAS's threads gain
        # little, and they wait busily for a core that other layers use (100 ms at times).
        products: Floats = np.vecdot(self._vectors[: self._used], query)
        if excluded:
            products[self._places(excluded)] = -2
        allowed = int(np.count_nonzero(products > -2))
        if allowed <= k:
            chosen = np.flatnonzero(products > -2)
        elif k > 0:
            lowest = np.partition(products, -k)[-k]
            chosen = np.flatnonzero((products >= lowest - MARGIN) & (products > -2))
        else:
            chosen = np.empty(0, np.int64)
        if also:
            more = self._places(also)
            chosen = np.union1d(chosen, more[products[more] > -2])
        ids: list[int] = self._ids[chosen].tolist()
        return ids, self._vectors[chosen]

    def of(self, connection: Connection, rows: Sequence[int]) -> tuple[list[int], Floats]:
        """Those of these row numbers that have a vector, with copies; the lock must be held."""
        self.refresh(connection)
        places = self._places(rows)
        ids: list[int] = self._ids[places].tolist()
        return ids, self._vectors[places]

    def _places(self, rows: Sequence[int]) -> Integers:
        """Where in the matrix those of the rows are that have a vector."""
        ids = self._ids[: self._used]
        if self._order is None:
            self._order = np.argsort(ids)
        wanted = np.asarray(rows, np.int64)
        places = np.searchsorted(ids, wanted, sorter=self._order)
        there = places < self._used
        places, wanted = self._order[places[there]], wanted[there]
        return places[ids[places] == wanted]

    def refresh(self, connection: Connection) -> None:
        """Take over what any process changed since the last time; the lock must be held."""
        row = connection.execute(
            "select generation, removals, (select value from counters where name = 'incarnation') "
            "from vector_sets where kind = ? and model = ?",
            self._set,
        ).fetchone()
        found = State(row[0], row[1], row[2]) if row else State(0, 0, 0)
        if found == self._state:
            return
        self._order = None
        if found.incarnation != self._state.incarnation:
            self._state, self._used = State(0, 0, found.incarnation), 0
        if found.removals != self._state.removals or found.generation < self._state.generation:
            self._drop_missing(connection)
        if found.generation != self._state.generation:
            self._load(connection)
        self._state = found

    def _drop_missing(self, connection: Connection) -> None:
        rows = connection.execute(
            "select row_id from vector_rows where kind = ? and model = ?", self._set
        )
        living = np.fromiter((row[0] for row in rows), np.int64)
        kept = np.isin(self._ids[: self._used], living)
        count = int(np.count_nonzero(kept))
        self._vectors = self._vectors[: self._used][kept]
        self._ids = self._ids[: self._used][kept]
        self._used = count

    def _load(self, connection: Connection) -> None:
        if self._used == 0:
            self._reserve(
                connection.execute(
                    "select count(*) from vector_rows where kind = ? and model = ?", self._set
                ).fetchone()[0]
            )
            for ids, vectors in read_all(connection, self._index, self._vectors.shape[1]):
                self._append(ids, vectors)
            return
        changed = [
            row[0]
            for row in connection.execute(
                "select row_id from vector_rows "
                "where kind = ? and model = ? and generation > ? order by row_id",
                (*self._set, self._state.generation),
            )
        ]
        self._reserve(self._used + len(changed))
        held = np.flatnonzero(np.isin(self._ids[: self._used], np.asarray(changed, np.int64)))
        known: dict[int, int] = dict(zip(self._ids[held].tolist(), held.tolist(), strict=True))
        for row in changed:
            (embedding,) = connection.execute(
                f"select embedding from {self._index} where id = ?", (row,)
            ).fetchone()
            vector = np.frombuffer(embedding, np.float32)
            if row in known:
                self._vectors[known[row]] = vector
            else:
                self._append(np.array([row], np.int64), vector[np.newaxis])

    def _append(self, ids: Integers, vectors: Floats) -> None:
        end = self._used + len(ids)
        self._reserve(end)
        self._ids[self._used : end], self._vectors[self._used : end] = ids, vectors
        self._used = end

    def _reserve(self, rows: int) -> None:
        if rows <= len(self._ids):
            return
        # A quarter more than needed: appending turn by turn must not copy the matrix each time.
        size = rows + rows // 4 if self._used else rows
        vectors = np.empty((size, self._vectors.shape[1]), np.float32)
        vectors[: self._used] = self._vectors[: self._used]
        ids = np.empty(size, np.int64)
        ids[: self._used] = self._ids[: self._used]
        self._vectors, self._ids = vectors, ids


def read_all(
    connection: Connection, index: str, dimensions: int
) -> Iterator[tuple[Integers, Floats]]:
    """All vectors of an index with their row numbers, in the blocks sqlite-vec keeps them in.

    A block is some 1.5 MB; read a few rows at a time it is never held twice, and 100,000 rows
    take 0.1 s instead of 1.6 s one by one (sqlite-vec 0.1.9, measured 2026-11-30). The layout is
    in its ARCHITECTURE.md; a test compares the two ways.
    """
    blocks = connection.execute(
        f"select chunk_id, size, validity, rowids from {index}_chunks order by chunk_id"
    )
    for block, size, validity, rowids in blocks.fetchall():
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        valid = bits[:size].astype(np.bool_)
        ids = np.frombuffer(rowids, np.int64)
        with driver.open_blob(connection, f"{index}_vector_chunks00", "vectors", block) as blob:
            for start in range(0, size, _ROWS_READ):
                part = slice(start, min(start + _ROWS_READ, size))
                read = blob.read((part.stop - start) * dimensions * 4)
                vectors = np.frombuffer(read, np.float32).reshape(-1, dimensions)
                yield ids[part][valid[part]], vectors[valid[part]]

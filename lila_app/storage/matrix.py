"""The vectors of one table and model in memory, and the exact arithmetic that ranks them.

A product over the whole matrix is fast with rows of a byte a component (`storage.coarse`). It only
chooses candidates, with a margin for what the rounding loses; the scores that are returned come
from 16-bit integers and are the same everywhere.

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
from lila_app.storage.coarse import SCALE, Coarse, Exact, Floats, coarse, products
from lila_app.storage.driver import Connection

Integers = NDArray[np.int64]

TOP = 10_000
_DOUBTFUL = 1e-6
_ROWS_READ = 256
_NEVER = np.float32(-3)
"""Below any cosine, whatever may be lost of it."""


def unit(vectors: Floats) -> Floats:
    """Rows scaled to length 1; a row of zeros stays one. No BLAS: the bits never vary."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=-1, keepdims=True))
    scaled: NDArray[np.float64] = wide / np.where(lengths == 0, 1.0, lengths)
    return scaled.astype(np.float32)


def quantise(vectors: Floats) -> Exact:
    """Unit vectors as integers."""
    return np.rint(vectors.astype(np.float64) * SCALE).astype(np.int16)


def scores(candidates: Exact, query: Exact) -> list[int]:
    """Cosines in basis points, -10,000..10,000, rounded towards zero as integers would be.

    A double is off by some 1e-12 of a basis point; where that could matter, integers decide.
    """
    rows, one = candidates.astype(np.int64), query.astype(np.int64)
    dots: Integers = rows @ one
    squares: Integers = np.square(rows).sum(axis=1)
    own = int(np.square(one).sum())
    lengths = np.sqrt(squares.astype(np.float64) * own)
    real = TOP * dots / np.where(lengths == 0, 1.0, lengths)
    found: list[int] = np.trunc(real).astype(np.int64).tolist()
    for place in np.flatnonzero(np.abs(real - np.rint(real)) < _DOUBTFUL).tolist():
        found[place] = _cosine(int(dots[place]), int(squares[place]) * own)
    return found


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
        self._dimensions = dimensions
        self._rows = _Rows.of(0, dimensions)
        self._used = 0
        self._order: Integers | None = None
        """Places by row number; worked out when asked for, until the rows change."""

    def candidates(
        self,
        connection: Connection,
        query: Exact,
        k: int,
        excluded: Sequence[int],
        also: Sequence[int] = (),
    ) -> tuple[list[int], Exact]:
        """Row numbers and copied vectors that certainly hold the best k, and the rows `also`.

        The lock must be held.
        """
        self.refresh(connection)
        about, off = products(self._rows.coarse(self._used), query)
        if excluded:
            about[self._places(excluded)] = _NEVER
        allowed = about > _NEVER
        chosen = np.flatnonzero(allowed) if k > 0 else np.empty(0, np.int64)
        if len(chosen) > k > 0:
            # So much the k-th best has at the least; what cannot have as much is not among them.
            least = np.partition(about - off, -k)[-k]
            chosen = np.flatnonzero((about + off >= least) & allowed)
        if also:
            more = self._places(also)
            chosen = np.union1d(chosen, more[allowed[more]])
        return self._copied(chosen)

    def of(self, connection: Connection, rows: Sequence[int]) -> tuple[list[int], Exact]:
        """Those of these row numbers that have a vector, with copies; the lock must be held."""
        self.refresh(connection)
        return self._copied(self._places(rows))

    def _copied(self, places: Integers) -> tuple[list[int], Exact]:
        ids: list[int] = self._rows.ids[places].tolist()
        return ids, self._rows.exact[places]

    def _places(self, rows: Sequence[int]) -> Integers:
        """Where in the matrix those of the rows are that have a vector."""
        ids = self._rows.ids[: self._used]
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
        kept = np.flatnonzero(np.isin(self._rows.ids[: self._used], living))
        self._rows = self._rows.taken(kept)
        self._used = len(kept)

    def _load(self, connection: Connection) -> None:
        if self._used == 0:
            self._reserve(
                connection.execute(
                    "select count(*) from vector_rows where kind = ? and model = ?", self._set
                ).fetchone()[0]
            )
            for ids, vectors in read_all(connection, self._index, self._dimensions):
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
        ids = self._rows.ids
        held = np.flatnonzero(np.isin(ids[: self._used], np.asarray(changed, np.int64)))
        known: dict[int, int] = dict(zip(ids[held].tolist(), held.tolist(), strict=True))
        for row in changed:
            (embedding,) = connection.execute(
                f"select embedding from {self._index} where id = ?", (row,)
            ).fetchone()
            vector = np.frombuffer(embedding, np.float32)[np.newaxis]
            if row in known:
                self._rows.put(known[row], np.array([row], np.int64), vector)
            else:
                self._append(np.array([row], np.int64), vector)

    def _append(self, ids: Integers, vectors: Floats) -> None:
        self._reserve(self._used + len(ids))
        self._rows.put(self._used, ids, vectors)
        self._used += len(ids)

    def _reserve(self, rows: int) -> None:
        if rows <= len(self._rows.ids):
            return
        # A quarter more than needed: appending turn by turn must not copy the matrix each time.
        size = rows + rows // 4 if self._used else rows
        grown = _Rows.of(size, self._dimensions)
        grown.copy(self._rows, self._used)
        self._rows = grown


@dataclass(frozen=True, slots=True)
class _Rows:
    """What is kept of each row, in arrays of one length; places past the used ones hold nothing."""

    ids: Integers
    exact: Exact
    bytes: NDArray[np.int8]
    scales: Floats
    errors: Floats

    @classmethod
    def of(cls, size: int, dimensions: int) -> _Rows:
        return cls(
            np.empty(size, np.int64),
            np.empty((size, dimensions), np.int16),
            np.empty((size, dimensions), np.int8),
            np.empty(size, np.float32),
            np.empty(size, np.float32),
        )

    def coarse(self, used: int) -> Coarse:
        return Coarse(self.bytes[:used], self.scales[:used], self.errors[:used])

    def put(self, start: int, ids: Integers, vectors: Floats) -> None:
        part = slice(start, start + len(ids))
        exact = quantise(vectors)
        rounded = coarse(exact)
        self.ids[part], self.exact[part] = ids, exact
        self.bytes[part], self.scales[part] = rounded.bytes, rounded.scales
        self.errors[part] = rounded.errors

    def copy(self, other: _Rows, used: int) -> None:
        for field in self.__dataclass_fields__:
            getattr(self, field)[:used] = getattr(other, field)[:used]

    def taken(self, places: Integers) -> _Rows:
        return _Rows(*(getattr(self, field)[places] for field in self.__dataclass_fields__))


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

"""Nearest neighbours over memories, turns and chunks, by cosine.

sqlite-vec tables are what is stored, one per table and embedding model, so that after a change
of model both live until the new one is whole. Searching goes through a matrix in memory that is
loaded on first use and follows what any process changes. A row has a vector or is `pending`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lila_app.errors import UsageError
from lila_app.storage import erasure, lineage
from lila_app.storage.connection import Source, Store, reading, writing
from lila_app.storage.driver import Connection
from lila_app.storage.values import number, pair, sort_key

if TYPE_CHECKING:
    from lila_app.storage.matrix import Floats, Matrix

Table = Literal["memories", "turns", "chunks"]
TABLES: tuple[Table, ...] = ("memories", "turns", "chunks")

_NEVER = "user_erased = 1 or reply_erased = 1 or (reply is null and source = '')"

# What is embedded of a row, and which rows are.
_TEXT = {
    "memories": ("text", "true"),
    "turns": (
        "trim(user || char(10) || coalesce(reply, ''), char(10))",
        # LILA's own turn waits for its reply; what was said elsewhere may never have had one.
        # Word for word the condition of the index `turns_never_embedded`.
        f"not ({_NEVER})",
    ),
    "chunks": ("trim(heading || char(10) || text, char(10))", "true"),
}


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A neighbour; `cosine_bp` is the cosine in basis points, -10,000..10,000."""

    id: str
    rowid: int
    cosine_bp: int


@dataclass(frozen=True, slots=True)
class Pending:
    """Rows without a vector, and the erasure generation they were read under.

    Turns come newest first, so that what was just said does not wait for a million imported ones;
    what else there is, oldest first.
    """

    generation: int
    ids: tuple[str, ...]
    texts: tuple[str, ...]


def add(
    source: Source,
    table: Table,
    ids: Sequence[str],
    vectors: Floats,
    model_id: str,
    *,
    generation: int | None = None,
) -> int:
    """Store float32 vectors [n, dimensions] for these rows; returns how many still existed.

    They are scaled to length 1. A row that has one gets the new one. A worker passes the erasure
    `generation` of its `Pending`; if something was forgotten since, `OvertakenError` is raised.
    """
    import numpy as np

    from lila_app.storage.matrix import unit

    if vectors.ndim != 2 or len(vectors) != len(ids) or not np.isfinite(vectors).all():
        raise UsageError(
            f"{len(ids)} rows need as many finite vectors, and got an array of {vectors.shape}",
            hint="this is a fault in the embedding model or in LILA",
        )
    units = unit(vectors)
    with writing(source) as connection:
        erasure.require(connection, generation)
        model = _model(connection, model_id, vectors.shape[1])
        change = _next_generation(connection, table, model)
        stored = 0
        for id, vector in zip(ids, units, strict=True):
            row = _row_of(connection, table, id)
            if row is not None:
                _put(connection, table, model, row, vector.tobytes(), change)
                stored += 1
        return stored


def delete(source: Source, table: Table, ids: Sequence[str]) -> None:
    """Take away the vectors of these rows under every model; the rows become pending."""
    with writing(source) as connection:
        rows = [_row_of(connection, table, id) for id in ids]
        delete_rows(connection, table, [row for row in rows if row is not None])


def delete_rows(connection: Connection, table: Table, rows: Sequence[int]) -> None:
    """The same by row number; for this room only. sqlite-vec overwrites what it deletes."""
    models: list[int] = [
        row[0]
        for row in connection.execute("select model from vector_sets where kind = ?", (table,))
    ]
    for model in models:
        for row in rows:
            gone = connection.execute(
                "delete from vector_rows where kind = ? and model = ? and row_id = ?",
                (table, model, row),
            ).rowcount
            if gone:
                connection.execute(f"delete from {index_name(table, model)} where id = ?", (row,))
                connection.execute(
                    "update vector_sets set removals = removals + 1 where kind = ? and model = ?",
                    (table, model),
                )


def pending(source: Source, table: Table, model_id: str, limit: int) -> Pending:
    """Rows that still need a vector of this model, with the text to embed."""
    text, embeddable = _TEXT[table]
    name = "'d' || document_id || '.' || number" if table == "chunks" else f"'{table[0]}' || id"
    order = "desc" if table == "turns" else "asc"
    with reading(source) as connection:
        model = _known_model(connection, model_id)
        rows = connection.execute(
            f"select {name}, {text} from {table} where {embeddable} and not exists "
            "(select 1 from vector_rows v where v.kind = ? and v.model = ? "
            f"and v.row_id = {table}.id) order by id {order} limit ?",
            (table, model, limit),
        ).fetchall()
        return Pending(
            erasure.generation(connection),
            tuple(row[0] for row in rows),
            tuple(row[1] for row in rows),
        )


def pending_count(source: Source, table: Table, model_id: str) -> int:
    """How many rows still need a vector of this model."""
    held, rows = coverage(source, table, model_id)
    return rows - held


def coverage(source: Source, table: Table, model_id: str) -> tuple[int, int]:
    """(rows with a vector of this model, rows that get one); 0.1 s for a million rows.

    Counted over indexes alone, so that a search may ask it each time.
    """
    with reading(source) as connection:
        rows: int = connection.execute(f"select count(*) from {table}").fetchone()[0]
        if table == "turns":
            never = f"select count(*) from turns where {_NEVER}"
            rows -= connection.execute(never).fetchone()[0]
        held: int = connection.execute(
            "select count(*) from vector_rows where kind = ? and model = ?",
            (table, _known_model(connection, model_id)),
        ).fetchone()[0]
        return min(held, rows), rows


def models(source: Source, table: Table) -> dict[str, int]:
    """How many vectors of this table each model has."""
    with reading(source) as connection:
        rows = connection.execute(
            "select m.name, (select count(*) from vector_rows v where v.kind = s.kind and "
            "v.model = s.model) from vector_sets s join vector_models m on m.id = s.model "
            "where s.kind = ? order by m.id",
            (table,),
        )
        return {row[0]: row[1] for row in rows}


def drop_model(source: Source, table: Table, model_id: str) -> None:
    """Drop a model's index of a table, once another one is whole."""
    with writing(source) as connection:
        model = _known_model(connection, model_id)
        if model is None:
            return
        connection.execute(f"drop table if exists {index_name(table, model)}")
        connection.execute("delete from vector_rows where kind = ? and model = ?", (table, model))
        connection.execute(
            "update vector_sets set removals = removals + 1 where kind = ? and model = ?",
            (table, model),
        )


def search(
    store: Store,
    table: Table,
    query_vector: Floats,
    *,
    k: int,
    model_id: str,
    exclude_session: str | None = None,
    also: Sequence[int] = (),
) -> list[VectorHit]:
    """The k rows nearest to a vector, best first, equal ones by id.

    `exclude_session` leaves out the turns that session shows. `also` are row numbers whose cosine
    is wanted whatever their rank; those that have a vector are among the hits. The result is the
    same under any number of threads. A model without vectors has no neighbours.
    """
    from lila_app.storage import matrix

    query = matrix.quantise(matrix.unit(query_vector.reshape(-1)))
    with store.read() as connection:
        held = _matrix(store, connection, table, model_id)
        if held is None:
            return []
        excluded: list[int] = []
        if exclude_session is not None and table == "turns":
            session = lineage.require(connection, exclude_session)
            condition, values = lineage.visible(connection, session)
            found = connection.execute(f"select id from turns where {condition}", values)
            excluded = [row[0] for row in found]
        with held.lock:
            rows, vectors = held.candidates(connection, query, k, excluded, also)
        scored = matrix.scores(vectors, query)
        wanted = set(also)
        # Most candidates are behind the k-th, and an id and its place in the order are dear.
        least = (sorted(scored, reverse=True)[:k] or [matrix.TOP + 1])[-1]
        near = {
            row: score
            for row, score in zip(rows, scored, strict=True)
            if score >= least or row in wanted
        }
        ids = _ids_of(connection, table, list(near))
    hits = [VectorHit(id, row, near[row]) for row, id in ids.items()]
    hits.sort(key=lambda hit: (-hit.cosine_bp, sort_key(hit.id)))
    return [hit for place, hit in enumerate(hits) if place < k or hit.rowid in wanted]


def cosines(
    store: Store, table: Table, query_vector: Floats, rows: Sequence[int], model_id: str
) -> dict[int, int]:
    """The cosine of each of these row numbers that has a vector, in basis points."""
    from lila_app.storage import matrix

    query = matrix.quantise(matrix.unit(query_vector.reshape(-1)))
    with store.read() as connection:
        held = _matrix(store, connection, table, model_id)
        if held is None or not rows:
            return {}
        with held.lock:
            found, vectors = held.of(connection, rows)
    return dict(zip(found, matrix.scores(vectors, query), strict=True))


def warm(store: Store, table: Table, model_id: str) -> None:
    """Load the matrix now, so that the first search does not wait for it."""
    with store.read() as connection:
        held = _matrix(store, connection, table, model_id)
        if held is not None:
            with held.lock:
                held.refresh(connection)


def _matrix(store: Store, connection: Connection, table: Table, model_id: str) -> Matrix | None:
    from lila_app.storage.matrix import Matrix

    row = connection.execute(
        "select m.id, m.dimensions from vector_models m join vector_sets s on s.model = m.id "
        "where m.name = ? and s.kind = ?",
        (model_id, table),
    ).fetchone()
    if row is None:
        return None
    name = index_name(table, row[0])
    with store.attachment_lock:
        held = store.attachments.get(name)
        if not isinstance(held, Matrix):
            held = Matrix(name, table, row[0], row[1])
            store.attachments[name] = held
    return held


def _model(connection: Connection, model_id: str, dimensions: int) -> int:
    row = connection.execute(
        "select id, dimensions from vector_models where name = ?", (model_id,)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "insert into vector_models (name, dimensions) values (?, ?) returning id, dimensions",
            (model_id, dimensions),
        ).fetchone()
    if row[1] != dimensions:
        raise UsageError(
            f"vectors of {model_id} have {row[1]} dimensions here, and these have {dimensions}",
            hint="a changed model needs a name of its own",
        )
    model: int = row[0]
    return model


def _known_model(connection: Connection, model_id: str) -> int | None:
    row = connection.execute("select id from vector_models where name = ?", (model_id,)).fetchone()
    return row[0] if row else None


def _next_generation(connection: Connection, table: Table, model: int) -> int:
    dimensions: int = connection.execute(
        "select dimensions from vector_models where id = ?", (model,)
    ).fetchone()[0]
    connection.execute(
        f"create virtual table if not exists {index_name(table, model)} "
        f"using vec0(id integer primary key, embedding float[{dimensions}])"
    )
    connection.execute(
        "insert or ignore into vector_sets (kind, model) values (?, ?)", (table, model)
    )
    change: int = connection.execute(
        "update vector_sets set generation = generation + 1 where kind = ? and model = ? "
        "returning generation",
        (table, model),
    ).fetchone()[0]
    return change


def _put(
    connection: Connection, table: Table, model: int, row: int, vector: bytes, change: int
) -> None:
    index = index_name(table, model)
    if _has_vector(connection, table, model, row):
        connection.execute(f"update {index} set embedding = ? where id = ?", (vector, row))
    else:
        connection.execute(f"insert into {index} (id, embedding) values (?, ?)", (row, vector))
    connection.execute(
        "insert or replace into vector_rows values (?, ?, ?, ?)", (table, model, row, change)
    )


def _has_vector(connection: Connection, table: Table, model: int, row: int) -> bool:
    found = connection.execute(
        "select 1 from vector_rows where kind = ? and model = ? and row_id = ?",
        (table, model, row),
    ).fetchone()
    return found is not None


def index_name(table: str, model: int) -> str:
    """The sqlite-vec table of a table and model; for this room only."""
    return f"vec_{table}_{model}"


def _row_of(connection: Connection, table: Table, id: str) -> int | None:
    if table == "chunks":
        row = connection.execute(
            "select id from chunks where document_id = ? and number = ?", pair(id, "d")
        ).fetchone()
    else:
        row = connection.execute(
            f"select id from {table} where id = ? and {_TEXT[table][1]}",
            (number(id, table[0]),),
        ).fetchone()
    return row[0] if row else None


def _ids_of(connection: Connection, table: Table, rows: Sequence[int]) -> dict[int, str]:
    if table != "chunks":
        return {row: f"{table[0]}{row}" for row in rows}
    marks = ", ".join("?" * len(rows))
    found = connection.execute(
        f"select id, document_id, number from chunks where id in ({marks})", list(rows)
    )
    return {row[0]: f"d{row[1]}.{row[2]}" for row in found}

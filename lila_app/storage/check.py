"""Is the store whole: structure, chain, derived rows against the log, indexes against tables."""

from __future__ import annotations

import contextlib
import json
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from lila_app.storage import cold, driver, events, migrations, schema, vectors
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection, DatabaseError
from lila_app.storage.events import Problem

COUNTED = (
    "events", "sessions", "turns", "cuts", "goals", "notes", "memories", "entities", "relations",
    "facts", "sightings", "uses", "episodes", "merges", "imported", "vault",
    "documents", "chunks", "records", "usage", "prefixes", "contents", "vector_rows",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckReport:
    """`counts` are rows a table; `pending_vectors` are rows that wait for the newest model."""

    problems: tuple[Problem, ...]
    counts: tuple[tuple[str, int], ...]
    pending_vectors: int


def check(store: Store) -> CheckReport:
    """Look at everything; changes nothing. No problems means the store is whole.

    The full text is compared with its tables term by term where the store can be written (SQLite
    needs that for its own check), else row by row.
    """
    problems = [] if store.read_only else _full_text(store)
    with store.read() as connection:
        for look in _LOOKS:
            try:
                problems += look(connection)
            except DatabaseError as error:
                if driver.code(error) not in driver.DAMAGE:
                    raise
                problems.append(Problem("structure", "file", str(error)))
        counts = [
            (table, connection.execute(f"select count(*) from {table}").fetchone()[0])
            for table in COUNTED
        ]
        pending = _pending(connection)
    return CheckReport(tuple(problems), tuple(counts), pending)


def _structure(connection: Connection) -> list[Problem]:
    # FTS5 keeps an index's structure with the connection and looks for a newer one when it is
    # searched, but not for an integrity check: on a connection that searched before another one
    # wrote, the check would call a whole index damaged (SQLite 3.53.4).
    for table in schema.INDEXED:
        with contextlib.suppress(DatabaseError):  # what is damaged, the check itself says
            connection.execute(f"select 1 from {table}_fts where {table}_fts match 'a'").fetchall()
    found = [row[0] for row in connection.execute("pragma integrity_check(20)")]
    return [Problem("structure", "file", line) for line in found if line != "ok"]


def _tables(connection: Connection) -> list[Problem]:
    """Compare the tables with those a new store gets."""
    memory = driver.memory()
    try:
        for step in migrations.MIGRATIONS:
            step(memory)
        wanted = _schema(memory)
    finally:
        memory.close()
    found = _schema(connection)
    return [
        Problem("structure", name, "is not as this version of LILA makes it")
        for name in sorted({name for name, _ in wanted ^ found})
    ]


def _schema(connection: Connection) -> set[tuple[str, str]]:
    """Names and definitions, without the vector tables, which are made for each model."""
    from sqlite_utils import Database

    parts = {
        (one.name, one.schema) for one in Database(connection, recursive_triggers=False).tables
    }
    others = connection.execute(
        "select name, sql from sqlite_master where type in ('trigger', 'index') and sql is not null"
    )
    parts |= set(others.fetchall())
    return {part for part in parts if not part[0].startswith("vec_")}


def _foreign_keys(connection: Connection) -> list[Problem]:
    rows = connection.execute("pragma foreign_key_check").fetchall()
    return [
        Problem("foreign key", f"{table} row {row}", f"points to a row of {parent} that is gone")
        for table, row, parent, _ in rows
    ]


def _revised(connection: Connection) -> dict[str, str]:
    """The words of turns that were revised, by turn: the last ones."""
    rows = connection.execute(
        "select subject, body from events join payloads using (sequence) "
        "where kind = 'turn_revised' order by sequence"
    )
    return {subject: json.loads(body)["text"] for subject, body in rows}


def _derived(connection: Connection) -> list[Problem]:
    """Rows must say what the log says, and no event of the person's words may lack its row."""
    problems: list[Problem] = []
    for table, letter, kind, column in (
        ("turns", "t", "turn_began", "user"),
        ("memories", "m", "memory_added", "text"),
        ("goals", "g", "goal_set", "text"),
        ("notes", "n", "note_added", "text"),
        ("facts", "f", "fact_learned", "text"),
    ):
        rows: dict[str, str] = {
            f"{letter}{row}": text
            for row, text in connection.execute(f"select id, {column} from {table}")
        }
        logged = connection.execute(
            "select subject, body from events join payloads using (sequence) where kind = ?",
            (kind,),
        )
        said: dict[str, str] = {subject: json.loads(body)["text"] for subject, body in logged}
        if kind == "turn_began":  # of a revised turn the first reading alone may be forgotten
            said |= _revised(connection)
        for subject, text in said.items():
            if rows.pop(subject, None) != text:
                problems.append(Problem("log", subject, f"{table} does not say what the log says"))
        erased = {
            f"t{row}" for (row,) in connection.execute("select id from turns where user_erased = 1")
        }
        problems += [
            Problem("log", id, f"is in {table}, and the log has nothing of it")
            for id in sorted(set(rows) - erased)
        ]
    return problems


def _full_text(store: Store) -> list[Problem]:
    problems: list[Problem] = []
    for table in schema.INDEXED:
        with store.exclusive() as connection:
            try:
                connection.execute(
                    f"insert into {table}_fts ({table}_fts, rank) values ('integrity-check', 1)"
                )
            except DatabaseError as error:
                if driver.code(error) not in driver.DAMAGE:
                    raise
                problems.append(Problem("full text", table, "the index does not match the rows"))
    return problems


def _full_text_rows(connection: Connection) -> list[Problem]:
    problems: list[Problem] = []
    for table in schema.INDEXED:
        for one, other, detail in (
            (table, f"{table}_fts_docsize", "rows are not in the index"),
            (f"{table}_fts_docsize", table, "rows of the index are in no table"),
        ):
            missing = connection.execute(
                f"select count(*) from {one} where id not in (select id from {other})"
            ).fetchone()[0]
            if missing:
                problems.append(Problem("full text", table, f"{missing} {detail}"))
    return problems


def _vectors(connection: Connection) -> list[Problem]:
    problems: list[Problem] = []
    for kind, model in connection.execute("select kind, model from vector_sets").fetchall():
        listed = _ids(
            connection,
            "select row_id from vector_rows where kind = ? and model = ?",
            (kind, model),
        )
        index = vectors.index_name(kind, model)
        exists = connection.execute(
            "select 1 from sqlite_master where name = ?", (index,)
        ).fetchone()
        stored = _ids(connection, f"select id from {index}") if exists else set[int]()
        rows = _ids(connection, f"select id from {kind}")
        for ids, detail in (
            (listed - stored, "rows have no vector though one is noted"),
            (stored - listed, "vectors are not noted"),
            (listed - rows, "vectors belong to no row"),
        ):
            if ids:
                problems.append(Problem("vectors", index, f"{len(ids)} {detail}: {min(ids)} …"))
    return problems


def _documents(connection: Connection) -> list[Problem]:
    rows = connection.execute(
        "select id, chunks, (select count(*) from chunks c where c.document_id = d.id) "
        "from documents d"
    )
    return [
        Problem("documents", f"d{row}", f"says it has {said} chunks and has {has}")
        for row, said, has in rows
        if said != has
    ]


def _records(connection: Connection) -> list[Problem]:
    problems: list[Problem] = []
    rows = connection.execute(
        "select id, body, inputs, batch_id, erased, policy_hash from records order by id"
    )
    policies = {row[0] for row in connection.execute("select hash from policies")}
    for record, body, inputs, batch, erased, policy in rows:
        where = f"c{record}"
        if policy not in policies:
            problems.append(Problem("records", where, f"its policy {policy[:12]} is missing"))
        if batch is None and (body is None or (inputs is None) != bool(erased)):
            problems.append(Problem("records", where, "is not whole"))
        try:
            for part in (body, inputs):
                if part is not None:
                    json.loads(zlib.decompress(part))
        except (zlib.error, ValueError):
            problems.append(Problem("records", where, "cannot be read"))
    return problems + _hashes(connection) + _batches(connection)


def _hashes(connection: Connection) -> list[Problem]:
    """Nothing forgotten may be recognised by the hash of a prompt it was in."""
    rows = connection.execute(
        "select distinct p.record_id from prefixes p join records r on r.id = p.record_id "
        "where r.erased = 1 order by 1"
    )
    return [
        Problem("records", f"c{record}", "is erased, and hashes of its prompt are kept")
        for (record,) in rows
    ]


def _batches(connection: Connection) -> list[Problem]:
    problems: list[Problem] = []
    for (batch,) in connection.execute("select id from record_batches").fetchall():
        held = _ids(connection, "select id from records where batch_id = ?", (batch,))
        try:
            found = set(cold.read(connection, batch))
        except (lzma.LZMAError, ValueError):
            found = set[int]()
        if held != found:
            problems.append(Problem("records", f"batch {batch}", "does not hold its records"))
    return problems


def _pending(connection: Connection) -> int:
    row = connection.execute("select name from vector_models order by id desc limit 1").fetchone()
    name = row[0] if row else ""
    return sum(vectors.pending_count(connection, table, name) for table in vectors.TABLES)


def _ids(connection: Connection, query: str, values: tuple[object, ...] = ()) -> set[int]:
    return {row[0] for row in connection.execute(query, values)}


_LOOKS: tuple[Callable[[Connection], list[Problem]], ...] = (
    _structure,
    _tables,
    _foreign_keys,
    events.verify,
    _derived,
    _full_text_rows,
    _vectors,
    _documents,
    _records,
)

"""Version 1 of the store. Later versions are further functions; this one never changes.

The event log (`events` with `payloads`) is the truth. Derived from it, row for row: sessions,
turns, cuts, epochs, goals, notes, memories, entities, relations. Not derived, and why:

- `chunks`: the truth is the file on disk; ingesting it again makes the same chunks. The log
  keeps that a document was ingested, not its text a second time.
- full-text and vector tables: computed from the rows beside them, kept in step by triggers
  (text) and by `vector_rows` (vectors).
- `records`, `policies`, `usage`, `prefixes`: observations of calls, themselves append-only.
- `counters`, `backups`, `vector_models`, `vector_sets`: housekeeping without content.
"""

from __future__ import annotations

from lila_app.storage.driver import Connection

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""How text is cut into terms, for the index and for what is asked of it."""

INDEXED = {
    "memories": ("text",),
    "turns": ("user", "reply"),
    "chunks": ("heading", "text"),
}
"""Tables with a full-text index `TABLE_fts` (external content, rowid = id) on these columns."""


def create(connection: Connection) -> None:
    """Create every table of version 1."""
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    for name in ("events", "payloads"):
        _protect(connection, name)
    for table, columns in INDEXED.items():
        _index(connection, table, columns)


def _protect(connection: Connection, table: str) -> None:
    """Append-only: no row changes, and only payloads may go."""
    connection.execute(
        f"create trigger {table}_never_change before update on {table} "
        "begin select raise(abort, 'the event log is append-only'); end"
    )
    if table == "events":
        connection.execute(
            "create trigger events_never_go before delete on events "
            "begin select raise(abort, 'the event log is append-only'); end"
        )


def _index(connection: Connection, table: str, columns: tuple[str, ...]) -> None:
    names = ", ".join(columns)
    index = f"{table}_fts"
    connection.execute(
        f"create virtual table {index} using fts5({names}, content='{table}', content_rowid='id', "
        f"tokenize='{TOKENIZER}')"
    )
    # Without this a deleted word stays readable in the file, even after VACUUM.
    connection.execute(f"insert into {index} ({index}, rank) values ('secure-delete', 1)")
    connection.execute(f"create virtual table {table}_terms using fts5vocab({index}, 'row')")
    new = ", ".join(f"new.{name}" for name in columns)
    old = ", ".join(f"old.{name}" for name in columns)
    add = f"insert into {index} (rowid, {names}) values (new.id, {new});"
    take = f"insert into {index} ({index}, rowid, {names}) values ('delete', old.id, {old});"
    for event, body in (
        ("insert", add),
        ("delete", take),
        (f"update of {names}", f"{take} {add}"),
    ):
        name = f"{table}_indexed_on_{event.split()[0]}"
        connection.execute(f"create trigger {name} after {event} on {table} begin {body} end")


_TABLES = """
create table counters (
    name text primary key,
    value integer not null
) without rowid;

insert into counters values
    ('erasures', 0), ('relations', 0), ('records', 0), ('incarnation', 0), ('scrub_due', 0);

create table events (
    sequence integer primary key autoincrement,
    kind text not null,
    subject text not null,
    session_id integer,
    at text not null,
    digest blob not null,
    hash blob not null
);

create index events_by_subject on events (subject);

create index events_by_session on events (session_id, kind);

create table payloads (
    sequence integer primary key references events (sequence),
    salt blob not null,
    body blob not null
);

create table sessions (
    id integer primary key autoincrement,
    title text not null,
    use_case text not null,
    started_at text not null,
    last_at text not null,
    forked_from integer references sessions (id),
    fork_sequence integer,
    sequence integer not null default 0,
    epoch integer not null default 0,
    deleted integer not null default 0
);

create index sessions_by_parent on sessions (forked_from);

create table epochs (
    session_id integer not null references sessions (id),
    number integer not null,
    sequence integer not null references events (sequence),
    fingerprint text not null,
    body text not null,
    at text not null,
    primary key (session_id, number)
) without rowid;

create table turns (
    id integer primary key autoincrement,
    session_id integer not null references sessions (id),
    sequence integer not null unique references events (sequence),
    use_case text not null,
    at text not null,
    user text not null,
    reply text,
    user_erased integer not null default 0,
    reply_erased integer not null default 0,
    stopped integer not null default 0,
    record_id integer,
    model text,
    digest text not null,
    external_ids text not null
);

create index turns_by_session on turns (session_id, sequence);

create index turns_by_record on turns (record_id);

create table cuts (
    id integer primary key autoincrement,
    session_id integer not null references sessions (id),
    sequence integer not null unique references events (sequence),
    upto_sequence integer not null,
    summary text not null,
    digest text not null,
    reason text not null,
    at text not null
);

create index cuts_by_session on cuts (session_id, upto_sequence);

create table goals (
    id integer primary key autoincrement,
    session_id integer references sessions (id),
    text text not null,
    status text not null,
    at text not null,
    digest text not null
);

create index goals_by_session on goals (session_id);

create table notes (
    id integer primary key autoincrement,
    session_id integer not null references sessions (id),
    kind text not null,
    text text not null,
    at text not null,
    touched_at text not null,
    digest text not null
);

create index notes_by_session on notes (session_id);

create table memories (
    id integer primary key autoincrement,
    text text not null,
    kind text not null,
    pinned integer not null,
    at text not null,
    source_turn integer references turns (id) on delete set null,
    superseded_by integer references memories (id) on delete set null,
    digest text not null,
    external_ids text not null
);

create index memories_by_source on memories (source_turn);

create index memories_by_successor on memories (superseded_by);

create index memories_by_kind on memories (kind);

create index memories_pinned on memories (id) where pinned = 1;

create table entities (
    id integer primary key autoincrement,
    name text not null,
    key text not null unique,
    aliases text not null
);

create table relations (
    id integer primary key autoincrement,
    subject_id integer not null references entities (id),
    predicate text not null,
    object_id integer not null references entities (id),
    valid_from text,
    valid_to text,
    source text not null,
    at text not null,
    digest text not null
);

create index relations_by_subject on relations (subject_id);

create index relations_by_object on relations (object_id);

create table documents (
    id integer primary key autoincrement,
    path text not null unique,
    title text not null,
    kind text not null,
    sha256 text not null,
    size integer not null,
    mtime integer not null,
    ingested_at text not null,
    problem text not null,
    external_id text not null,
    chunks integer not null,
    next_number integer not null
);

create table chunks (
    id integer primary key autoincrement,
    document_id integer not null references documents (id),
    number integer not null,
    ordinal integer not null,
    heading text not null,
    text text not null,
    tokens integer not null,
    first_line integer,
    page integer,
    salt blob not null,
    digest text not null,
    unique (document_id, number)
);

create table vector_models (
    id integer primary key autoincrement,
    name text not null unique,
    dimensions integer not null
);

create table vector_sets (
    kind text not null,
    model integer not null references vector_models (id),
    generation integer not null default 0,
    removals integer not null default 0,
    primary key (kind, model)
) without rowid;

create table vector_rows (
    kind text not null,
    model integer not null,
    row_id integer not null,
    generation integer not null,
    primary key (kind, model, row_id),
    foreign key (kind, model) references vector_sets (kind, model)
) without rowid;

create index vector_rows_by_generation on vector_rows (kind, model, generation);

create table policies (
    hash text primary key,
    body blob not null
) without rowid;

create table record_batches (
    id integer primary key autoincrement,
    body blob not null
);

create table records (
    id integer primary key,
    parent_id integer,
    session_id integer,
    turn_id integer,
    at text not null,
    policy_hash text not null,
    body blob,
    inputs blob,
    batch_id integer references record_batches (id),
    erased integer not null default 0
);

create index records_by_session on records (session_id, at);

create index records_by_turn on records (turn_id);

create index records_by_batch on records (batch_id);

create table record_items (
    record_id integer not null references records (id),
    item_id text not null,
    included integer not null,
    primary key (record_id, item_id)
) without rowid;

create index record_items_by_item on record_items (item_id);

create table usage (
    id integer primary key autoincrement,
    at text not null,
    record_id integer,
    provider text not null,
    model text not null,
    total integer,
    read integer,
    written integer,
    output integer,
    first_token_ms integer,
    total_ms integer,
    finished text not null
);

create index usage_by_record on usage (record_id);

create table prefixes (
    id integer primary key autoincrement,
    at text not null,
    record_id integer not null,
    provider text not null,
    model text not null,
    slot text not null,
    sha256 text not null,
    tokens integer not null
);

create index prefixes_by_record on prefixes (record_id);

create table backups (
    path text primary key,
    at text not null
) without rowid;
"""

"""Version 3 of the store: how memories come to be. This one never changes either, once released.

`facts` are what was said as subject, predicate, value, each with the interval in which it holds in
the world (`valid_from` to `valid_to`) and the one in which LILA believed it (`learned_at` to
`closed_at`); `sightings` where it was said, `uses` where a memory helped a reply. A promoted fact
has a row in `memories`, which is what the layers offer. Like the rest they are derived from the
event log.

`episodes` hold what a turn's times mean ("yesterday" as a day) by offsets into its words, so that
no second copy of the words has to be forgotten. `vault` holds what privacy rules replaced,
encrypted. `merges` are entities that were found to be one, each to be taken back by hand; `names`
are the forms of every entity's names, by which it is found.

`imports` say how far each source was read, `imported` which of its messages is which side of which
turn, `imported_sessions` which of its conversations is which session. Their keys are hashes of ids
and places, never of words: what is forgotten leaves no hash to guess it by, and its key stays, so
that it is not imported again.
"""

from __future__ import annotations

import json

from lila_app.storage.driver import Connection
from lila_app.storage.naming import forms


def widen(connection: Connection) -> None:
    """Bring a store of version 2 to version 3."""
    for statement in _STATEMENTS.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    _name_entities(connection)


def _name_entities(connection: Connection) -> None:
    for row, name, aliases in connection.execute(
        "select id, name, aliases from entities"
    ).fetchall():
        connection.executemany(
            "insert into names (form, entity_id, uses) values (?, ?, ?)",
            [
                (one, row, int(uses))
                for one, uses in forms(name, tuple(json.loads(aliases))).items()
            ],
        )


_STATEMENTS = """
alter table turns add column speaker text not null default '';

alter table turns add column source text not null default '';

alter table turns add column learned integer not null default 0;

create index turns_to_learn on turns (id) where learned = 0;

create index turns_to_learn_first on turns (id) where learned = 0 and source = '';

create index turns_to_ask on turns (id) where learned = 2;

alter table cuts add column made_by text not null default 'extractive';

alter table memories add column status text not null default 'current';

alter table memories add column retention text not null default 'durable';

alter table memories add column valid_from text;

alter table memories add column valid_to text;

alter table memories add column expires_at text;

alter table memories add column closed_at text;

create table facts (
    id integer primary key autoincrement,
    subject text not null,
    subject_key text not null,
    predicate text not null,
    value text not null,
    value_key text not null,
    text text not null,
    kind text not null,
    negated integer not null default 0,
    many integer not null default 0,
    stage text not null,
    status text not null,
    valid_from text,
    valid_to text,
    learned_at text not null,
    closed_at text,
    superseded_by integer references facts (id) on delete set null,
    explicit integer not null default 0,
    confidence integer not null,
    extractor text not null,
    source_turn integer references turns (id) on delete set null,
    span_start integer,
    span_end integer,
    memory_id integer references memories (id) on delete set null,
    digest text not null
);

create index facts_by_slot on facts (subject_key, predicate);

create index facts_by_turn on facts (source_turn);

create index facts_by_memory on facts (memory_id);

create index facts_by_stage on facts (stage, status);

create index facts_by_successor on facts (superseded_by);

create table sightings (
    fact_id integer not null references facts (id) on delete cascade,
    turn_id integer not null references turns (id) on delete cascade,
    at text not null,
    how text not null,
    primary key (fact_id, turn_id)
) without rowid;

create index sightings_by_turn on sightings (turn_id);

create table uses (
    memory_id integer not null references memories (id) on delete cascade,
    turn_id integer not null references turns (id) on delete cascade,
    at text not null,
    primary key (memory_id, turn_id)
) without rowid;

create index uses_by_turn on uses (turn_id);

create table episodes (
    turn_id integer not null references turns (id) on delete cascade,
    side text not null,
    start integer not null,
    end integer not null,
    day_from text not null,
    day_to text not null,
    primary key (turn_id, side, start)
) without rowid;

create index episodes_by_day on episodes (day_from, day_to);

alter table relations add column fact_id integer references facts (id) on delete set null;

alter table relations add column status text not null default 'current';

alter table relations add column closed_at text;

create index relations_by_fact on relations (fact_id);

create table merges (
    id integer primary key autoincrement,
    kept integer not null references entities (id) on delete cascade,
    gone integer not null references entities (id) on delete cascade,
    why text not null,
    at text not null,
    undone_at text
);

create index merges_by_kept on merges (kept);

create index merges_by_gone on merges (gone);

create table names (
    form text not null,
    entity_id integer not null references entities (id) on delete cascade,
    uses integer not null,
    primary key (form, entity_id)
) without rowid;

create index names_by_entity on names (entity_id);

create table imports (
    id integer primary key autoincrement,
    path text not null unique,
    name text not null,
    kind text not null,
    fingerprint text not null,
    position integer not null default 0,
    sessions integer not null default 0,
    messages integer not null default 0,
    skipped integer not null default 0,
    learn integer not null,
    state text not null,
    at text not null,
    last_at text not null
);

create table imported (
    key blob primary key,
    turn_id integer references turns (id) on delete set null,
    side text not null
) without rowid;

create index imported_by_turn on imported (turn_id);

create table imported_sessions (
    key blob primary key,
    session_id integer not null references sessions (id),
    import_id integer not null references imports (id),
    external_id text not null
) without rowid;

create index imported_sessions_by_session on imported_sessions (session_id);

create index imported_sessions_by_import on imported_sessions (import_id);

create trigger imported_sessions_forget after update of deleted on sessions when new.deleted = 1
begin update imported_sessions set external_id = '' where session_id = new.id; end;

create index turns_never_embedded on turns (id)
where user_erased = 1 or reply_erased = 1 or (reply is null and source = '');

create table vault (
    placeholder text primary key,
    kind text not null,
    seal blob not null unique,
    root blob not null,
    value blob not null,
    at text not null
) without rowid;

create index vault_by_root on vault (root);

insert into counters (name, value) values ('vault', 0);
"""

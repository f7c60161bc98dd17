"""Version 2 of the store: what the gateway has to remember. This one never changes either.

`usage` gets what an attempt was for and what it cost; `prefixes` one row a breakpoint instead of
one a call. New are `breakers`, `contents` (explicit caches held at a provider) and
`token_ratios`. Like `usage` they are observations, not derived from the event log, and none holds
content: `prefixes` and `contents` hold hashes of it, which go when something in it is forgotten.

Rows of version 1 keep their values; what they did not know is empty.
"""

from __future__ import annotations

from lila_app.storage.driver import Connection


def widen(connection: Connection) -> None:
    """Bring a store of version 1 to version 2."""
    for statement in _STATEMENTS.split(";\n"):
        if statement.strip():
            connection.execute(statement)


_STATEMENTS = """
alter table usage add column written_long integer;

alter table usage add column credential text not null default '';

alter table usage add column job text not null default 'reply';

alter table usage add column slot text not null default 'chat';

alter table usage add column use_case text not null default '';

alter table usage add column session_id integer;

alter table usage add column epoch integer not null default 0;

alter table usage add column prompt_tokens integer not null default 0;

alter table usage add column frozen text not null default '';

alter table usage add column response_id text not null default '';

alter table usage add column miss text;

alter table usage add column missed integer;

alter table usage add column cost integer;

alter table usage add column cost_note text not null default '';

alter table usage add column prices text not null default '';

update usage set cost = 0 where provider = 'embedded';

create index usage_by_time on usage (at);

create index usage_by_session on usage (session_id, epoch, provider, model);

alter table prefixes add column attempt_id integer;

alter table prefixes add column place integer not null default 0;

alter table prefixes add column after text not null default '';

alter table prefixes add column ttl text;

alter table prefixes add column use_case text not null default '';

alter table prefixes add column credential text not null default '';

alter table prefixes add column lineage text;

create index prefixes_by_attempt on prefixes (attempt_id);

create index prefixes_by_use on prefixes (use_case, provider, model, after);

create index prefixes_by_hash on prefixes (sha256, provider, model);

create index prefixes_by_lineage on prefixes (lineage, provider, model) where lineage is not null;

create table breakers (
    key text primary key,
    failures integer not null,
    until real not null,
    probing real not null,
    opened integer not null,
    reason text not null
) without rowid;

create table contents (
    name text primary key,
    provider text not null,
    model text not null,
    key text not null,
    session_id text not null,
    tokens integer not null,
    expires text not null
) without rowid;

create table token_ratios (
    provider text not null,
    model text not null,
    ratio integer not null,
    tokens integer not null,
    at text not null,
    primary key (provider, model)
) without rowid;
"""

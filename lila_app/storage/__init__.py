"""The store of one profile: a SQLite file whose event log is the truth.

Every function takes a `Store`, or a connection inside `store.write()` / `store.read()` so that
several can share one transaction. Rows come back as frozen dataclasses; ids are letter and number.

| module | holds |
|---|---|
| `connection` | `Store.open`, `read`, `write`; `driver` and `files` beneath it |
| `migrations`, `schema` | the file's versions |
| `events` | append-only log, chained over HMACs of erasable payloads |
| `sessions`, `lineage`, `turns` | sessions with forks and epochs; turns, cuts, prefix breaks |
| `state` | goals, working notes, open things |
| `memories`, `relations`, `documents` | what the layers of those names search |
| `search`, `vectors` | full text and nearest neighbours over memories, turns and chunks |
| `records`, `ledger` | what each call saw, and what the provider said it cost |
| `erasure`, `forget` | the generation that guards background work; forgetting itself |
| `check`, `backup` | is it whole; copies, put back |
"""

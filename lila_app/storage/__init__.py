"""The store of one profile: a SQLite file whose event log is the truth.

Every function takes a `Store`, or a connection inside `store.write()` / `store.read()` so that
several can share one transaction. Rows come back as frozen dataclasses; ids are letter and number.

| module | holds |
|---|---|
| `connection` | `Store.open`, `read`, `write`; beneath it `driver` (SQLite, errors) and `files` |
| `migrations`, `schema`, `schema_v2` | the file's versions |
| `values` | ids and times in the form they are kept |
| `events` | append-only log, chained over HMACs of erasable payloads |
| `sessions`, `lineage`, `turns`, `cuts` | sessions, forks, epochs; turns; cuts, prefix breaks |
| `state` | goals, working notes, open things |
| `memories`, `relations`, `documents` | what the layers of those names search |
| `entities`, `merges`, `naming` | who relations are about, by all their names, and who is one |
| `search` with `terms`, `vectors` with `matrix` | full text; nearest neighbours |
| `records` with `cold` | what each call saw |
| `ledger` with `reuse`, `ratios` | what calls cost; how soon a prefix returns; token ratios |
| `breakers`, `contents` | which provider is left alone; explicit caches held at one |
| `erasure` | the generation that guards background work |
| `forget` with `sweep` and `traces` | forgetting: what goes, the erasing, what gives a text away |
| `check`, `backup` | is it whole; copies, put back |
"""

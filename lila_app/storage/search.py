"""Full text over memories, turns and chunks: any of the words, the rarer the better.

Only words in at most 5 % of the rows are searched for. At 100,000 rows that is the difference
between 150-184 ms and 1-18 ms at p95 (measured 2026-11-30), and a word that half of the rows hold
tells them apart hardly at all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import log
from typing import Literal

from lila_app.storage import lineage
from lila_app.storage.connection import Store
from lila_app.storage.driver import Connection
from lila_app.storage.frequencies import Counted, Frequencies
from lila_app.storage.terms import Terms, quoted
from lila_app.storage.values import sort_key

Table = Literal["memories", "turns", "chunks"]

COMMON_SHARE = 20
"""A word is common when more than one row in this many holds it,"""
COMMON_ROWS = 1_000
"""and more rows than this: below it, matching them all takes a millisecond or two."""
USELESS_SHARE = 4
"""When every word is common, one that more than one row in this many holds is left out too: it
would rank a quarter of the table (90 ms at 100,000 rows) by next to nothing."""
QUERY_CHARACTERS = 20_000
QUERY_WORDS = 64
"""Longer queries (a pasted document) are judged by their first words; counting one takes up to
0.5 ms at 100,000 rows (measured 2026-11-30)."""
MATCHED_WORDS = 12
"""The rarest so many words are searched for; the rest still count in the coverage."""
MATCHED_ROWS = 2_000
"""And of those as many, the rarest first, as so many rows hold together: ranking one takes 0.8 µs
(measured 2026-11-30), and what the next word would add to a row is little. On SciFact's 13,172
passages 4,000, 3,000, 2,000, 1,500 and 1,000 gave an nDCG@10 of .736, .737, .736, .739 and .737,
full text alone .666, .663, .660, .654 and .649 (2026-12-01)."""

_STOP = """
a about an and any are as at be been but by can could did do does for from had has have he her
him his how i if in into is it its just me my no not of on or our she should so some than that
the their them then there these they this to up us was we were what when where which who why
will with would you your
"""
STOP_WORDS = frozenset(_STOP.split())

# Weights of the columns in bm25, by hand: in 5,732 messages of 20 chats, searching only the
# person's own words recalled 58.7 % of the evidence within 1,024 tokens, all messages 43.5 %
# (BEAM-100K, measured 2026-11-30); replies still count, because some facts are only in them.
_WEIGHTS = {"memories": "1.0", "turns": "2.0, 1.0", "chunks": "1.0, 1.0"}
_TEXT = {
    "memories": "text",
    "turns": "user || char(10) || coalesce(reply, '')",
    "chunks": "heading || char(10) || text",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that holds some of the words.

    `bm25` is FTS5's, larger is better (its sign is turned). `coverage` is the share, 0 to 1, of
    the query's weight that the row holds, where a word weighs its inverse document frequency and
    a word that no row holds weighs most.
    """

    id: str
    rowid: int
    bm25: float
    coverage: float


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to ask the index: these words, any or (`together`) all; and what each word weighs."""

    searched: tuple[str, ...]
    weights: Mapping[str, float]
    together: bool


def search_text(
    store: Store, table: Table, query: str, *, k: int, exclude_session: str | None = None
) -> list[Hit]:
    """The best k rows by bm25, equal ones by id. No word is query syntax.

    `exclude_session` leaves out the turns that session shows. When every word is common, rows
    that hold the two rarest of them are searched for; when all are useless, there are none.
    """
    beside = _beside(store)
    with store.read() as connection:
        plan = _plan(connection, beside, table, query)
        found = _best(connection, table, plan, k, exclude_session)
        rows = _rows(connection, table, [row for row, _ in found])
    held = beside.terms.matches({row: text for row, (_, text) in rows.items()}, plan.weights)
    hits = [
        Hit(rows[row][0], row, -rank, _coverage(plan.weights, held[row])) for row, rank in found
    ]
    hits.sort(key=lambda hit: (-hit.bm25, sort_key(hit.id)))
    return hits


def holding(
    store: Store, table: Table, query: str, *, k: int, exclude_session: str | None = None
) -> list[int]:
    """The row numbers `search_text` would find, without what each of them holds."""
    beside = _beside(store)
    with store.read() as connection:
        plan = _plan(connection, beside, table, query)
        found = _best(connection, table, plan, k, exclude_session)
    return [row for row, _ in found]


@dataclass(frozen=True, slots=True)
class Held:
    """How much of a query a row holds, 0 to 1 by weight; `own` by the first column alone.

    The first column of a turn is what the person said, the second what was replied.
    """

    all: float
    own: float


def covered(
    store: Store,
    table: Table,
    query: str,
    texts: Mapping[int, tuple[str, str]],
    *,
    without: Collection[str] = (),
) -> dict[int, Held]:
    """What rows with these columns hold of a query, whether a search found them or not.

    `without` are words that do not count, in lower case and without accents.
    """
    beside = _beside(store)
    with store.read() as connection:
        weights = dict(_plan(connection, beside, table, query).weights)
    weights = {word: weight for word, weight in weights.items() if word not in without}
    if not weights:
        return {row: Held(0.0, 0.0) for row in texts}
    parts = {
        2 * row + side: text for row, two in texts.items() for side, text in enumerate(two) if text
    }
    held = beside.terms.matches(parts, weights)
    nothing = set[str]()
    sides = {row: (held.get(2 * row, nothing), held.get(2 * row + 1, nothing)) for row in texts}
    total = sum(weights.values())

    # Most rows hold one word or two, and so the same ones.
    @cache
    def share(words: frozenset[str]) -> float:
        return sum(weight for word, weight in weights.items() if word in words) / total

    found: dict[int, Held] = {}
    for row, (own, other) in sides.items():
        first = share(frozenset(own))
        found[row] = Held(share(frozenset(own | other)) if other else first, first)
    return found


def _plan(connection: Connection, beside: _Beside, table: Table, query: str) -> _Plan:
    """What a query asks for; remembered, because a question asks a table up to three times."""
    state = beside.frequencies.state(connection, table)
    held = beside.plans.get(table)
    if held is not None and held[0] is state and held[1] == query:
        return held[2]
    plan = _planned(connection, beside.terms, state, table, query)
    beside.plans[table] = (state, query, plan)
    return plan


def _planned(
    connection: Connection, terms: Terms, state: Counted, table: Table, query: str
) -> _Plan:
    stems = terms.stems(query[:QUERY_CHARACTERS], QUERY_WORDS + len(STOP_WORDS))
    telling = [word for word in stems if word not in STOP_WORDS] or list(stems)
    by_stem = {stems[word]: word for word in reversed(telling[:QUERY_WORDS])}
    words = sorted(by_stem.values())
    rows = state.rows
    limit = max(rows // COMMON_SHARE, COMMON_ROWS)
    counts = state.holding(connection, words, limit)
    weights = {word: _weight(rows, counts[word]) for word in words}
    present = [word for word in words if counts[word]]
    rare = [word for word in present if counts[word] <= limit]
    if rare or not present:
        return _Plan(_rarest(rare, counts), weights, together=False)
    exact = {word: _exact_count(connection, table, stems[word]) for word in present}
    useful = [word for word in present if exact[word] * USELESS_SHARE <= rows]
    return _Plan(tuple(sorted(useful, key=lambda w: (exact[w], w))[:2]), weights, together=True)


def _rarest(words: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """The words that are searched for, of those that are rare enough."""
    taken: list[str] = []
    left = MATCHED_ROWS
    for word in sorted(words, key=lambda word: (counts[word], word))[:MATCHED_WORDS]:
        left -= counts[word]
        if taken and left < 0:
            break
        taken.append(word)
    return tuple(sorted(taken))


def _exact_count(connection: Connection, table: Table, stem: str) -> int:
    row = connection.execute(f"select doc from {table}_terms where term = ?", (stem,)).fetchone()
    return row[0] if row else 0


def _weight(rows: int, holding: int) -> float:
    return log(1 + (max(rows - holding, 0) + 0.5) / (holding + 0.5))


def _best(
    connection: Connection, table: Table, plan: _Plan, k: int, exclude_session: str | None
) -> list[tuple[int, float]]:
    """What matches the plan; where its words never stand together, what matches the rarest."""
    found = _match(connection, table, plan, k, exclude_session)
    if found or not plan.together:
        return found
    alone = replace(plan, searched=plan.searched[:1])
    return _match(connection, table, alone, k, exclude_session)


def _match(
    connection: Connection, table: Table, plan: _Plan, k: int, exclude_session: str | None
) -> list[tuple[int, float]]:
    if not plan.searched or k <= 0:
        return []
    index = f"{table}_fts"
    rank = f"bm25({index}, {_WEIGHTS[table]})"
    words = (" AND " if plan.together else " OR ").join(quoted(word) for word in plan.searched)
    condition, values = "", list[int]()
    if exclude_session is not None and table == "turns":
        session = lineage.require(connection, exclude_session)
        shown, values = lineage.visible(connection, session)
        condition = f" and {index}.rowid not in (select id from turns where {shown})"
    return connection.execute(
        f"select {index}.rowid, {rank} as score from {index} where {index} match ?{condition} "
        f"order by score, {index}.rowid limit ?",
        (words, *values, k),
    ).fetchall()


def _rows(connection: Connection, table: Table, rows: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The id and the text of each row."""
    id = "'d' || document_id || '.' || number" if table == "chunks" else f"'{table[0]}' || id"
    marks = ", ".join("?" * len(rows))
    found = connection.execute(
        f"select id, {id}, {_TEXT[table]} from {table} where id in ({marks})", list(rows)
    )
    return {row[0]: (row[1], row[2]) for row in found}


def _coverage(weights: Mapping[str, float], held: set[str]) -> float:
    return sum(weight for word, weight in weights.items() if word in held) / sum(weights.values())


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is kept beside an open store for searching it."""

    terms: Terms = field(default_factory=Terms)
    frequencies: Frequencies = field(default_factory=Frequencies)
    plans: dict[Table, tuple[Counted, str, _Plan]] = field(
        default_factory=dict[Table, tuple[Counted, str, _Plan]]
    )
    """Of each table the last query's, with the state of the index it was made for."""


def _beside(store: Store) -> _Beside:
    with store.attachment_lock:
        held = store.attachments.get("search")
        if not isinstance(held, _Beside):
            held = _Beside()
            store.attachments["search"] = held
    return held

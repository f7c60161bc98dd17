"""Whether what the person gives is kept already, in these words or in others."""

from __future__ import annotations

from collections.abc import Sequence

from lila_app.memory import subjects
from lila_app.memory.model import Candidate
from lila_app.memory.restating import first_person
from lila_app.storage import facts, memories, traces
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.memories import MemoryRow
from lila_app.storage.search import STOP_WORDS
from lila_app.storage.terms import quoted
from lila_app.storage.values import instant

_SAYS_NOTHING = frozenset(
    [
        "remember",
        "please",
        "that",
        "know",
        "forget",
        "note",
        "now",
        "currently",
        "also",
        "really",
        "just",
        "still",
        "well",
        "the",
        "person",
        "i",
        "my",
        "me",
        "am",
        "is",
        "are",
        "do",
        "does",
        "have",
        "has",
        "im",
        "ive",
    ]
)
WORDS = 6
"""Words, the longest, by which those memories are found whose text may be the same."""
_ENDINGS = ("ing", "es", "ed", "s", "e")


def held(
    connection: Connection, text: str, stated: Sequence[Candidate], at: str
) -> tuple[MemoryRow, tuple[FactRow, ...]] | None:
    """The memory that holds all of this and stands, with the facts; None where something is new."""
    same = _in_these_words(connection, text, at)
    if same is not None:
        return same, tuple(facts.of_memories(connection, [same.id]))
    found: list[FactRow] = []
    for one in stated:
        known = _known(connection, one, first_person(text), instant(at)[:10])
        if known is None:
            return None
        found.append(known)
    homes = memories.by_ids(connection, dict.fromkeys(one.memory_id or "m0" for one in found))
    if not homes or not all(_stands(one, at) for one in homes):
        return None
    told = [*(one.text for one in homes), *(f"{one.text} {one.predicate}" for one in found)]
    if not _content(text) <= _content(" ".join(told).replace("_", " ")):
        return None
    return homes[0], tuple(found)


def confirmed(
    connection: Connection, row: MemoryRow, known: Sequence[FactRow], turn: str | None, at: str
) -> MemoryRow:
    """Note that the person says again what is kept, where that was in a conversation."""
    if turn is not None:
        for fact in known:
            facts.sight(connection, fact.id, turn, at=at, how="confirmed")
    return row


def _in_these_words(connection: Connection, text: str, at: str) -> MemoryRow | None:
    said = traces.folded(text)
    longest = sorted(set(traces.words(text)), key=lambda word: (-len(word), word))[:WORDS]
    if not longest:
        return None
    rows = connection.execute(
        "select rowid from memories_fts where memories_fts match ? order by rowid",
        (" AND ".join(quoted(word) for word in longest),),
    )
    for row in memories.by_ids(connection, [f"m{found}" for (found,) in rows]):
        if traces.folded(row.text) == said and _stands(row, at):
            return row
    return None


def _known(connection: Connection, one: Candidate, words: str, today: str) -> FactRow | None:
    """The fact that says the same, where it is known who is meant and it became a memory."""
    subject = subjects.of(connection, one, words)
    if not subject.sure or one.cue not in ("", "update"):
        return None
    for row in facts.in_slot(connection, subject.one, one.predicate):
        same = (row.value_key, row.negated) == (subjects.value_key(one.value), one.negated)
        placed = row.memory_id is not None and row.stage in ("long_term", "core")
        if same and placed and row.status == "current" and _same_time(one, row, today):
            return row
    return None


def _same_time(one: Candidate, row: FactRow, today: str) -> bool:
    """Whether no day is new; what is said without a beginning is so now."""
    begins, ends = (day and day.isoformat() for day in (one.valid_from, one.valid_to))
    begun = begins is None and row.valid_from is not None and row.valid_from[:10] <= today
    return (begun or row.valid_from == begins) and row.valid_to == ends


def _stands(row: MemoryRow, at: str) -> bool:
    """Whether a memory is believed, and neither over nor still to come."""
    over = [end for end in (row.valid_to, row.expires_at) if end is not None]
    return (
        row.status == "current"
        and row.superseded_by is None
        and all(end[:10] > instant(at)[:10] for end in over)
    )


def _content(text: str) -> frozenset[str]:
    """The stems of the words that say something."""
    kept = (word for word in traces.words(text) if word not in _SAYS_NOTHING)
    return frozenset(_stem(word) for word in kept if word not in STOP_WORDS)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word

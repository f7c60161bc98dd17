"""Marks what a sentence seems to change, and the sentence, as contradicting each other."""

from __future__ import annotations

from lila_app.memory import revision
from lila_app.memory.model import ME
from lila_app.memory.placing import OPEN
from lila_app.memory.promotion import Revising
from lila_app.memory.revision import Sentence
from lila_app.memory.subjects import value_key
from lila_app.memory.taking import Heard, Taking
from lila_app.storage import changes, facts, memories
from lila_app.storage.changes import steps
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow, Stated
from lila_app.storage.terms import quoted
from lila_app.storage.values import instant, number, optional_number

CONFIDENCE = 5_000
"""Basis points of a sentence kept as it stands: below what earns a place at once."""


def revise(taking: Taking, heard: Heard, sentence: Sentence) -> bool:
    """Hold a sentence against earlier ones; whether one of them is contradicted by it."""
    connection, rules = taking.connection, taking.rules.revision
    held = _of_known_values(connection, heard, sentence, rules)
    if held:
        new = _new(connection, heard, sentence, held[0].predicate)
        taking.contradict([one.id for one in (*held, *new)], "cue", at=instant(heard.at))
        return True
    about = revision.subject(sentence.text, rules)
    earlier = _earlier(connection, heard, list(about.values()), rules.looked_at) if about else {}
    found = revision.match(sentence, earlier, rules)
    if found is None:
        return False
    at = instant(heard.at)
    subject = " ".join(found.shared)
    old = _held(connection, found.key, found.sentence, subject, heard)
    new = _new(connection, heard, sentence, subject)
    taking.contradict([one.id for one in (*old, *new)], "cue", at=at)
    return True


def _of_known_values(
    connection: Connection, heard: Heard, sentence: Sentence, rules: Revising
) -> list[FactRow]:
    """Facts of the person whose value excludes one the sentence names."""
    if heard.speaker:
        return []
    found: list[FactRow] = []
    for predicate, named in revision.other_values(sentence.text, rules).items():
        keys = {value_key(one) for one in named}
        rows = facts.in_slot(connection, [ME], predicate)
        found += [
            row
            for row in rows
            if row.status in OPEN and row.value_key not in keys and not row.negated
        ]
    return found


def _new(connection: Connection, heard: Heard, sentence: Sentence, subject: str) -> list[FactRow]:
    home = heard.turn if heard.memory is None else heard.memory
    return _held(connection, home or "", sentence, subject, heard)


def _earlier(connection: Connection, heard: Heard, words: list[str], limit: int) -> dict[str, str]:
    """What the same speaker said before with these words, by turn or memory, oldest first."""
    query = " OR ".join(quoted(word) for word in words)
    at = instant(heard.at)
    found: list[tuple[str, str, str]] = []
    rows = connection.execute(
        "select t.id, t.at, t.user from turns_fts join turns t on t.id = turns_fts.rowid "
        "where turns_fts match ? and t.at <= ? and t.speaker = ? and t.user_erased = 0 "
        "order by bm25(turns_fts), t.id limit ?",
        (query, at, heard.speaker, limit),
    )
    found += [(said_at, f"t{row}", text) for row, said_at, text in rows]
    if not heard.speaker:
        rows = connection.execute(
            "select m.id, m.at, m.text from memories_fts "
            "join memories m on m.id = memories_fts.rowid "
            "where memories_fts match ? and m.at <= ? and m.status <> 'closed' "
            "and coalesce(m.source_turn, 0) <> ? order by bm25(memories_fts), m.id limit ?",
            (query, at, optional_number(heard.turn, "t") or -1, limit),
        )
        found += [(said_at, f"m{row}", text) for row, said_at, text in rows]
    own = (heard.turn, heard.memory)
    return {id: text for _, id, text in sorted(found) if id not in own}


def _held(
    connection: Connection, home: str, sentence: Sentence, subject: str, heard: Heard
) -> list[FactRow]:
    """The open facts a sentence of a turn or memory states; where there are none, the sentence."""
    if home[:1] == "m":
        held = facts.of_memories(connection, [home])
    else:
        held = [
            one
            for one in facts.of_turns(connection, [home])
            if one.span is None or (one.span[0] < sentence.end and sentence.start < one.span[1])
        ]
    held = [one for one in held if one.status in OPEN]
    return held or [_sentence(connection, home, sentence, subject, heard)]


def _sentence(
    connection: Connection, home: str, sentence: Sentence, subject: str, heard: Heard
) -> FactRow:
    memory = home if home[:1] == "m" else None
    turn = None if memory else home
    stated = Stated(
        subject=subject,
        subject_key=f"about {subject}",
        predicate="note",
        value=sentence.text,
        value_key=value_key(sentence.text),
        text=sentence.text,
        kind="durable",
        negated=False,
        many=True,
        explicit=False,
        confidence=CONFIDENCE,
        extractor="revision",
        source_turn=turn,
        span=(sentence.start, sentence.end),
        memory_id=memory,
    )
    fact = facts.add(connection, stated, at=_told(connection, home) or instant(heard.at))
    if memory is None:
        return fact
    changes.make(
        connection,
        "promoted",
        "explicit",
        steps(connection, fact.id, stage="long_term"),
        at=fact.learned_at,
    )
    return facts.get(connection, fact.id)


def _told(connection: Connection, home: str) -> str | None:
    if home[:1] == "m":
        return memories.get(connection, home).at
    row = connection.execute("select at from turns where id = ?", (number(home, "t"),)).fetchone()
    return None if row is None else row[0]

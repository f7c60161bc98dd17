"""Which replies a memory helped: what the reply repeats of it, where the question was about it.

A small model that says its own sentence again and again helps nobody, and what was said a moment
ago in the same conversation was not remembered. So a use counts only of what was said elsewhere,
in a whole reply to a question that has something to do with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from lila_app.memory.taking import Taking
from lila_app.storage import episodes, facts, ledger, memories, traces, turns
from lila_app.storage.driver import Connection
from lila_app.storage.facts import FactRow
from lila_app.storage.terms import quoted
from lila_app.storage.turns import TurnRow
from lila_app.storage.values import instant

COMMON_TURNS = 20
"""A word in more turns than this, and in more than 1 % of them, shows nothing by itself."""

SAME_BEGINNING = 5
"""Letters two words begin with alike to be of one family ("allergy", "allergic"); a shorter word is
of the family of what it begins ("open", "opens")."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Something the model had in view: what it says, and the turns in which it was said."""

    text: str
    told: Sequence[str]


def note(taking: Taking, turn: TurnRow, shown: Mapping[str, str], at: datetime) -> None:
    """Note what the reply repeats of what it had in view (texts by id), and promote what earned it.

    Nothing of a reply that was stopped, or ended at its limit or in circles.
    """
    connection = taking.connection
    if not turn.reply or turn.erased or turn.stopped or _cut_short(connection, turn):
        return
    for id, text in shown.items():
        if id[0] == "m":
            stated = facts.of_memories(connection, [id])
            if _helped(connection, turn, _of_memory(connection, id, text, stated)):
                facts.used(connection, id, turn.id, at=instant(turn.at))
                for fact in stated:
                    taking.promote(fact.id, at)
        elif id[0] == "t":
            for fact in facts.of_turns(connection, [id]):
                known = _Known(fact.text, [id, *_said(connection, [fact])])
                if fact.stage == "candidate" and _helped(connection, turn, known):
                    facts.sight(connection, fact.id, turn.id, at=instant(turn.at), how="use")
                    taking.promote(fact.id, at)


def _of_memory(connection: Connection, id: str, text: str, stated: Sequence[FactRow]) -> _Known:
    source = memories.get(connection, id).source_turn
    told = _said(connection, stated)
    return _Known(text, told if source is None else [source, *told])


def _said(connection: Connection, stated: Sequence[FactRow]) -> list[str]:
    seen = facts.sightings(connection, [fact.id for fact in stated]) if stated else []
    return [one.turn_id for one in seen if one.how != "use"]


def _cut_short(connection: Connection, turn: TurnRow) -> bool:
    calls = ledger.of_record(connection, turn.record_id) if turn.record_id is not None else []
    return bool(calls) and calls[-1].finished == "length"


def _helped(connection: Connection, turn: TurnRow, known: _Known) -> bool:
    reply = turn.reply or ""
    # A reply repeats few things; what is telling is looked for only where a word is shared.
    if set(traces.words(reply)).isdisjoint(traces.words(known.text)):
        return False
    if episodes.any_in_session(connection, known.told, turn.session_id):
        return False
    common = _common(connection)
    if not traces.of(known.text, [turn.user], common).any_in(reply):
        return False
    said = [one.user for one in turns.by_ids(connection, known.told) if not one.erased]
    return _about(turn.user, [known.text, *said], common)


def _about(question: str, texts: Sequence[str], common: Callable[[str], bool]) -> bool:
    """Whether a question has a telling word of what is known, or of the words it was said in."""
    asked = set(traces.words(question))
    telling = {word for text in texts for word in traces.of(text, [], common).terms}
    return any(_akin(word, other) for word in telling for other in asked)


def _akin(word: str, other: str) -> bool:
    shorter = min(len(word), len(other), SAME_BEGINNING)
    if shorter < traces.SHORTEST_TERM:
        return word == other
    return word[:shorter] == other[:shorter]


def _common(connection: Connection) -> Callable[[str], bool]:
    """Whether a word is in so many turns that repeating it shows nothing."""
    held: int = connection.execute("select count(*) from turns").fetchone()[0]
    limit = max(COMMON_TURNS, held // 100)

    def common(word: str) -> bool:
        found: int = connection.execute(
            "select count(*) from (select 1 from turns_fts where turns_fts match ? limit ?)",
            (quoted(word), limit + 1),
        ).fetchone()[0]
        return found > limit

    return common
